"""The model of `src/platforms/<id>/platform.toml`: everything the build knows about a platform.

One file a platform is the only place where its facts are written.  The variant files, the
pixi tasks and the support table are derived from it by `flbuild.sync`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import tomllib
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

ROOT = Path(__file__).resolve().parent.parent

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*$")]
SdkVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)*$")]
PythonMinor = Annotated[str, StringConstraints(pattern=r"^3\.[0-9]+$")]
SonameGlob = Annotated[str, StringConstraints(pattern=r"^lib[A-Za-z0-9_+.-]+\.so[A-Za-z0-9.*]*$")]
Sentence = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class PlatformError(ValueError):
    """A platform.toml that cannot be used; the text is one sentence with file and key."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Sdk(Section):
    """The vendor's kit.  Absent for a platform that needs none."""

    name: Identifier = Field(description="short name as in build strings: maca, cann, musa")
    title: Sentence = Field(description="the vendor's own spelling")
    versions: list[SdkVersion] = Field(min_length=1, description="one variant each; newer versions last")
    root: str = Field(description="default folder of an installed SDK")
    root_variables: list[str] = Field(default=[], description="environment variables that name it, in order")
    virtual_package: str | None = Field(
        default=None,
        pattern=r"^__[a-z0-9_]+$",
        description="the solver's name for the driver; only where stock solvers detect it",
    )


class Kernels(Section):
    slots: list[Identifier] = Field(description="names of kernel sets in routing files, in order of preference")
    vendor: bool = Field(default=False, description="torch-fl-vendor-kernels has libraries to hold")
    flaggems: bool = Field(default=False, description="torch-fl-flaggems has a bridge and routes to hold")
    optional: list[Literal["vendor", "flaggems"]] = Field(
        default=[], description="of these two, what is built and only comes with the metapackage when it is asked for"
    )


def match_spec(package: str, pin: str) -> str | None:
    """A pin of platform.toml as a conda match spec; None where there is none.  A bare version means this one alone."""
    if pin in ("none", "unknown"):
        return None if pin == "none" else package
    return f"{package} {'==' if re.fullmatch(r'[0-9.]+', pin) else ''}{pin}"


class Pins(Section):
    """Versions of the neighbours; `unknown` where no public source gives one, `none` where there is none."""

    flagtree: str = "none"
    triton: str = "none"
    flaggems: str = "none"
    flagcx: str = "none"

    @property
    def triton_spec(self) -> str | None:
        """The package with the module `triton`, as a conda match spec: FlagTree is Triton with vendors' back ends."""
        return match_spec("flagtree", self.flagtree) or match_spec("triton", self.triton)

    @property
    def flaggems_spec(self) -> str | None:
        return match_spec("flag-gems", self.flaggems)


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
    python: Literal["any"] | list[PythonMinor] = Field(default="any", description="Python minors the SDK allows")
    evidence: list[str] = Field(default=[], description="files, relative to the platform's folder, that prove a run")
    sdk: Sdk | None = None
    kernels: Kernels
    pins: Pins = Pins()
    features: Features

    @model_validator(mode="after")
    def _consistent(self) -> Platform:
        if self.emulated and self.sdk is not None:
            raise ValueError("an emulated platform has no [sdk]: remove one of the two")
        digits = [version.replace(".", "") for version in self.sdk.versions] if self.sdk else []
        if len(set(digits)) < len(digits):
            raise ValueError("two sdk.versions have the same digits, and so the same build strings: leave one out")
        empty = [name for name in self.kernels.optional if not getattr(self.kernels, name)]
        if empty:
            raise ValueError(f"kernels.optional names {empty[0]}, which the platform does not have: set it to true")
        if self.kernels.flaggems and not (self.pins.flaggems_spec and self.pins.triton_spec):
            raise ValueError(
                "kernels.flaggems needs pins.flaggems, and pins.triton or pins.flagtree: write the versions"
            )
        if self.python == []:
            raise ValueError('python is an empty list: write "any" or at least one minor')
        return self

    @property
    def status(self) -> str:
        """Computed, never typed: `Emulated` until a file of evidence exists."""
        return "Stable" if self.evidence else ("Reference" if self.emulated else "Emulated")


class Variant(Section):
    """One build: a platform with one version of its SDK."""

    platform: Platform
    sdk_version: SdkVersion | None

    @property
    def name(self) -> str:
        """The name of the file in variants/ and the argument of build-locally.py."""
        return self.platform.id if self.sdk_version is None else f"{self.platform.id}-{self.sdk_version}"

    @property
    def build_prefix(self) -> str:
        """First part of the build strings.  All digits of the version are kept: 3.8.0 and 3.8.1.3 must differ."""
        if self.platform.sdk is None or self.sdk_version is None:
            return self.platform.id
        return f"{self.platform.id}_{self.platform.sdk.name}{self.sdk_version.replace('.', '')}"

    @property
    def gate(self) -> str | None:
        """The virtual package without which a solver must not choose this build."""
        sdk = self.platform.sdk
        if sdk is None or sdk.virtual_package is None or self.sdk_version is None:
            return None
        return f"{sdk.virtual_package} >={'.'.join(self.sdk_version.split('.')[:2])}"

    @property
    def build_number(self) -> int:
        """Added to the recipe's number.

        A newer SDK outranks an older one, and a gated build (100 and more) every other: where the gate opens, it is
        meant.
        """
        if self.platform.sdk is None or self.sdk_version is None:
            return 0
        return self.platform.sdk.versions.index(self.sdk_version) + (0 if self.gate is None else 100)

    @property
    def down_priority(self) -> int:
        """Ungated accelerator builds lose to `host` unless asked for: a solver cannot see their card."""
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
    missing = [name for name in platform.evidence if not (path.parent / name).is_file()]
    if missing:
        raise PlatformError(f"{path}: evidence: there is no file {missing[0]}: commit it or remove the entry")
    return platform


def load_all(root: Path = ROOT) -> list[Platform]:
    """Every platform of the tree: emulated ones first, then by id."""
    found = [load(path) for path in sorted((root / "src" / "platforms").glob("*/platform.toml"))]
    if not found:
        raise PlatformError(f"{root / 'src' / 'platforms'}: no <id>/platform.toml in it")
    return sorted(found, key=lambda platform: (not platform.emulated, platform.id))


def variants(platform: Platform) -> list[Variant]:
    """The builds of one platform, in the order of platform.toml."""
    if platform.sdk is None:
        return [Variant(platform=platform, sdk_version=None)]
    return [Variant(platform=platform, sdk_version=version) for version in platform.sdk.versions]
