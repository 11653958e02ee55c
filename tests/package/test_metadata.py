"""Names, build strings and dependencies of the built packages."""

from __future__ import annotations

import json
import re

import pytest
import tomllib

from flbuild import contents
from flbuild.platforms import ROOT, load_all, on_emulated_sdk, variants
from flbuild.variant_files import has_emulation

VERSION = re.search(r'"(.+)"', (ROOT / "python/torch_fl/_version.py").read_text().splitlines()[-1])[1]
MINOR = ".".join(VERSION.split(".")[:2])
READABLE = re.compile(r"(?P<variant>[a-z0-9]+(_(?!py)[a-z]+\d+(_emu)?)?)(_py3\d+)?_h[0-9a-f]{7}_(?P<number>\d+)")


def by_name(packages, variant: str = "host") -> dict[str, contents.Package]:
    return {p.name: p for p in packages if p.variant == variant or p.index.get("noarch") == "python"}


def depends(package: contents.Package) -> dict[str, str]:
    """Dependencies as name to the rest; each name once."""
    pairs = [spec.partition(" ")[::2] for spec in package.index["depends"]]
    assert len({name for name, _ in pairs}) == len(pairs), package.index["depends"]
    return dict(pairs)


def test_the_host_platform_has_these_packages(packages):
    shared = {"torch-fl-tests", "torch-fl-triton-host", "torch-fl-lab"}
    assert set(by_name(packages)) == shared | {"torch-fl", "torch-fl-platform", "torch-fl-runtime", "torch-fl-flaggems"}


def test_versions_and_build_strings_are_readable(packages):
    platforms = load_all()
    real = [variant for platform in platforms for variant in variants(platform)]
    emulated = [on_emulated_sdk(v, platforms) for v in real if has_emulation(ROOT, v.platform.id)]
    known = {variant.build_prefix: variant for variant in [*real, *emulated]}
    minors = {package.variant: int(re.match(r">=2\.(\d+)", depends(package)["pytorch"])[1]) for package in packages if package.name == "torch-fl-runtime"}
    for package in packages:
        if package.name in ("torch-fl-tests", "torch-fl-triton-host", "torch-fl-lab"):
            assert re.fullmatch(r"pyh[0-9a-f]{7}_\d+", package.build) and package.index["version"] == VERSION
        elif package.name == "torch-fl-platform":
            assert package.index["version"] == "1" and package.build == f"{package.variant}_0"
        else:
            match = READABLE.fullmatch(package.build)
            assert match and match["variant"] in known, package.build
            assert ("_py3" in package.build) == (package.name != contents.EMULATED_SDK)
            assert package.index["version"] == VERSION
            number = known[match["variant"]].build_number + minors[match["variant"]]
            assert int(match["number"]) == package.index["build_number"] == number


def test_the_runtime_states_what_it_needs(runtime):
    needs = depends(runtime)
    assert re.fullmatch(r">=3\.\d+,<3\.\d+\.0a0", needs["python"])
    assert re.fullmatch(r">=2\.\d+(\.\d+)?,<2\.\d+\.0a0", needs["pytorch"]), needs["pytorch"]
    assert needs["torch-fl-platform"] == "==1 host_0"
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for name in ("typer", "rich"):
        assert f"{name}{needs[name]}" in declared  # bounds as in the wheel, and not lost on the way
    assert not any(name.startswith("__cuda") for name in needs)


@pytest.mark.parametrize("name", ["pytorch", "libtorch"])
def test_pytorch_is_held_to_the_minor_that_was_compiled_against(runtime, name):
    bounds = re.fullmatch(r">=2\.(\d+)(?:\.\d+)?,<2\.(\d+)\.0a0", depends(runtime)[name])
    assert int(bounds[2]) == int(bounds[1]) + 1


def test_who_links_the_runtime_is_held_to_its_minor(packages):
    for package in packages:
        path = package.root / "info" / "run_exports.json"
        exports = json.loads(path.read_text()) if path.exists() else {}
        following = f"{MINOR.split('.')[0]}.{int(MINOR.split('.')[1]) + 1}.0a0"
        expected = (
            {"weak": [f"torch-fl-runtime >={VERSION},<{following}"]} if package.name == "torch-fl-runtime" else {}
        )
        assert exports == expected, package.file.name


def test_siblings_are_pinned_exactly_and_noarch_ones_by_version(packages, runtime):
    found = by_name(packages)
    needs = depends(found["torch-fl"])
    assert needs.pop("python").startswith(depends(runtime)["python"].removeprefix(">=").partition(",")[0])  # so that solvers see which is newest
    assert needs == {"torch-fl-runtime": f"=={VERSION} {runtime.build}"}
    tests = found["torch-fl-tests"].index
    assert tests["noarch"] == "python" and f"torch-fl-runtime =={VERSION}" in tests["depends"]
    assert depends(found["torch-fl-flaggems"])["torch-fl-runtime"] == f"=={VERSION} {runtime.build}"
    assert depends(found["torch-fl-flaggems"])["torch-fl-triton-host"] == f"=={VERSION}"
    assert found["torch-fl-platform"].index["noarch"] == "generic" and depends(found["torch-fl-platform"]) == {}
