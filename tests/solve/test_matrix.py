"""What a solver chooses from several variants of one version, and what it must refuse."""

from __future__ import annotations

import asyncio
import re

import pytest
from rattler import BuildString, GenericVirtualPackage, MatchSpec, PackageName, Version, solve
from rattler.exceptions import SolverError
from rattler.index import index_fs
from rattler_build import assemble_package

HOST, STUB_OLD, STUB_NEW, PLAIN = "host", "stub_stubsdk128", "stub_stubsdk1301", "plain_psdk3813"
# What a machine gets that asks for nothing in particular, by its version of __cuda.
BEST = {None: HOST, "12.8": STUB_OLD, "13.0": STUB_NEW}
SPLIT = {"torch-fl", "torch-fl-runtime", "torch-fl-vendor-kernels", "torch-fl-flaggems"}
TRITON_HOST = "torch-fl-triton-host"
# FlagGems and the two packages that have a module `triton`, as names and versions.
NEIGHBOURS = {"flag-gems": "5.0.2", "triton": "3.7.1", "flagtree": "0.5.1"}
everywhere = pytest.mark.parametrize("cuda", BEST)


@pytest.fixture(scope="module")
def chosen(channel, miniature, tmp_path_factory):
    """A function from `__cuda` and a request to {package: platform and SDK} of our packages and {name: version} of `NEIGHBOURS`.

    The channel also holds `third`, somebody else's package: it needs our runtime and knows of no platform.
    """
    other = tmp_path_factory.mktemp("third")
    assemble_package("third", "1", "linux-64", "0", other / "linux-64", depends=["torch-fl-runtime >=0.1.0,<0.2.0a0"])
    for name, version in [*NEIGHBOURS.items(), ("triton", "3.8.0"), ("flag-gems", "5.1.0")]:
        assemble_package(name, version, "linux-64", "0", other / "linux-64", depends=[])
    (other / "noarch").mkdir()
    channels = [other.as_uri(), channel.as_uri(), *miniature.channels]
    asyncio.run(index_fs(other, force=True))

    def run(cuda: str | None, *request: str) -> dict[str, str]:
        machine = {
            "__unix": "0",
            "__linux": "6.1",
            "__glibc": "2.40",
            "__archspec": "1",
            **({"__cuda": cuda} if cuda else {}),
        }
        virtual = [GenericVirtualPackage(PackageName(n), Version(v), BuildString("0")) for n, v in machine.items()]
        specs = [MatchSpec(spec, strict=False) for spec in request]  # as people type them for conda: name=version=build
        records = asyncio.run(solve(channels, specs, virtual_packages=virtual))
        ours = {r.name.normalized: str(r.build) for r in records if r.name.normalized.startswith("torch-fl")}
        beside = {r.name.normalized: str(r.version) for r in records if r.name.normalized in NEIGHBOURS}
        return beside | {name: re.sub(r"(_py\d+_h[0-9a-f]+)?_\d+$", "", build) for name, build in ours.items()}

    return run


def one_platform(result: dict[str, str]) -> str:
    """The platform of a solution, in which all packages must agree."""
    builds = {build for name, build in result.items() if name in SPLIT or name == "torch-fl-platform"}
    assert len(builds) == 1, result
    return builds.pop()


@everywhere
@pytest.mark.parametrize("request_", ["torch-fl", "torch-fl-runtime", "torch-fl-tests", "third"])
def test_the_best_build_that_the_machine_can_run(chosen, cuda, request_):
    assert one_platform(chosen(cuda, request_)) == BEST[cuda]


def test_a_third_package_brings_no_accelerator_onto_a_machine_without_one(chosen):
    assert chosen(None, "third") == {"torch-fl-runtime": HOST, "torch-fl-platform": HOST}


@everywhere
@pytest.mark.parametrize("platform", [HOST, PLAIN])
def test_ungated_builds_can_be_had_everywhere_by_build_string_or_selector(chosen, cuda, platform):
    assert one_platform(chosen(cuda, f"torch-fl=*={platform}_*")) == platform
    assert one_platform(chosen(cuda, "torch-fl", f"torch-fl-platform=*={platform}_*")) == platform
    assert one_platform(chosen(cuda, "third", f"torch-fl-platform=*={platform}_*")) == platform


def test_an_older_sdk_can_be_had_by_name(chosen):
    assert one_platform(chosen("13.0", "torch-fl=*=stub_stubsdk128_*")) == STUB_OLD


def test_the_metapackage_brings_what_the_platform_has(chosen):
    assert set(chosen(None, "torch-fl")) == {"torch-fl", "torch-fl-runtime", "torch-fl-platform"}
    assert set(chosen("13.0", "torch-fl")) == SPLIT | {"torch-fl-platform", "flag-gems", "flagtree"}
    plain = chosen(None, f"torch-fl=*={PLAIN}_*")
    assert set(plain) == SPLIT - {"torch-fl-flaggems"} | {"torch-fl-platform"}


@everywhere
@pytest.mark.parametrize("request_", ["torch-fl", "torch-fl-runtime", "torch-fl-tests", "third"])
def test_nothing_brings_triton_onto_the_host_platform_unasked(chosen, cuda, request_):
    assert not {*NEIGHBOURS, TRITON_HOST, "torch-fl-flaggems"} & set(
        chosen(cuda, request_, "torch-fl-platform=*=host_*")
    )


@everywhere
def test_flaggems_can_be_had_on_the_host_platform(chosen, cuda):
    """In the versions of platform.toml, though the channel has newer ones."""
    found = chosen(cuda, "torch-fl-flaggems=*=host_*")
    assert one_platform(found) == HOST and TRITON_HOST in found
    assert {name: found.get(name) for name in NEIGHBOURS} == {"flag-gems": "5.0.2", "triton": "3.7.1", "flagtree": None}


def test_a_card_runs_tritons_kernels_itself(chosen):
    found = chosen("13.0", "torch-fl-flaggems")
    assert one_platform(found) == STUB_NEW and TRITON_HOST not in found
    assert {name: found.get(name) for name in NEIGHBOURS} == {"flag-gems": "5.0.2", "triton": None, "flagtree": "0.5.1"}


def test_the_triton_back_end_is_useful_alone(chosen):
    assert set(chosen(None, TRITON_HOST)) == {TRITON_HOST, "triton"}


@pytest.mark.parametrize(
    ("cuda", "build"), [(None, "stub_*"), (None, "stub_stubsdk128_*"), ("12.8", "stub_stubsdk1301_*")]
)
@pytest.mark.parametrize("package", ["torch-fl", "torch-fl-runtime", "torch-fl-vendor-kernels"])
def test_a_closed_gate_refuses_and_says_why(chosen, cuda, build, package):
    assert chosen("13.0", f"{package}=*={build}")  # the request itself is sound
    with pytest.raises(SolverError, match="__cuda"):
        chosen(cuda, f"{package}=*={build}")


MIXED = [
    (f"{left}=*={a}_*", f"{right}=*={b}_*")
    for a, b in [(HOST, STUB_NEW), (HOST, PLAIN), (STUB_OLD, STUB_NEW), (PLAIN, STUB_OLD), (STUB_NEW, HOST)]
    for left, right in [
        ("torch-fl-runtime", "torch-fl"),
        ("torch-fl-runtime", "torch-fl-platform"),
        ("torch-fl-platform", "torch-fl"),
        ("torch-fl-runtime", "torch-fl-vendor-kernels"),
        ("torch-fl-runtime", "torch-fl-flaggems"),
    ]
    if not (right == "torch-fl-vendor-kernels" and b == HOST) and not (right == "torch-fl-flaggems" and b == PLAIN)
]


@pytest.mark.parametrize("request_", MIXED, ids=" + ".join)
def test_two_platforms_never_meet(chosen, request_):
    for part in request_:
        assert chosen("13.0", part)  # each half is sound alone
    with pytest.raises(SolverError):
        chosen("13.0", *request_)
