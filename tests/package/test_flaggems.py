"""FlagGems and Triton as packages: their versions, their licences, who brings them, and that they work together."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conda_package_streaming.package_streaming import stream_conda_info

from flbuild.platforms import load_all

VERSIONS = {"flag-gems": "5.0.2", "triton": "3.7.1"}


def info(folder: Path, name: str) -> dict[str, bytes]:
    """The files of info/ in the one package of this name."""
    (file,) = folder.glob(f"linux-64/{name}-[0-9]*.conda")
    return {member.name: tar.extractfile(member).read() for tar, member in stream_conda_info(file) if member.isfile()}


@pytest.mark.parametrize("name", VERSIONS)
def test_the_index_says_the_version(flaggems_channel, name):
    index = json.loads(info(flaggems_channel, name)["info/index.json"])
    assert (index["name"], index["version"]) == (name, VERSIONS[name])
    repodata = json.loads((flaggems_channel / "linux-64/repodata.json").read_text())["packages.conda"]
    assert [entry["version"] for entry in repodata.values() if entry["name"] == name] == [VERSIONS[name]]


def test_flaggems_does_not_hold_its_libraries_to_one_version(flaggems_channel):
    index = json.loads(info(flaggems_channel, "flag-gems")["info/index.json"])
    libraries = {spec.split()[0]: spec.split()[1] for spec in index["depends"] if not spec.startswith("python")}
    assert libraries.keys() == {"numpy", "packaging", "pyyaml", "sqlalchemy"}
    assert all(bound.startswith(">=") and "," not in bound for bound in libraries.values()), libraries
    assert index["constrains"] == ["triton <3.9"]


@pytest.mark.parametrize(
    ("name", "words"), [("flag-gems", b"Apache License"), ("triton", b"Permission is hereby granted")]
)
def test_their_licences_go_with_them(flaggems_channel, name, words):
    files = info(flaggems_channel, name)
    assert [path for path, text in files.items() if path.startswith("info/licenses/") and words in text]


@pytest.mark.parametrize("request_", ["torch-fl", "torch-fl-runtime", "torch-fl-tests"])
def test_nothing_brings_them_unasked(solve_host, request_):
    assert not {*VERSIONS, "torch-fl-flaggems", "torch-fl-triton-host"} & solve_host(request_).keys()


def test_the_bridge_brings_them(solve_host):
    assert VERSIONS.items() <= solve_host("torch-fl-flaggems").items()
    assert "torch-fl-triton-host" in solve_host("torch-fl-flaggems")


def test_the_bridge_states_the_pins_of_the_platform(flaggems):
    (host,) = [platform for platform in load_all() if platform.emulated]
    assert {host.pins.flaggems_spec, host.pins.triton_spec} <= set(flaggems.index["depends"])


def test_the_triton_back_end_is_a_distribution_with_an_entry_point(flaggems_environment):
    code = """
import importlib.metadata as m
d = m.distribution("torch-fl-triton-host")
print((d.read_text("INSTALLER") or "").strip(), *[e.value for e in m.entry_points(group="triton.backends") if e.name == "flagos"])
assert d.files and all(f.locate().exists() for f in d.files)
"""
    assert flaggems_environment.python(code) == "conda torch_fl_triton_host"


def test_all_requirements_are_met_in_pythons_own_words(flaggems_environment):
    done = flaggems_environment.run("python", "-m", "pip", "check")
    assert (done.returncode, done.stdout.strip()) == (0, "No broken requirements found."), done.stdout


def test_importing_torch_imports_neither(flaggems_environment):
    """It takes seconds, which the first call of an operator that is routed there pays."""
    code = "import sys, torch; torch.flagos.device_count(); print(sorted({'triton', 'flag_gems'} & sys.modules.keys()))"
    assert flaggems_environment.python(code) == "[]"


def test_every_name_of_the_routes_resolves_in_it(flaggems_environment, tmp_path):
    code = "from torch_fl.doctor import flaggems; print(*(finding.sentence for finding in flaggems.check()))"
    said = flaggems_environment.python(code, FLAGGEMS_CACHE_DIR=str(tmp_path))
    found = re.fullmatch(r"0 of (\d+) names do not resolve", said)
    assert found and int(found[1]) > 100, said


def test_flaggems_answers_for_the_device(flaggems_environment, tmp_path):
    code = "import torch, flag_gems; print(flag_gems.vendor_name, flag_gems.device)"
    said = flaggems_environment.python(code, FLAGGEMS_CACHE_DIR=str(tmp_path), GEMS_VENDOR="flagos")
    assert said == "flagos flagos"


def test_without_the_device_flaggems_vendor_says_what_is_missing(flaggems_environment, tmp_path):
    variables = {"FLAGGEMS_CACHE_DIR": str(tmp_path), "GEMS_VENDOR": "flagos", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = flaggems_environment.run("python", "-c", "import flag_gems", **variables)
    assert done.returncode == 1
    assert "FlagGems' vendor flagos needs torch-fl, which is not started in this process" in done.stderr
