"""torch-fl-preflight: what an artifact is for, what speaks against it, and the exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from torch_fl_lab.cli import app
from torch_fl_lab.preflight.facts import Facts
from typer.testing import CliRunner

from .conftest import FACTS, IN_A_PACKAGE, document


def preflight(*arguments: object) -> tuple[int, str, str]:
    """Exit status, what was printed, and what was said of a failure."""
    done = CliRunner().invoke(app, ["preflight", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def problems(*arguments: object) -> list[str]:
    """The sentences, each with its level before it."""
    status, printed, said = preflight(*arguments, "--json")
    assert status in (0, 1), said
    result = json.loads(printed)
    assert result["ok"] is (status == 0)
    return [f"{p['level']}: {p['sentence']}" for artifact in result["artifacts"] for p in artifact["problems"]]


@pytest.mark.parametrize("kind", ["wheel", "package"])
def test_what_fits_says_so(kind, request):
    path = request.getfixturevalue(kind)()
    assert problems(path, "--platform", "metax", "--sdk-version", "3.8.1.3", "--require-sdk", "--release") == []
    status, printed, _ = preflight("--wheel" if kind == "wheel" else "--package", path)
    assert status == 0 and "fits" in printed


def test_several_follow_one_option_as_a_shell_writes_them(wheel, package):
    status, printed, _ = preflight("--wheel", wheel(), package(), "--markdown-table")
    assert status == 0
    rows = [line.split(" | ") for line in printed.splitlines()]
    assert [row[0].lstrip("| ") for row in rows[2:]] == ["torch_fl-0.1.0-cp312-cp312-linux_x86_64.whl", "torch-fl-runtime-0.1.0-metax_0.conda"]
    assert "MACA 3.8.1.3" in rows[2]


@pytest.mark.parametrize(
    ("arguments", "changes", "sentence"),
    [
        (["--platform", "cuda"], {}, "error: it is for metax and cuda is asked for"),
        (["--sdk-version", "3.8.0"], {}, "error: it is for MACA 3.8.1.3 and 3.8.0 is here"),
        (["--sdk-version", "3.8.0"], {"sdk_version": None}, "error: its MACA version is unknown, which does not mean any"),
        (["--require-sdk"], {"sdk_version": None}, "error: it does not say which MACA it is for"),
        (["--release"], {"sdk_version": None}, "error: it does not say which MACA it is for"),
        (["--release"], {"bundled_libtorch": "torch-fl-libtorch"}, "error: it has kernels on a vendor's core of PyTorch and does not say which"),
        (["--release"], {"emulated_sdk": True}, "error: it runs on an emulated SDK"),
        (["--release"], {"pins": {"flagcx": "unknown"}}, "error: its pin of flagcx is unknown"),
        (["--release"], {"source": {}}, "error: it does not say which revision of the sources it was made of"),
    ],
)
def test_what_speaks_against_it_is_one_sentence(package, arguments, changes, sentence):
    (found,) = problems(package(**changes), *arguments)
    assert found.startswith(sentence)


def test_what_is_for_every_platform_needs_no_document(package):
    path = package({"share/x": b""}, name="torch-fl-tests")
    assert problems(path, "--platform", "metax", "--release") == []
    status, printed, _ = preflight(path)
    assert status == 0 and "any" in printed
    assert "which revision" in problems(package({"share/x": b""}, name="torch-fl-tests", source={}), "--release")[0]
    status, _, said = preflight(package({"share/x": b""}, name="numpy"))
    assert status == 2 and "has no compatibility.json" in said


def test_a_platform_without_an_sdk_needs_none(wheel):
    assert problems(wheel(platform="host", sdk=None, sdk_version=None, emulated=True), "--require-sdk", "--release") == []


DEPENDS = ("python >=3.12,<3.13.0a0", "pytorch >=2.10.0,<2.11.0a0", "rich >=14", "__glibc >=2.28")


def test_an_environment_that_has_what_it_asks_for(package, environment):
    prefix = environment(pytorch="2.10.0", rich="15.0")
    assert problems(package(depends=DEPENDS), "--prefix", prefix, "--check-installed", "--check-build-env")[0].startswith("error: it was built with flag-gems 5.0.2 and none is here")
    assert problems(package(depends=DEPENDS), "--prefix", prefix, "--check-installed") == []


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ({"pytorch": "2.10.3", "rich": "15.0"}, "warning: it was built with PyTorch 2.10.0 and 2.10.3 is here"),
        ({"pytorch": "2.10.0", "rich": "15.0", "flag_gems": "5.1"}, "warning: it was tried with flag-gems 5.0.2 and 5.1 is here"),
        ({"pytorch": "2.10.0", "rich": "13.9"}, "error: it needs rich >=14 and 13.9 is here"),
        ({"pytorch": "2.10.0"}, "error: it needs rich >=14, which is not here: install it"),
    ],
)
def test_an_environment_that_has_something_else(package, environment, there, sentence):
    (found,) = problems(package(depends=DEPENDS), "--prefix", environment(**there), "--check-installed")
    assert found.startswith(sentence)


def test_another_python_is_refused(package, environment):
    (found,) = problems(package(), "--prefix", environment(python="3.11"), "--check-installed")
    assert found == "error: it needs Python ==3.12.* and 3.11 is here: take the build for 3.11"


def test_a_wheel_s_requirements_are_pythons(wheel, environment):
    path = wheel(requires=("rich>=14", 'tomli>=2; python_version < "3.11"', "torch>=2.10,<2.11"))
    assert problems(path, "--prefix", environment(rich="15.0", pytorch="2.10.0"), "--check-installed") == []


def test_the_documents_of_an_environment_are_looked_at(environment):
    prefix = environment()
    status, _, said = preflight("--prefix", prefix)
    assert status == 2 and "has nothing of torch-fl in it" in said
    place = prefix / IN_A_PACKAGE
    place.parent.mkdir(parents=True)
    place.write_bytes(document())
    kernels = prefix / "share/torch-fl/torch-fl-flaggems/compatibility.json"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(document(platform="musa"))
    (found,) = problems("--prefix", prefix, "--platform", "metax")
    assert "it is for musa and metax is asked for" in found


def test_the_schema_is_that_of_what_is_read(tmp_path):
    status, printed, _ = preflight("--schema")
    schema = json.loads(printed)
    Draft202012Validator.check_schema(schema)
    assert status == 0 and not list(Draft202012Validator(schema).iter_errors(FACTS))
    assert list(Draft202012Validator(schema).iter_errors({**FACTS, "platform": 3}))
    assert set(schema["required"]) <= FACTS.keys() <= {field.alias or name for name, field in Facts.model_fields.items()}


def test_it_is_a_command_of_its_own_that_imports_no_pytorch(package):
    code = f"import sys; sys.argv = ['x', {str(package())!r}]\nfrom torch_fl_lab.cli.preflight import main\ntry: main()\nfinally: print(sorted({{'torch', 'torch_fl'}} & sys.modules.keys()))"
    environment = os.environ | {"COLUMNS": "200", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("[]\n")
