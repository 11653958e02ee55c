"""`torch-fl test`: the installed contract suite, and the file of evidence that a run leaves."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from flbuild.platforms import ROOT


@pytest.fixture(scope="module")
def run(environment, tmp_path_factory):
    """The short selection, run once: the finished call and its evidence."""
    path = tmp_path_factory.mktemp("evidence") / "host.json"
    done = environment.run("torch-fl", "test", "host", "--subset", "--output", str(path), FLAGOS_HOST_DEVICES="3")
    return done, json.loads(path.read_text())


def test_it_passes_and_says_where_the_evidence_is(run):
    done, evidence = run
    assert done.returncode == evidence["status"] == 0, done.stdout[-2000:]
    assert evidence["counts"]["passed"] > 10 and evidence["counts"]["failed"] == evidence["counts"]["error"] == 0
    assert done.stdout.strip().splitlines()[-1].endswith("host.json")


def test_it_says_what_was_run_where_and_with_what(run, environment):
    _, evidence = run
    assert (evidence["schema"], evidence["platform"], evidence["emulated"]) == (1, "host", True)
    assert [device["index"] for device in evidence["devices"]] == [0, 1, 2]
    assert evidence["settings"] == {"FLAGOS_HOST_DEVICES": "3"}
    torch = environment.python("import torch; print(torch.__version__)")
    assert evidence["versions"]["torch"] == torch and {"torch-fl", "python", "pytest"} <= evidence["versions"].keys()
    subset = tomllib.loads((ROOT / "src/platforms/host/platform.toml").read_text())["tests"]["subset"]
    assert [word for word in evidence["command"] if word.startswith("torch_fl_tests.")] == [
        f"torch_fl_tests.{name.removesuffix('.py')}" for name in subset
    ]
    assert evidence["begun"].endswith("+00:00")


def test_each_file_has_its_counts_and_there_is_a_page_beside_it(run):
    done, evidence = run
    subset = tomllib.loads((ROOT / "src/platforms/host/platform.toml").read_text())["tests"]["subset"]
    assert sorted(evidence["files"]) == sorted(name.removesuffix(".py") for name in subset)
    for word, count in evidence["counts"].items():
        assert sum(file[word] for file in evidence["files"].values()) == count
    page = Path(done.stdout.strip().splitlines()[-1].rpartition("evidence: ")[2]).with_suffix(".html").read_text()
    assert page.count("<svg") == 3 and all(f"{name} passed: " in page for name in evidence["files"])


def test_the_page_is_made_anew_from_the_file_alone(run, environment):
    path = Path(run[0].stdout.strip().splitlines()[-1].rpartition("evidence: ")[2])
    page, before = path.with_suffix(".html"), path.with_suffix(".html").read_text()
    page.unlink()
    done = environment.run("torch-fl", "evidence", str(path))
    assert (done.returncode, done.stdout.strip()) == (0, str(page)) and page.read_text() == before
    done = environment.run("torch-fl", "evidence", str(page))
    assert done.returncode == 2 and "cannot be read" in done.stderr


def test_a_skipped_test_is_listed_with_its_reason(run):
    _, evidence = run
    assert len(evidence["skipped"]) == evidence["counts"]["skipped"]
    assert all(reason for reason in evidence["skipped"].values())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("musa",), "the installed torch_fl is the 'host' build, not 'musa'"),
        (("host", "--jobs", "0"), "--jobs"),
    ],
)
def test_evidence_is_refused_for_what_is_not_there(environment, arguments, sentence):
    done = environment.run("torch-fl", "test", *arguments)
    said = " ".join(done.stderr.replace("\u2502", " ").split())
    assert done.returncode == 2 and sentence in said, done.stderr
    assert not list(environment.prefix.parent.glob("evidence-*"))


def test_the_capability_table_gives_reasons_and_refuses_unknown_words(environment):
    code = """
from torch_fl.evidence import capabilities
print(capabilities.missing("emulated"), capabilities.missing("cpu_kernels_in_place"), capabilities.missing("profiler"), sep="|")
try:
    capabilities.missing("wings")
except KeyError as error:
    print(error)
"""
    first, second = environment.python(code).splitlines()
    assert first == "None|None|" + tomllib.loads((ROOT / "src/platforms/host/platform.toml").read_text())["capabilities"]["profiler"]
    assert "'wings' is no capability; there are emulated, collectives" in second.replace("\\", "")


def test_a_platforms_own_tests_belong_to_it(environment, tmp_path):
    own = tmp_path / "torch_fl_tests_host"
    own.mkdir()
    (own / "__init__.py").touch()
    code = "from torch_fl.cli import test; print(*test._pytest('host', False)[-2:]); print(*test._pytest('musa', False)[-1:])"
    code = code.replace("from torch_fl.cli import test;", "import importlib; test = importlib.import_module('torch_fl.cli.test');")
    said = environment.python(code, PYTHONPATH=str(tmp_path)).splitlines()
    assert said[0] == "torch_fl_tests torch_fl_tests_host" and said[1] in ("torch_fl_tests", "torch_fl_tests_musa")


def test_a_failing_test_is_in_the_evidence(environment, tmp_path):
    """The suite of the environment is stood in for by a folder that comes first on the path."""
    suite = tmp_path / "torch_fl_tests"
    suite.mkdir()
    (suite / "__init__.py").touch()
    (suite / "test_it.py").write_text("def test_a_lie():\n    assert 1 == 2, 'one is not two'\n")
    output = tmp_path / "it.json"
    done = environment.run("torch-fl", "test", "host", "--output", str(output), PYTHONPATH=str(tmp_path))
    evidence = json.loads(output.read_text())
    assert done.returncode == evidence["status"] == 1
    assert evidence["counts"] == {"passed": 0, "skipped": 0, "failed": 1, "error": 0}
    ((name, reason),) = evidence["failed"].items()
    assert name.endswith("::test_a_lie") and "one is not two" in reason


def test_the_sdk_s_own_programs_tell_the_versions_of_a_real_card(environment, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/version").write_text("#!/bin/sh\necho driver 7.5\n")
    (tmp_path / "bin/version").chmod(0o755)
    code = """
import json, os
from torch_fl.evidence.record import _driver
sdk = {"sdk": {"root": "/nowhere", "root_variables": ["CARD_HOME"], "version_programs": ["bin/version", "bin/absent"]}}
sdk["sdk"]["driver_command"] = ["sh", "-c", "echo 580.1; echo 580.1"]
print(json.dumps([_driver({"emulated": emulated}, sdk, os.environ) for emulated in (False, True)]))
"""
    real, emulated = json.loads(environment.python(code, CARD_HOME=str(tmp_path)))
    assert real["bin/version"] == "driver 7.5" and real["sh"] == "580.1" and real["bin/absent"].startswith("cannot be run: ") and emulated == {}
