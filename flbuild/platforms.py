"""The model of `src/platforms/<id>/platform.toml`: everything the build knows about a platform.

One file a platform is the only place where its facts are written.  The variant files, the
pixi tasks and the support table are derived from it by `flbuild.sync`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import tomllib
from packaging.version import InvalidVersion
from packaging.version import Version as PythonVersion
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, ValidationError, field_validator, model_validator

from flbuild import evidence
from flbuild.variant_files import has_emulation, is_described

REVISION = re.compile("git:([0-9a-f]{40})")  # a pin of what was never released
ROOT = Path(__file__).resolve().parent.parent

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*$")]
SdkVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)*$")]
PythonMinor = Annotated[str, StringConstraints(pattern=r"^3\.[0-9]+$")]
PytorchMinor = Annotated[str, StringConstraints(pattern=r"^2\.[0-9]+$")]
SonameGlob = Annotated[str, StringConstraints(pattern=r"^lib[A-Za-z0-9_+-][A-Za-z0-9_+.*-]*\.so[A-Za-z0-9.*]*$")]
LibraryName = Annotated[str, StringConstraints(pattern=r"^lib[A-Za-z0-9_+.-]+\.so[0-9.]*$")]
RelativePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./+-]*$")]
Switch = Annotated[str, StringConstraints(pattern=r"^FLAGOS_BUILD_[A-Z_]+$")]
TestFile = Annotated[str, StringConstraints(pattern=r"^test_[a-z0-9_]+\.py$")]
DeviceNode = Annotated[str, StringConstraints(pattern=r"^/dev/[A-Za-z0-9_./*?\[\]-]+$")]
Sentence = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class PlatformError(ValueError):
    """A platform.toml that cannot be used; the text is one sentence with file and key."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Sdk(Section):
    """The vendor's kit.  Absent for a platform that needs none."""

    name: Identifier = Field(description="short name as in build strings: maca, cann, musa")
    title: Sentence = Field(description="the vendor's own spelling")
    versions: list[SdkVersion] = Field(default=[], description="one variant each; newer versions last; none where no source names one")
    root: str = Field(default="", description="default folder of an installed SDK; empty where no source names one")
    root_variables: list[str] = Field(default=[], description="environment variables that name it, in order")
    visible_devices: str | None = Field(
        default=None, pattern=r"^[A-Z][A-Z0-9_]*$", description="the variable by which its runtime is told which devices a process sees"
    )
    library_folders: list[RelativePath] = Field(default=["lib"], description="where its libraries lie, below the root")
    probe: RelativePath | None = Field(default=None, description="a file below the root that tells an SDK that is there")
    device_nodes: list[DeviceNode] = Field(default=[], description="files by which the driver's devices are opened, as file name patterns")
    version_programs: list[RelativePath] = Field(
        default=[], description="programs below the root that print versions of driver or SDK, for files of evidence"
    )
    driver_command: list[str] = Field(
        default=[], description="a program of the driver, on PATH, and its arguments, that prints the driver's version, for files of evidence"
    )
    pytorch: dict[SdkVersion, PytorchMinor] = Field(
        default={}, description="the PyTorch minor that a version goes with, where it is not the platform's newest"
    )
    with_pytorch: bool = Field(
        default=False, description="headers and runtime come with PyTorch's own packages, so that none has to be installed"
    )
    virtual_package: str | None = Field(
        default=None,
        pattern=r"^__[a-z0-9_]+$",
        description="the solver's name for the driver; only where stock solvers detect it",
    )

    @property
    def run_path(self) -> list[str]:
        """Where the loader looks for an SDK in its default place. Another one is named by LD_LIBRARY_PATH, which comes first.

        Nowhere, where PyTorch brings the runtime: the process has PyTorch's, and no second one.
        """
        return [] if self.with_pytorch or not self.root else [f"{self.root}/{folder}" for folder in self.library_folders]


def is_version(pin: str) -> bool:
    """Whether it names one version, as the Python index spells them: `5.4.0rc2.post1`, and not `5.0.*`."""
    try:
        return bool(PythonVersion(pin))
    except InvalidVersion:
        return False


def match_spec(package: str, pin: str) -> str | None:
    """A pin of platform.toml as a conda match spec; None where there is none.  A bare version means this one alone.

    A revision has no version: packages of one have `g` and its first digits in their build strings, as `git describe` writes it.
    """
    if pin in ("none", "unknown"):
        return None if pin == "none" else package
    if revision := REVISION.fullmatch(pin):
        return f"{package} * *g{revision[1][:8]}*"
    return f"{package} {'==' if is_version(pin) else ''}{pin}"


class Pins(Section):
    """Versions of the neighbours, or `git:` and a revision; `unknown` where no public source gives one, `none` where there is none."""

    flagtree: str = "none"
    triton: str = "none"
    flaggems: str = "none"
    flagcx: str = "none"

    @field_validator("*")
    @classmethod
    def _whole_revision(cls, pin: str) -> str:
        if pin.startswith("git:") and not REVISION.fullmatch(pin):
            raise ValueError(f"{pin} names no revision: write git: and all 40 digits")
        return pin

    @property
    def triton_spec(self) -> str | None:
        """The package with the module `triton`, as a conda match spec: FlagTree is Triton with vendors' back ends."""
        return match_spec("flagtree", self.flagtree) or match_spec("triton", self.triton)

    @property
    def flaggems_spec(self) -> str | None:
        return match_spec("flag-gems", self.flaggems)


class Triton(Section):
    """The names by which the vendor is known to FlagGems and Triton."""

    flaggems_vendor: Identifier = Field(description="the value of FlagGems' GEMS_VENDOR")
    backend: Identifier = Field(description="the folder of triton.backends")
    target: Identifier = Field(description="what Triton calls the device in its targets")
    driver_utils: str | None = Field(None, description="class of the back end's driver module that loads binaries")
    driver_launcher: str | None = Field(None, description="class of it that launches kernels")


class Library(Section):
    """A library of the vendor that is opened when it is needed and never linked."""

    libraries: list[SonameGlob] = Field(min_length=1, description="names to open, the first one first")


class Tracer(Library):
    interface: Sentence = Field(description="the vendor's name of the interface for profilers")


class Collectives(Library):
    fallback: Sentence = Field(description="what serves torch.distributed where FlagCX does not")


class Libtorch(Section):
    """The vendor's core of PyTorch, where its kernels run on one of their own: torch-fl-libtorch is made of its wheel."""

    core: list[LibraryName] = Field(min_length=1, description="libraries that stand in the official ones' place")
    device: list[LibraryName] = Field(min_length=1, description="libraries for the vendor's devices, which the official build has not")
    optional: list[LibraryName] = Field(default=[], description="libraries that some of the vendor's versions have")
    driver: list[SonameGlob] = Field(description="names that these need and only the driver or the SDK has")


class Capabilities(Section):
    """What the contract suite may ask for: true, or the sentence that says why not, which is a skipped test's reason."""

    cpu_kernels_in_place: Literal[True] | Sentence = Field(description="CPU kernels work on the device's own bytes")
    native_kernels: Literal[True] | Sentence = Field(description="a slot of kernels made for this device")
    peer_copies: Literal[True] | Sentence = Field(description="copies from device to device")
    profiler: Literal[True] | Sentence = Field(description="the device's activities reach torch.profiler")
    memset_records: Literal[True] | Sentence = Field(description="of these activities, memset")
    own_tracer: Literal[True] | Sentence = Field(description="the rows of that timeline are written by a tracer of ours")
    own_allocator: Literal[True] | Sentence = Field(description="device and pinned memory come from allocators of ours")
    cpu_rules: Literal[True] | Sentence = Field(description="kernels take, lay out and refuse what the CPU's kernels do")
    index_checks: Literal[True] | Sentence = Field(description="an index out of range is an error that can be caught")
    sole_accelerator: Literal[True] | Sentence = Field(description="PyTorch has no other accelerator available beside it")
    low_precision: Literal[True] | Sentence = Field(
        description="FP8 and packed FP4 matrices are multiplied; true builds src/kernels/low_precision"
    )
    tf32: Literal[True] | Sentence = Field(description="products of float32 in TF32, where PyTorch's switches allow it")
    compile: Literal[True] | Sentence = Field(description="torch.compile's default back end")
    collectives: Literal[True] | Sentence = Field(description="torch.distributed between devices")


class Kernels(Section):
    slots: list[Identifier] = Field(description="names of kernel sets in routing files, in order of preference")
    vendor: bool = Field(default=False, description="torch-fl-vendor-kernels has libraries to hold")
    flaggems: bool = Field(default=False, description="torch-fl-flaggems has a bridge and routes to hold")
    optional: list[Literal["vendor", "flaggems"]] = Field(
        default=[], description="of these two, what is built and only comes with the metapackage when it is asked for"
    )
    vendor_capabilities: dict[str, Literal[True] | Sentence] = Field(
        default={}, description="answers of [capabilities] that are others where torch-fl-vendor-kernels is installed"
    )


class NativeFirst(Section):
    operators: list[str] = Field(min_length=1, description="shell patterns of operators")
    reason: Sentence = Field(description="why the platform's own kernels, or the CPU, serve them before FlagGems")


class Rule(Section):
    line: Annotated[str, StringConstraints(pattern=r"^[a-z_][A-Za-z0-9_.]* = [^#]+$")] = Field(description="as in a routing file")
    reason: Sentence = Field(description="why it is this one, whatever the survey says of the operator")


class Routes(Section):
    """What `torch-fl dev routes` has to know beside the kernels and the survey."""

    native_first: list[NativeFirst] = []
    rules: list[Rule] = []


class Notice(Section):
    """A setting of the environment that changes results, of which a start says so, once."""

    variable: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*$")]
    value: str = Field(description="the value that is meant; any other is left alone")
    sentence: Sentence = Field(description="what it does here, and the remedy; the variable and its value stand before it")


class Tests(Section):
    subset: list[TestFile] = Field(
        default=[], description="files of the contract suite that make the short run of `torch-fl test --subset`"
    )
    suites: list[Identifier] = Field(default=[], description="folders of tests/ that the platform passes besides the contract suite")
    own_subset: list[TestFile] = Field(default=[], description="files of the platform's own tests that belong to it")


class Features(Section):
    """What the platform uses for the parts of PyTorch that are not operators."""

    operators: Sentence
    collectives: Sentence
    profiler: Sentence
    compile: Sentence


class Platform(Section):
    id: Identifier
    name: Sentence
    hardware: Sentence
    emulated: bool = Field(default=False, description="devices live in host memory: the default where no card is known")
    sonames: list[SonameGlob] = Field(
        default=[], description="libraries of driver and SDK that are linked and never packaged, as file name patterns"
    )
    arch: list[Literal["linux-64", "linux-aarch64"]] = Field(default=["linux-64"], min_length=1, description="machines it is built for")
    python: Literal["any"] | list[PythonMinor] = Field(default="any", description="Python minors the SDK allows")
    pytorch: Literal["any"] | list[PytorchMinor] = Field(default="any", description="PyTorch minors it was measured with")
    evidence: list[str] = Field(default=[], description="files, relative to the platform's folder, that prove a run; the newest last")
    sdk: Sdk | None = None
    kernels: Kernels
    switches: dict[Switch, Literal["vendor", "flaggems"]] = Field(
        default={}, description="variables that leave a package of kernels out of a build (OFF), by the package"
    )
    switches_refused: dict[Switch, Sentence] = Field(default={}, description="variables that can only be OFF, and why")
    pins: Pins = Pins()
    triton: Triton | None = None
    tracer: Tracer | None = None
    collectives: Collectives | None = None
    libtorch: Libtorch | None = None
    capabilities: Capabilities | None = Field(default=None, description="required as soon as there is a device layer")
    notices: list[Notice] = []
    routes: Routes = Routes()
    tests: Tests = Tests()
    features: Features
    _runs: tuple[evidence.Run, ...] = PrivateAttr(default=())  # what the files of evidence say
    _described: bool = PrivateAttr(default=False)  # there are its facts, and no device layer

    @model_validator(mode="after")
    def _consistent(self) -> Platform:
        if self.emulated and self.sdk is not None:
            raise ValueError("an emulated platform has no [sdk]: remove one of the two")
        digits = [version.replace(".", "") for version in self.sdk.versions] if self.sdk else []
        if len(set(digits)) < len(digits):
            raise ValueError("two sdk.versions have the same digits, and so the same build strings: leave one out")
        unknown = sorted(self.sdk.pytorch.keys() - set(self.sdk.versions)) if self.sdk else []
        if unknown:
            raise ValueError(f"sdk.pytorch names {unknown[0]}, which is not among sdk.versions: add it there or remove it")
        empty = [name for name in self.kernels.optional if not getattr(self.kernels, name)]
        if empty:
            raise ValueError(f"kernels.optional names {empty[0]}, which the platform does not have: set it to true")
        if unknown := sorted(self.kernels.vendor_capabilities.keys() - Capabilities.model_fields.keys()):
            raise ValueError(f"kernels.vendor_capabilities names {unknown[0]}, which is no capability: see [capabilities]")
        absent = [name for name, kernels in self.switches.items() if not getattr(self.kernels, kernels)]
        if absent:
            raise ValueError(f"switches has {absent[0]} for kernels that the platform does not have: set them to true")
        if both := self.switches.keys() & self.switches_refused.keys():
            raise ValueError(f"{min(both)} is in switches and in switches_refused: remove one of the two")
        if self.kernels.flaggems and not (self.pins.flaggems_spec and self.pins.triton_spec):
            raise ValueError(
                "kernels.flaggems needs pins.flaggems, and pins.triton or pins.flagtree: write the versions"
            )
        for key in ("python", "pytorch"):
            if getattr(self, key) == []:
                raise ValueError(f'{key} is an empty list: write "any" or at least one minor')
        return self

    @property
    def described(self) -> bool:
        """Whether its facts alone are here, and nothing that could be compiled."""
        return self._described

    @property
    def status(self) -> str:
        """Computed, never typed: what the last file of evidence says, `Emulated` until there is one."""
        if self._described:
            return "Described"
        return self._runs[-1].status if self._runs else ("Reference" if self.emulated else "Emulated")


class Variant(Section):
    """One build: a platform with one version of its SDK, the vendor's own or the emulated one of tests/emulation."""

    platform: Platform
    sdk_version: SdkVersion | None
    emulated_sdk: bool = False
    left_out: tuple[Literal["vendor", "flaggems"], ...] = Field(default=(), description="kernels not to be built")
    pins: Pins = Field(description="versions of the neighbours: the platform's own, or on an emulated card the reference's")

    @property
    def name(self) -> str:
        """The name of the file in variants/ and the argument of build-locally.py."""
        name = self.platform.id if self.sdk_version is None else f"{self.platform.id}-{self.sdk_version}"
        return f"{name}-emulated" if self.emulated_sdk else name

    @property
    def needs_libtorch(self) -> bool:
        """Whether its kernels run on the vendor's core of PyTorch."""
        return self.platform.libtorch is not None and self.platform.kernels.vendor and "vendor" not in self.left_out

    @property
    def minors(self) -> dict[str, str]:
        """The minors of Python and PyTorch that it is built with, where the platform names any."""
        own = {key: value[-1] for key in ("python", "pytorch") if (value := getattr(self.platform, key)) != "any"}
        if self.platform.sdk and (minor := self.platform.sdk.pytorch.get(self.sdk_version or "")):
            own["pytorch"] = minor
        return own

    @property
    def build_prefix(self) -> str:
        """First part of the build strings.  All digits of the version are kept: 3.8.0 and 3.8.1.3 must differ."""
        if self.platform.sdk is None or self.sdk_version is None:
            return self.platform.id
        digits = self.sdk_version.replace(".", "")
        return f"{self.platform.id}_{self.platform.sdk.name}{digits}{'_emu' if self.emulated_sdk else ''}"

    @property
    def emulated(self) -> bool:
        """Whether its devices live in host memory: any machine has them, and Triton's kernels run on the CPU."""
        return self.platform.emulated or self.emulated_sdk

    @property
    def gate(self) -> str | None:
        """The virtual package without which a solver must not choose this build."""
        sdk = self.platform.sdk
        if sdk is None or sdk.virtual_package is None or self.sdk_version is None or self.emulated_sdk:
            return None
        return f"{sdk.virtual_package} >={'.'.join(self.sdk_version.split('.')[:2])}"

    @property
    def sdk_spec(self) -> str | None:
        """The SDK as a match spec of the package <sdk>-version, which holds an environment to one version of it.

        The vendors keep the interfaces within a major version; where there are builds for several versions of it, each goes with its
        own.  What solvers detect has such a package elsewhere.
        """
        sdk = self.platform.sdk
        if sdk is None or sdk.virtual_package is not None or self.sdk_version is None:
            return None
        major, *rest = self.sdk_version.split(".")
        if sum(version.split(".")[0] == major for version in sdk.versions) > 1:
            return f"{sdk.name}-version =={self.sdk_version}"
        return f"{sdk.name}-version >={'.'.join([major, *rest[:1]])},<{int(major) + 1}.0a0"

    @property
    def run_path(self) -> list[str]:
        """Folders outside the environment where the loader looks for the SDK."""
        return self.platform.sdk.run_path if self.platform.sdk and not self.emulated_sdk else []

    @property
    def build_number(self) -> int:
        """Added to the recipe's number, which the minor of PyTorch (below 100) is part of.

        Of builds for one SDK that with the newest PyTorch wins; a newer SDK outranks an older one, whatever the PyTorch, and a gated
        build (1000 and more) every other: where the gate opens, it is meant.
        """
        if self.platform.sdk is None or self.sdk_version is None or self.emulated_sdk:
            return 0
        return 100 * self.platform.sdk.versions.index(self.sdk_version) + (0 if self.gate is None else 1000)

    @property
    def down_priority(self) -> int:
        """Ungated accelerator builds lose to `host` unless asked for, and emulated ones to the real ones."""
        if self.emulated_sdk:
            return 2
        return 0 if self.gate is not None or self.platform.emulated else 1


def load(path: Path) -> Platform:
    """Read one platform.toml; raises PlatformError naming the file and the key."""
    try:
        platform = Platform.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise PlatformError(f"{path}: cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise PlatformError(f"{path}: not TOML 1.0: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise PlatformError(f"{path}: {key + ': ' if key else ''}{first['msg']}") from None
    if platform.id != path.parent.name:
        raise PlatformError(
            f'{path}: id: is "{platform.id}", but the folder is called "{path.parent.name}": make them equal'
        )
    absent = [name for name in platform.tests.own_subset if not (path.parent / "tests" / name).is_file()]
    if absent:
        raise PlatformError(f"{path}: tests.own_subset: there is no file tests/{absent[0]}: write it or remove the entry")
    platform._described = is_described(path.parent)
    if platform.capabilities is None and not platform.described:
        raise PlatformError(f"{path}: capabilities: is missing, and there is a device layer: say what the contract suite may ask for")
    missing = [name for name in platform.evidence if not (path.parent / name).is_file()]
    if missing:
        raise PlatformError(f"{path}: evidence: there is no file {missing[0]}: commit it or remove the entry")
    try:
        platform._runs = tuple(evidence.read(path.parent / name, platform.id) for name in platform.evidence)
    except ValueError as error:
        raise PlatformError(f"{path}: evidence: {error}") from None
    return platform


def load_all(root: Path = ROOT) -> list[Platform]:
    """Every platform of the tree: emulated ones first, then by id."""
    found = [load(path) for path in sorted((root / "src" / "platforms").glob("*/platform.toml"))]
    if not found:
        raise PlatformError(f"{root / 'src' / 'platforms'}: no <id>/platform.toml in it")
    return sorted(found, key=lambda platform: (not platform.emulated, platform.id))


def variants(platform: Platform) -> list[Variant]:
    """The builds of one platform, in the order of platform.toml.

    Kernels on a vendor's core of PyTorch are left out until they are asked for: only who downloaded that core can build them.
    """
    versions = (platform.sdk.versions if platform.sdk else []) or [None]
    left_out = ("vendor",) if platform.libtorch else ()
    return [Variant(platform=platform, sdk_version=version, pins=platform.pins, left_out=left_out) for version in versions]


def find(name: str, platforms: list[Platform]) -> Variant:
    """The variant of that name; raises PlatformError."""
    for variant in (variant for platform in platforms for variant in variants(platform)):
        if variant.name == name:
            return variant
    raise PlatformError(f"{name}: no platform.toml makes such a variant; run: python -m flbuild.sync")


def on_emulated_sdk(variant: Variant, platforms: list[Platform], root: Path = ROOT) -> Variant:
    """The same variant on the emulated SDK; its Triton kernels run on the CPU, so the reference's versions of them are used.

    Raises:
        PlatformError: the platform has no SDK, or nobody has emulated it.
    """
    platform = variant.platform
    if platform.sdk is None:
        raise PlatformError(f"{platform.id} has no SDK that could be emulated: leave --emulated out")
    if not has_emulation(root, platform.id):
        raise PlatformError(
            f"{platform.sdk.title} has no emulation in tests/emulation/{platform.id}: leave --emulated out, or write one"
        )
    reference = next((other.pins for other in platforms if other.emulated), platform.pins)
    return variant.model_copy(update={"emulated_sdk": True, "pins": reference})


def switched(variant: Variant, environment: Mapping[str, str]) -> Variant:
    """The variant with the kernels that variables FLAGOS_BUILD_* switch on, and without those that they switch off.

    Raises:
        PlatformError: a value is neither ON nor OFF, or asks for what the platform cannot have; the reason is given.
    """
    platform, left_out = variant.platform, set(variant.left_out)
    said: dict[str, tuple[str, bool]] = {}  # which variable spoke of which kernels
    for name in sorted(name for name in environment if name.startswith("FLAGOS_BUILD_")):
        value = environment[name].upper()
        if value not in ("ON", "OFF", "1", "0"):
            raise PlatformError(f"{name}={environment[name]}: must be ON or OFF")
        on = value in ("ON", "1")
        if name in platform.switches:
            first, before = said.setdefault(platform.switches[name], (name, on))
            if before is not on:
                raise PlatformError(f"{first}={environment[first]} and {name}={environment[name]} speak of the same kernels: unset one of the two")
            (left_out.discard if on else left_out.add)(platform.switches[name])
        elif on:
            known = ", ".join(platform.switches) or "none"
            reason = platform.switches_refused.get(name, f"{platform.id} has no such switch (it has: {known})")
            raise PlatformError(f"{name}={environment[name]}: {reason}")
    return variant.model_copy(update={"left_out": tuple(sorted(left_out))})
