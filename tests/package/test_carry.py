"""The packages as one file for another machine: its Python with PyTorch runs it, with nothing of the project installed."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from flbuild import carry, solve
from flbuild.platforms import ROOT, find, load_all
from flbuild.report import Stage


@pytest.fixture(scope="module")
def archive(channel: Path, base_channel: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tuple(json.loads((channel / "variants" / "host.json").read_text())["packages"])
    work, cache = tmp_path_factory.mktemp("carry"), Path(os.environ["RATTLER_CACHE_DIR"]) / "pkgs"
    wanted = solve.specs(built, solve.TEST_PACKAGE)
    return carry.pack(ROOT, find("host", load_all()), [channel.as_uri(), base_channel], wanted, work / "out", work, cache, Stage("archive"))


def test_it_holds_the_packages_and_what_they_need_but_python_and_pytorch(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names, facts = opened.namelist(), json.loads(opened.read("facts.json"))
    carried = {name.rsplit("-", 2)[0] for name in facts["packages"]}
    assert {"torch-fl-runtime", "torch-fl-tests", "pytest", "pytest-xdist", "hypothesis", "expecttest", "typer"} <= carried
    assert not {"python", "pytorch", "numpy", "sympy", "torch-fl-flaggems"} & carried
    site = facts["site"]
    assert {"__main__.py", "prefix/lib/libtorch_fl.so", f"{site}/torch_fl/platform.json", "benchmarks/overhead.py"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or "/torch/" in name]
    assert archive.name == "torch-fl-host.pyz" and facts["toolkit"] == ""


def test_flaggems_is_carried_without_triton_which_the_other_machine_must_have() -> None:
    variant, records = find("host", load_all()), [SimpleNamespace(name=SimpleNamespace(normalized=n), version="1.0") for n in ("python", "pytorch")]
    without, having = (
        carry.facts(ROOT, variant, records, carried, "site")["needs"] for carried in (["typer-1-0.conda"], ["torch-fl-flaggems-1-0.conda"])
    )
    assert without == ["numpy"] and having == ["numpy", "triton"] and "triton" in carry.LEFT_THERE


def test_another_machine_runs_it_and_writes_evidence(archive: Path, bare_environment, tmp_path: Path) -> None:
    command = [bare_environment.prefix / "bin/python", archive, "--output", tmp_path / "out", "--only", "test_views.py"]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    evidence = json.loads((tmp_path / "out" / "evidence-host.json").read_text())
    assert evidence["platform"] == "host" and evidence["counts"]["passed"] > 10
    assert evidence["counts"]["failed"] == evidence["counts"]["error"] == 0 and evidence["versions"]["torch-fl"]
    assert not list((bare_environment.prefix / "lib").glob("python*/site-packages/torch_fl*"))
