"""The accelerators' own variants, solved against a channel of metadata alone: what each brings, and what it refuses."""

from __future__ import annotations

import asyncio

import pytest
from rattler import MatchSpec, install
from rattler.exceptions import SolverError

from .metadata import EVERY, builds, driver, records

REAL = {name: variant for name, variant in EVERY.items() if variant.platform.sdk}
everyone = pytest.mark.parametrize("name", REAL)


def versions(solution: dict) -> dict[str, str]:
    return {name: str(record.version) for name, record in solution.items()}


@everyone
def test_it_renders_the_packages_that_the_platform_has(name, tmp_path):
    variant = REAL[name]
    made = list(records(name, variant.minors.get("python", "3.11"), variant.minors.get("pytorch", "2.13"), tmp_path))
    wanted = {"torch-fl", "torch-fl-runtime", "torch-fl-platform", "torch-fl-tests", "torch-fl-lab"}
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
    assert tuple(found[package].rpartition(".")[0] for package in ("python", "pytorch")) in builds(variant)
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
    assert "metax" in {variant.platform.id for variant in several}
    for mine, other in [(a, b) for a in several for b in several if a.platform.id == b.platform.id and a is not b]:
        name = f"{mine.platform.sdk.name}-version"
        found = solved(f"torch-fl=*={mine.build_prefix}_*", f"{name}=={mine.sdk_version}")
        assert {str(record.build).split("_py")[0] for name, record in found.items() if name == "torch-fl-runtime"} == {mine.build_prefix}
        assert versions(solved(f"torch-fl-platform=*={mine.platform.id}*", "torch-fl", f"{name}=={mine.sdk_version}"))[name] == mine.sdk_version
        for foreign in (f"{name}=={other.sdk_version}", f"torch-fl=*={other.build_prefix}_*", f"torch-fl-platform=*={other.build_prefix}_*"):
            with pytest.raises(SolverError):
                solved(f"torch-fl-runtime=*={mine.build_prefix}_*", foreign)


@everyone
def test_nothing_of_the_channel_can_be_installed(solved, metadata_channel, name, tmp_path):
    solution = solved(f"torch-fl=*={REAL[name].build_prefix}_*", **driver(name))
    assert not list(metadata_channel.rglob("*.conda"))
    with pytest.raises(Exception, match="(?i)no such file|not found|failed"):
        asyncio.run(install(list(solution.values()), tmp_path / "prefix", cache_dir=tmp_path / "cache", show_progress=False))
    assert not list((tmp_path / "prefix").rglob("libtorch_fl*"))
