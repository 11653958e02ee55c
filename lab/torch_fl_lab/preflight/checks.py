"""What may be wrong with an artifact, here or for a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version as PythonVersion
from rattler import BuildString, MatchSpec, PackageName, PackageRecord, VersionWithSource

from torch_fl_lab.preflight.facts import Facts
from torch_fl_lab.preflight.installed import PYTHON_NAMES, Environment


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that surprises (`warning`); the sentence has the remedy."""

    level: Literal["error", "warning"]
    sentence: str


def wrong(sentence: str) -> Problem:
    return Problem("error", sentence)


def asked_for(facts: Facts, platform: str | None, sdk_version: str | None, require_sdk: bool) -> Iterator[Problem]:
    """Whether it is what somebody asks for."""
    if platform and facts.platform != platform:
        yield wrong(f"it is for {facts.platform} and {platform} is asked for: take the {platform} build")
    if sdk_version and facts.sdk and facts.sdk_version is None:
        yield wrong(f"its {facts.sdk} version is unknown, which does not mean any: build it with FLAGOS_SDK_VERSION={sdk_version}")
    elif sdk_version and facts.sdk_version != sdk_version:
        yield wrong(f"it is for {facts.sdk or 'no SDK'} {facts.sdk_version or ''}".rstrip() + f" and {sdk_version} is here: take the build for {sdk_version}")
    if require_sdk and facts.sdk and facts.sdk_version is None:
        yield wrong(f"it does not say which {facts.sdk} it is for: build it with FLAGOS_SDK_VERSION set")


def traceable(source: dict[str, str] | None) -> Iterator[Problem]:
    """Whether it says which revision it was made of.

    Args:
        source: `sha` and `remote_url` as CEP 31 has them; None for what has no place for them.
    """
    if source is not None and not source.get("sha"):
        yield wrong("it does not say which revision of the sources it was made of: commit what is changed, and build it in a fresh clone of git")


def releasable(facts: Facts) -> Iterator[Problem]:
    """Whether it says all that somebody else must know of it."""
    if facts.emulated_sdk:
        yield wrong("it runs on an emulated SDK, which is for tests: build it on the vendor's")
    if facts.sdk and facts.sdk_version is None:
        yield wrong(f"it does not say which {facts.sdk} it is for: build it with FLAGOS_SDK_VERSION set to a version that was verified")
    if facts.bundled_libtorch and facts.vendor_torch_version is None:
        yield wrong("it has kernels on a vendor's core of PyTorch and does not say which: build it with FLAGOS_VENDOR_TORCH_VERSION set")
    for name, pin in facts.pins.items():
        if pin == "unknown":
            yield wrong(f"its pin of {name} is unknown: write the version into the platform's platform.toml, or `none`")


def fits(facts: Facts, requires: list[str], conda: bool, environment: Environment) -> Iterator[Problem]:
    """Whether the environment has what it asks for, and what of it differs from what it was built with."""
    if not SpecifierSet(facts.python_requires).contains(f"{environment.python}.0"):
        yield wrong(f"it needs Python {facts.python_requires} and {environment.python} is here: take the build for {environment.python}")
    for spec in requires:
        yield from _unmet(spec, conda, environment)
    torch = environment.version("pytorch")
    if torch is not None and PythonVersion(torch).public != PythonVersion(facts.torch_version).public:
        yield Problem("warning", f"it was built with PyTorch {facts.torch_version} and {torch} is here; within the declared range that is meant to work")
    for name, version in facts.build_versions.items():
        here = environment.version(name)
        if here is not None and here != version:
            yield Problem("warning", f"it was tried with {name} {version} and {here} is here")


def same_as_build(facts: Facts, environment: Environment) -> Iterator[Problem]:
    """Whether the environment is exactly that of the build."""
    for name, version in {"pytorch": facts.torch_version, **facts.build_versions}.items():
        here = environment.version(name)
        if here is None or PythonVersion(here).public != PythonVersion(version).public:
            yield wrong(f"it was built with {PYTHON_NAMES.get(name, name)} {version} and {here or 'none'} is here: install that version, or build anew")


def _unmet(spec: str, conda: bool, environment: Environment) -> Iterator[Problem]:
    if conda:
        parsed = MatchSpec(spec, strict=False)
        name, wanted = (parsed.name.normalized if parsed.name else spec.split()[0]), str(parsed.version or "")
        if name.startswith("__") or name == "python":  # the machine's, and asked above
            return
        here = environment.version(name)
        if here is None:
            yield wrong(f"it needs {spec}, which is not here: install it")
        elif wanted and not MatchSpec(f"{name} {wanted}", strict=False).matches(_record(name, here)):
            yield wrong(f"it needs {name} {wanted} and {here} is here: install a version that fits")
        return
    try:
        requirement = Requirement(spec)
    except InvalidRequirement as error:
        yield wrong(f"its requirement {spec!r} cannot be read: {str(error).splitlines()[0]}")
        return
    if requirement.marker and not requirement.marker.evaluate({"python_version": environment.python, "extra": ""}):
        return
    here = environment.version(requirement.name)
    if here is None:
        yield wrong(f"it needs {spec}, which is not here: install it")
    elif not requirement.specifier.contains(here, prereleases=True):
        yield wrong(f"it needs {requirement.name} {requirement.specifier} and {here} is here: install a version that fits")


def _record(name: str, version: str) -> PackageRecord:
    return PackageRecord(PackageName(name), VersionWithSource(version), BuildString("0"), 0, "noarch", None, None)
