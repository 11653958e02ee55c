"""The accelerators' own variants: rendered, and solved against a channel of metadata alone.

Nobody here has the SDKs, so these packages cannot be built. What a solver reads of them comes from the rendered recipe;
the channel holds no file, so nothing of it can ever be installed.
"""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from rattler import BuildString, GenericVirtualPackage, MatchSpec, PackageName, Version, install, solve
from rattler.exceptions import SolverError
from rattler_build import Stage0Recipe, VariantConfig

from flbuild.platforms import ROOT, load_all, variants

REAL = {variant.name: variant for platform in load_all() if platform.sdk for variant in variants(platform)}
# What they need of others, in versions beside the right ones.
OTHERS = [
    *[("python", f"3.{minor}.4") for minor in (10, 11, 12, 13)],
    *[(name, f"2.{minor}.0") for name in ("pytorch", "libtorch") for minor in (10, 11, 12, 13)],
    *[(name, "99") for name in ("numpy", "pytest", "pytest-xdist", "hypothesis", "expecttest", "typer", "rich", "pydantic")],
    *[("triton", "3.6.0"), ("triton", "3.7.1"), ("flag-gems", "5.0.2"), ("flagtree", "0.1")],
]
everyone = pytest.mark.parametrize("name", REAL)


def driver(name: str) -> dict[str, str]:
    """The virtual package of a driver that is just new enough, where solvers detect one."""
    variant = REAL[name]
    gate = variant.platform.sdk.virtual_package
    return {gate.removeprefix("__"): variant.sdk_version} if gate else {}



def rendered(name: str) -> list:
    files = [ROOT / "conda_build_config.yaml", ROOT / "variants" / f"{name}.yaml"]
    return list(Stage0Recipe.from_file(ROOT / "recipe" / "recipe.yaml").render(VariantConfig.from_files(files)))


def following(minor: str) -> str:
    major, number = minor.split(".")
    return f"{major}.{int(number) + 1}.0a0"


def records(name: str) -> list[dict]:
    """The packages of a variant as a channel lists them; pins are resolved as the builder does."""
    outputs = rendered(name)
    exact = {str(o.recipe.package.name): f"=={o.recipe.package.version} {o.recipe.build.string}" for o in outputs}

    def spec(part, variant: dict) -> str:
        if isinstance(part, str):
            return part
        ((kind, pin),) = part.items()
        if kind == "pin_subpackage":
            assert pin["exact"], part
            return f"{pin['name']} {exact[pin['name']]}"
        assert (kind, pin["lower_bound"], pin["upper_bound"]) == ("pin_compatible", "x.x", "x.x"), part
        minor = str(variant["pytorch" if pin["name"] == "libtorch" else pin["name"]]).removesuffix(".*")
        return f"{pin['name']} >={minor},<{following(minor)}"

    made = []
    for output in outputs:
        needs, package, build = output.recipe.to_dict().get("requirements", {}), output.recipe.package, output.recipe.build
        variant = {str(key): value for key, value in dict(output.variant).items()}
        whole = output.recipe.to_dict()["build"]
        lower = int(whole.get("variant", {}).get("down_prioritize_variant") or 0)
        made.append(
            {
                "name": str(package.name),
                "version": str(package.version),
                "build": str(build.string),
                "build_number": whole["number"],
                **({"track_features": " ".join(f"{package.name}-p-{i}" for i in range(lower))} if lower else {}),
                "depends": [spec(part, variant) for part in needs.get("run", [])],
                "constrains": [spec(part, variant) for part in needs.get("run_constraints", [])],
            }
        )
    return made


@pytest.fixture(scope="module")
def channel(tmp_path_factory):
    """Metadata of every variant, the reference's included, and of what they need."""
    folder = tmp_path_factory.mktemp("metadata")
    needed = {pin for variant in REAL.values() for pin in (variant.pins.flaggems_spec, variant.pins.triton_spec) if pin}
    exact = [(*pin.split(" =="), "0") for pin in needed if " ==" in pin]
    of_revisions = [(pin.split()[0], "5.0.2", f"py{pin.split()[2].replace('*', '_')}0") for pin in needed if " * " in pin]
    plain = [(name, version, "0") for name, version in OTHERS]
    others = [{"name": n, "version": v, "build": b, "build_number": 0, "depends": []} for n, v, b in [*plain, *exact, *of_revisions]]
    every = [record for name in ("host", *REAL) for record in records(name)]
    packages = {f"{r['name']}-{r['version']}-{r['build']}.conda": r | {"subdir": "linux-64"} for r in [*every, *others]}
    for subdir in ("linux-64", "noarch"):
        (folder / subdir).mkdir()
        found = packages if subdir == "linux-64" else {}
        for record in found.values():
            record |= {"sha256": "0" * 64, "md5": "0" * 32, "size": 0}
        text = json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": found, "repodata_version": 1})
        (folder / subdir / "repodata.json").write_text(text)
    return folder


@pytest.fixture
def solved(channel):
    """A function from match specs, and versions of virtual packages, to the records of the solution by name."""

    def run(*specs: str, **detected: str) -> dict:
        machine = {"unix": "0", "linux": "6.1", "glibc": "2.40", "archspec": "1", **detected}
        virtual = [GenericVirtualPackage(PackageName(f"__{n}"), Version(v), BuildString("0")) for n, v in machine.items()]
        asked = [MatchSpec(spec, strict=False) for spec in specs]
        return {r.name.normalized: r for r in asyncio.run(solve([channel.as_uri()], asked, virtual_packages=virtual))}

    return run


def versions(solution: dict) -> dict[str, str]:
    return {name: str(record.version) for name, record in solution.items()}


@everyone
def test_it_renders_the_packages_that_the_platform_has(name):
    variant, made = REAL[name], records(name)
    wanted = {"torch-fl", "torch-fl-runtime", "torch-fl-platform", "torch-fl-tests"}
    vendor = variant.platform.kernels.vendor and "vendor" not in variant.left_out
    wanted |= {"torch-fl-vendor-kernels"} if vendor else set()
    wanted |= {"torch-fl-flaggems"} if variant.platform.kernels.flaggems else set()
    wanted |= {f"{variant.platform.sdk.name}-version"} if variant.sdk_spec else set()
    assert {record["name"] for record in made} == wanted
    for record in made:
        assert "_emu" not in record["build"]
        assert record["build"].startswith((variant.build_prefix, "pyh", "0")), record


@everyone
def test_it_can_be_had_by_its_build_string_in_the_versions_that_it_is_pinned_to(solved, name):
    variant = REAL[name]
    found = versions(solved(f"torch-fl=*={variant.build_prefix}_*", **driver(name)))
    for package, minor in variant.minors.items():
        assert re.match(rf"{re.escape(minor)}\.", found[package])
    if variant.sdk_spec:
        assert found[f"{variant.platform.sdk.name}-version"] == variant.sdk_version
    assert not {"flagtree", "triton"} & found.keys() or "flaggems" not in variant.platform.kernels.optional


@everyone
def test_its_flaggems_are_the_vendors_and_need_no_kernels_on_the_host(solved, name):
    variant = REAL[name]
    if not variant.platform.kernels.flaggems:
        pytest.skip(f"{variant.platform.id} has no FlagGems")
    found = solved(f"torch-fl-flaggems=*={variant.build_prefix}_*", **driver(name))
    assert "torch-fl-triton-host" not in found
    for pin in (variant.pins.flaggems_spec, variant.pins.triton_spec):
        assert found[pin.split()[0]].matches(MatchSpec(pin, strict=False))


@everyone
def test_flagtree_and_triton_which_install_one_module_exclude_each_other(solved, name):
    variant = REAL[name]
    if not (variant.pins.triton_spec or "").startswith("flagtree "):
        pytest.skip(f"{variant.platform.id} has Triton itself")
    asked = f"torch-fl-flaggems=*={variant.build_prefix}_*"
    with pytest.raises(SolverError, match="triton"):
        solved(asked, "triton", **driver(name))
    assert "triton" not in solved(asked, **driver(name))


@everyone
def test_nobody_gets_it_unasked(solved, name):
    solution = solved("torch-fl")
    assert str(solution["torch-fl"].build).startswith("host_") and f"{REAL[name].platform.sdk.name}-version" not in solution


@pytest.mark.parametrize(("detected", "sdk"), [("12.6", None), ("12.8", "128"), ("13.2", "130"), ("13.4", "133")])
def test_a_driver_that_solvers_detect_gives_the_newest_sdk_that_it_can_run(solved, detected, sdk):
    build = str(solved("torch-fl", cuda=detected)["torch-fl"].build)
    assert build.startswith(f"cuda_cuda{sdk}_" if sdk else "host_")


@everyone
def test_another_sdk_or_python_or_an_old_driver_is_refused(solved, name):
    variant = REAL[name]
    request, sdk = f"torch-fl=*={variant.build_prefix}_*", variant.platform.sdk.name
    if variant.sdk_spec:
        with pytest.raises(SolverError, match=f"{sdk}-version"):
            solved(request, f"{sdk}-version <{variant.sdk_version.split('.')[0]}", **driver(name))
        assert solved(request, **{sdk: variant.sdk_version})
        with pytest.raises(SolverError, match=f"__{sdk}"):
            solved(request, **{sdk: "0.1"})
    for minor in {"3.10", "3.11", "3.12", "3.13"} - set(variant.platform.python if variant.platform.python != "any" else ()):
        if variant.platform.python != "any":
            with pytest.raises(SolverError, match="python"):
                solved(request, f"python {minor}.*", **driver(name))


def test_two_versions_of_an_sdk_lie_in_one_channel_and_never_meet(solved):
    """Neither build goes with the other's SDK, nor with a package of the other build."""
    several = [variant for variant in REAL.values() if variant.sdk_spec and len(variant.platform.sdk.versions) > 1]
    assert {variant.platform.id for variant in several} == {"metax"}
    for mine, other in [several, several[::-1]]:
        found = solved(f"torch-fl=*={mine.build_prefix}_*", f"{mine.platform.sdk.name}-version=={mine.sdk_version}")
        assert {str(record.build).split("_py")[0] for name, record in found.items() if name == "torch-fl-runtime"} == {mine.build_prefix}
        assert versions(solved("torch-fl-platform=*=metax*", "torch-fl", f"maca-version=={mine.sdk_version}"))["maca-version"] == mine.sdk_version
        for foreign in (f"maca-version=={other.sdk_version}", f"torch-fl-flaggems=*={other.build_prefix}_*", f"torch-fl-platform=*={other.build_prefix}_*"):
            with pytest.raises(SolverError):
                solved(f"torch-fl-runtime=*={mine.build_prefix}_*", foreign)


@everyone
def test_nothing_of_the_channel_can_be_installed(solved, channel, name, tmp_path):
    solution = solved(f"torch-fl=*={REAL[name].build_prefix}_*", **driver(name))
    assert not list(channel.rglob("*.conda"))
    with pytest.raises(Exception, match="(?i)no such file|not found|failed"):
        asyncio.run(install(list(solution.values()), tmp_path / "prefix", cache_dir=tmp_path / "cache", show_progress=False))
    assert not list((tmp_path / "prefix").rglob("libtorch_fl*"))
