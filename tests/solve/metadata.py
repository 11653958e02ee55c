"""A channel of metadata alone: what a solver reads of every build of every platform, taken from the rendered recipe.

Nobody here has the SDKs, so most of these packages cannot be built. The channel holds no file, so nothing of it can ever be installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from rattler import BuildString, GenericVirtualPackage, MatchSpec, PackageName, RepoDataRecord, Version, solve
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

from flbuild.platforms import ROOT, Variant, load_all, variants

EVERY = {variant.name: variant for platform in load_all() for variant in variants(platform)}
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PYTORCHES = ("2.10", "2.11", "2.12", "2.13")
# What they need of others, in versions beside the right ones.
OTHERS = [
    *[("python", f"{minor}.4") for minor in PYTHONS],
    *[(name, f"{minor}.0") for name in ("pytorch", "libtorch") for minor in PYTORCHES],
    *[(name, "99") for name in ("numpy", "packaging", "pytest", "pytest-xdist", "hypothesis", "expecttest", "typer", "rich", "pydantic")],
    *[("py-rattler", "0.28.0"), ("cyclonedx-python-lib", "11.12.0"), ("backports.zstd", "1.8.0")],
    *[("triton", "3.6.0"), ("triton", "3.7.1"), ("flag-gems", "5.0.2"), ("flagtree", "0.1"), ("torch-fl-libtorch", "0")],
]
# Somebody else's package: it needs our runtime and knows of no platform.
THIRD = {"name": "third", "version": "1", "build": "0", "build_number": 0, "depends": ["torch-fl-runtime >=0.1.0,<0.2.0a0"]}


def builds(variant: Variant) -> list[tuple[str, str]]:
    """Minors of Python and PyTorch that a variant can be built with: all that its platform and its SDK allow."""
    pythons = PYTHONS if variant.platform.python == "any" else variant.platform.python
    if variant.platform.sdk and (minor := variant.platform.sdk.pytorch.get(variant.sdk_version or "")):
        return list(product(pythons, [minor]))
    allowed = PYTORCHES if variant.platform.pytorch == "any" else variant.platform.pytorch
    pinned = {minor for minor in (variant.platform.sdk.pytorch if variant.platform.sdk else {}).values()}
    return list(product(pythons, [minor for minor in allowed if minor not in pinned]))


def driver(name: str) -> dict[str, str]:
    """The virtual package of a driver that is just new enough, where solvers detect one."""
    variant = EVERY[name]
    gate = variant.platform.sdk.virtual_package if variant.platform.sdk else None
    return {gate.removeprefix("__"): variant.sdk_version} if gate else {}


def rendered(name: str, python: str, pytorch: str, folder: Path, subdir: str = "linux-64") -> list:
    """The outputs of the recipe for one build."""
    minors = folder / f"{python}-{pytorch}.yaml"
    minors.write_text(f'python: ["{python}.*"]\npytorch: ["{pytorch}.*"]\n')
    files = [ROOT / "conda_build_config.yaml", ROOT / "variants" / f"{name}.yaml", minors]
    config = RenderConfig(platform=PlatformConfig(target_platform=subdir))
    return list(Stage0Recipe.from_file(ROOT / "recipe" / "recipe.yaml").render(VariantConfig.from_files(files), config))


def following(minor: str) -> str:
    major, number = minor.split(".")
    return f"{major}.{int(number) + 1}.0a0"


def records(name: str, python: str, pytorch: str, folder: Path) -> Iterator[dict]:
    """The packages of a build as a channel lists them; pins are resolved as the builder does."""
    outputs = rendered(name, python, pytorch, folder)
    exact = {str(o.recipe.package.name): f"=={o.recipe.package.version} {o.recipe.build.string}" for o in outputs}

    def spec(part: str | dict, variant: dict) -> str:
        if isinstance(part, str):
            return part
        ((kind, pin),) = part.items()
        if kind == "pin_subpackage":
            assert pin["exact"], part
            return f"{pin['name']} {exact[pin['name']]}"
        assert (kind, pin["lower_bound"], pin["upper_bound"]) == ("pin_compatible", "x.x", "x.x"), part
        minor = str(variant["pytorch" if pin["name"] == "libtorch" else pin["name"]]).removesuffix(".*")
        return f"{pin['name']} >={minor},<{following(minor)}"

    for output in outputs:
        needs, package, build = output.recipe.to_dict().get("requirements", {}), output.recipe.package, output.recipe.build
        variant = {str(key): value for key, value in dict(output.variant).items()}
        whole = output.recipe.to_dict()["build"]
        lower = int(whole.get("variant", {}).get("down_prioritize_variant") or 0)
        yield {
            "name": str(package.name),
            "version": str(package.version),
            "build": str(build.string),
            "build_number": whole["number"],
            **({"track_features": " ".join(f"{package.name}-p-{i}" for i in range(lower))} if lower else {}),
            "depends": [spec(part, variant) for part in needs.get("run", [])],
            "constrains": [spec(part, variant) for part in needs.get("run_constraints", [])],
        }


def write_channel(folder: Path, whole: bool = True) -> Path:
    """Metadata of every build of every variant, and of what they need.

    Args:
        whole: each variant with all minors of Python and PyTorch; else with the newest of each alone.
    """
    made = folder / "variants"
    made.mkdir()
    needed = {pin for variant in EVERY.values() for pin in (variant.pins.flaggems_spec, variant.pins.triton_spec) if pin}
    exact = [(*pin.split(" =="), "0") for pin in needed if " ==" in pin]
    of_revisions = [(pin.split()[0], "5.0.2", f"py{pin.split()[2].replace('*', '_')}0") for pin in needed if " * " in pin]
    plain = [(name, version, "0") for name, version in OTHERS]
    others = [{"name": n, "version": v, "build": b, "build_number": 0, "depends": []} for n, v, b in [*plain, *exact, *of_revisions]]
    every = [record for name, variant in EVERY.items() for minors in builds(variant)[0 if whole else -1 :] for record in records(name, *minors, made)]
    packages = {f"{r['name']}-{r['version']}-{r['build']}.conda": r | {"subdir": "linux-64"} for r in [*every, *others, THIRD]}
    for subdir in ("linux-64", "noarch"):
        (folder / subdir).mkdir()
        found = packages if subdir == "linux-64" else {}
        for record in found.values():
            record |= {"sha256": "0" * 64, "md5": "0" * 32, "size": 0}
        text = json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": found, "repodata_version": 1})
        (folder / subdir / "repodata.json").write_text(text)
    return folder


def solution(channel: Path, specs: tuple[str, ...], detected: dict[str, str]) -> dict[str, RepoDataRecord]:
    """What a solver chooses, by name.

    Args:
        specs: as people type them for conda: name=version=build.
        detected: versions of virtual packages, without the underscores.

    Raises:
        rattler.exceptions.SolverError: nothing fits.
    """
    machine = {"unix": "0", "linux": "6.1", "glibc": "2.40", "archspec": "1", **detected}
    virtual = [GenericVirtualPackage(PackageName(f"__{n}"), Version(v), BuildString("0")) for n, v in machine.items()]
    asked = [MatchSpec(spec, strict=False) for spec in specs]
    return {r.name.normalized: r for r in asyncio.run(solve([channel.as_uri()], asked, virtual_packages=virtual))}
