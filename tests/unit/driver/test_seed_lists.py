"""The hashed lists in the repository are whole and agree with each other; how they are made."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from flbuild.platforms import load, load_all, variants
from flbuild.seed.pin import Pin, needed_on_cpu, requirements

ROOT = Path(__file__).parents[3]
SEED = ROOT / "recipe/seed/wheels"
FLAGGEMS = ROOT / "recipe/seed/flag-gems/requirements"
LISTS = sorted(file for folder in (SEED, FLAGGEMS, ROOT / "flbuild/requirements", ROOT / "flbuild/docs/requirements") for file in folder.glob("py*.txt"))
VERSIONS = ("py310", "py311", "py312", "py313")


def pins(path: Path) -> dict[str, str]:
    joined = path.read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    matches = [re.fullmatch(r"([a-z0-9.-]+)==(\S+)((?:\s+--hash=sha256:[0-9a-f]{64})+)", line) for line in lines]
    assert all(matches), [line for line, match in zip(lines, matches, strict=True) if not match]
    return {match[1]: match[2] for match in matches}


@pytest.mark.parametrize("path", LISTS, ids=lambda p: f"{p.parents[1].name}-{p.stem}")
def test_every_line_is_exact_and_hashed(path: Path) -> None:
    assert pins(path)
    assert re.search(r"^# download-bytes: \d+$", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_what_it_needs(version: str) -> None:
    common, cuda = pins(SEED / f"{version}.txt"), pins(SEED / f"{version}-cuda.txt")
    assert not common.keys() & cuda.keys()
    assert cuda["torch"] == "2.13.0" and "torch" not in common
    assert any(name.startswith("nvidia-") for name in cuda)
    roots = [
        Requirement(line) for line in (SEED / "requirements.in").read_text().splitlines() if line and line[0] != "#"
    ]
    assert {r.name for r in roots} - {"torch"} <= common.keys()
    assert (ROOT / f"flbuild/requirements/{version}.txt").is_file()


def test_the_cpu_build_is_of_the_same_release() -> None:
    assert pins(SEED / "py311-cpu.txt") == {"torch": "2.13.0+cpu"}


@pytest.mark.parametrize("path", sorted(SEED.glob("py*-torch*.txt")), ids=lambda p: p.stem)
def test_a_channel_with_another_pytorch_has_all_that_the_usual_one_offers(path: Path) -> None:
    pinned, minor = pins(path), path.stem.partition("-torch")[2]
    named = {r.name: r for name in ("requirements", f"torch{minor}") for r in map(Requirement, requirements(SEED / f"{name}.in"))}
    assert named.keys() <= pinned.keys()
    assert all(named[name].specifier.contains(pinned[name]) for name in named), "made of another torch*.in: run flbuild.seed.pin"
    assert pinned["torch"].startswith(f"{minor}.")
    assert {"nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"} & pinned.keys()  # its headers, and what the package tests load


def test_each_pinned_variant_has_a_channel_or_needs_a_card_s_own() -> None:
    """Variants whose headers come with PyTorch can be built from a channel that is made here."""
    for platform in load_all(ROOT):
        for variant in variants(platform):
            if platform.sdk and platform.sdk.with_pytorch:
                tag = f"py{variant.minors['python'].replace('.', '')}-torch{variant.minors['pytorch']}"
                assert (SEED / f"{tag}.txt").is_file(), f"{variant.name}: run python -m flbuild.seed.pin --torch {variant.minors['pytorch']}"


@pytest.mark.parametrize("version", VERSIONS)
def test_flaggems_has_its_versions_and_nothing_that_the_seed_has(version: str) -> None:
    pinned = pins(FLAGGEMS / f"{version}.txt")
    assert (pinned["flag-gems"], pinned["triton"]) == ("5.0.2", "3.7.1") and "sqlalchemy" in pinned
    assert not pinned.keys() & pins(SEED / f"{version}.txt").keys()
    assert pinned["triton"] == pins(SEED / f"{version}-cuda.txt")["triton"]  # one Triton, whichever torch there is


def test_the_versions_are_those_of_the_host_platform() -> None:
    host = load(ROOT / "src/platforms/host/platform.toml").pins
    pinned = pins(FLAGGEMS / "py311.txt")
    assert host.flaggems == pinned["flag-gems"]
    assert fnmatchcase(pinned["triton"], host.triton)


def test_what_only_an_accelerator_build_needs_is_told_apart() -> None:
    def pin(name: str, *requires: str) -> Pin:
        return Pin(name, "1", [Requirement(r) for r in requires], [])

    made = [
        pin("torch", "sympy", "nvidia-cublas", "triton", "cuda-toolkit[nvrtc]"),
        pin("sympy", "mpmath", 'tests; extra == "dev"'),
        pin("cuda-toolkit", 'nvidia-nvrtc; extra == "nvrtc"'),
        *map(pin, ("mpmath", "nvidia-cublas", "triton", "nvidia-nvrtc", "tests")),
    ]
    assert needed_on_cpu({p.name: p for p in made}, ["torch"], "3.11") == {"torch", "sympy", "mpmath"}
