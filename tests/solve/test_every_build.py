"""Every platform, SDK, Python and PyTorch that there is a build for: one set of packages each, and no set of two platforms."""

from __future__ import annotations

from itertools import permutations

import pytest
from rattler.exceptions import SolverError

from .metadata import EVERY, builds, driver, records

BUILDS = [(name, *minors) for name, variant in EVERY.items() for minors in builds(variant)]
ONE_EACH = {variant.platform.id: name for name, variant in EVERY.items()}  # the newest SDK of each platform
# Of the packages of ours, those that belong to a platform and not to all.
OURS = ("torch-fl", "torch-fl-runtime", "torch-fl-vendor-kernels", "torch-fl-flaggems")


def prefixes(found: dict) -> set[str]:
    """The platforms and SDKs that the packages of a solution are for."""
    of_builds = {str(found[name].build).split("_py3")[0] for name in OURS if name in found}
    return of_builds | {str(found["torch-fl-platform"].build).rpartition("_")[0]}


@pytest.mark.parametrize(("name", "python", "pytorch"), BUILDS, ids=["-".join(build) for build in BUILDS])
def test_there_is_one_consistent_set(solved, name, python, pytorch):
    asked = f"torch-fl=*={EVERY[name].build_prefix}_*", f"python {python}.*", f"pytorch {pytorch}.*"
    found = solved(*asked, **driver(name))
    assert prefixes(found) == {EVERY[name].build_prefix}
    assert {str(found[core].version).rpartition(".")[0] for core in ("pytorch", "libtorch")} == {pytorch}
    (tag,) = {str(found[part].build).split("_py")[1].split("_")[0] for part in OURS if part in found}
    assert tag == python.replace(".", "")
    with pytest.raises(SolverError):  # there is no second one
        solved(*asked, f"torch-fl!={found['torch-fl'].version}", **driver(name))


def test_each_build_has_a_file_name_of_its_own(tmp_path):
    """A second one of the same name would replace the first in a channel; what is for all platforms is the same file for all."""
    made: dict[tuple[str, str], set[str]] = {}
    for name, python, pytorch in BUILDS:
        for record in records(name, python, pytorch, tmp_path):
            made.setdefault((record["name"], record["build"]), set()).add(f"{name} {python} {pytorch}")
    assert {key: users for key, users in made.items() if key[0] in OURS and len(users) > 1} == {}


@pytest.mark.parametrize("name", EVERY)
def test_only_what_its_python_and_pytorch_are_built_for_is_offered(solved, name):
    variant = EVERY[name]
    request = f"torch-fl=*={variant.build_prefix}_*"
    offered = builds(variant)
    for python in {"3.9", "3.10", "3.11", "3.12", "3.13"} - {python for python, _ in offered}:
        with pytest.raises(SolverError):
            solved(request, f"python {python}.*", **driver(name))
    for pytorch in {"2.9", "2.10", "2.11", "2.12", "2.13"} - {pytorch for _, pytorch in offered}:
        with pytest.raises(SolverError):
            solved(request, f"pytorch {pytorch}.*", **driver(name))


@pytest.mark.parametrize(("left", "right"), list(permutations(ONE_EACH, 2)))
def test_two_platforms_never_meet(solved, left, right):
    a, b = (EVERY[ONE_EACH[platform]].build_prefix for platform in (left, right))
    machine = driver("cuda-13.3")  # with every driver that could be asked for
    for other in (f"torch-fl=*={b}_*", f"torch-fl-platform=*={b}_*"):
        with pytest.raises(SolverError):
            solved(f"torch-fl-runtime=*={a}_*", other, **machine)


@pytest.mark.parametrize("request_", ["torch-fl", "torch-fl-runtime", "torch-fl-tests", "third"])
@pytest.mark.parametrize(("cuda", "build"), [(None, "host"), ("12.6", "host"), ("12.8", "cuda_cuda128"), ("13.0", "cuda_cuda130"), ("13.9", "cuda_cuda133")])
def test_who_asks_for_no_platform_gets_what_the_machine_has(solved, request_, cuda, build):
    found = solved(request_, **({"cuda": cuda} if cuda else {}))
    assert prefixes(found) == {build}


@pytest.mark.parametrize("request_", ["torch-fl", "torch-fl-runtime", "torch-fl-tests", "third"])
def test_of_builds_that_differ_in_their_pytorch_or_python_the_newest_is_taken(solved, request_):
    minors = builds(EVERY["host"])
    newest = tuple(max((found[part] for found in minors), key=lambda minor: int(minor.split(".")[1])) for part in (0, 1))
    found = solved(request_)
    assert tuple(str(found[name].version).rpartition(".")[0] for name in ("python", "pytorch")) == newest
    for python in {python for python, _ in minors}:
        assert str(solved(request_, f"python {python}.*")["pytorch"].version).rpartition(".")[0] == newest[1]


def test_the_laboratorys_commands_need_no_platform(solved):
    found = solved("torch-fl-lab")
    assert not {"pytorch", "torch-fl-platform", *OURS} & found.keys()
