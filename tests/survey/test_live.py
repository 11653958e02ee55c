"""A dozen operators through the command, with FlagGems and the Triton plug-in of this environment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from torch_fl.survey import evidence
from torch_fl.survey.evidence import Evidence, Operator, Trial
from torch_fl.survey.journal import Journal

RIGHT = ("add.Tensor", "mm", "abs", "where.self", "embedding")
DEFECTS = ("native_layer_norm_backward", "_safe_softmax", "select_backward", "floor_divide", "relu", "scatter.src")
OPERATORS = [*RIGHT, *DEFECTS]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    command = [sys.executable, "-m", "torch_fl.survey", "--op", ",".join(OPERATORS), "--dtype", "float32,float16"]
    command += ["--depth", "quick", "--json", str(folder / "e.json"), "--conf", str(folder / "routes.conf")]
    done = subprocess.run(
        [*command, "--svg", str(folder / "e.svg")], check=False, capture_output=True, text=True, cwd=folder, timeout=900
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def found(written: Path) -> dict[str, Operator]:
    document: Evidence = evidence.read(written / "e.json")
    return {operator.operator: operator for operator in document.operators}


def whole(written: Path, operator: str, dtype: str) -> Trial:
    """The trial as its journal has it; the document keeps what decided."""
    return Journal(written / "e.json").trials()[operator, dtype]


def trial(found: dict[str, Operator], operator: str, dtype: str) -> Trial:
    return next(trial for trial in found[operator].trials if trial.dtype == dtype)


@pytest.mark.parametrize("operator", RIGHT)
def test_a_right_operator_is_right_and_its_kernels_ran(found: dict[str, Operator], operator: str) -> None:
    good = trial(found, operator, "float32")
    assert good.verdict == "correct", good.findings
    assert good.calls > 0 and good.launches > 0 and good.ratio is not None


def test_the_layer_norm_backward_that_leaves_its_tensors_is_caught(found: dict[str, Operator]) -> None:
    bad = trial(found, "native_layer_norm_backward", "float32")
    assert bad.verdict == "crash" and "past the end of the block" in bad.findings[0].message


@pytest.mark.parametrize("operator", ["_safe_softmax", "select_backward"])
def test_an_operator_that_wants_cuda_raises_and_its_guard_is_found(found: dict[str, Operator], operator: str) -> None:
    bad = trial(found, operator, "float32")
    assert bad.verdict == "error" and "CUDA" in bad.findings[0].message
    assert any(guard.refuses for guard in found[operator].guards)


def test_floor_divide_does_not_compile_in_half_precision(found: dict[str, Operator]) -> None:
    bad = trial(found, "floor_divide", "float16")
    assert bad.verdict == "error" and "CompilationError" in bad.findings[0].message


def test_relu_that_loses_a_nan_is_wrong(found: dict[str, Operator]) -> None:
    bad = trial(found, "relu", "float32")
    assert bad.verdict == "wrong" and bad.findings[0].check == "edge values"


def test_a_scatter_that_takes_strided_tensors_for_dense_ones_is_caught(written: Path) -> None:
    bad = whole(written, "scatter.src", "float32")
    assert bad.verdict in ("crash", "wrong") and bad.checks["gaps"].failed


def test_the_routing_file_holds_what_is_right_and_nothing_else_and_is_valid(written: Path) -> None:
    lines = [line for line in (written / "routes.conf").read_text("utf-8").splitlines() if line and line[0] != "#"]
    routed = {line.partition(" = ")[0] for line in lines}
    assert {"add.Tensor", "mm", "abs"} <= routed  # the others need dtypes that were not tried here
    assert not routed & {
        "native_layer_norm_backward",
        "_safe_softmax",
        "select_backward",
        "relu",
    }
    command = [sys.executable, "-m", "torch_fl", "routes", "--check", "routes.conf", "--json"]
    checked = subprocess.run(command, check=False, capture_output=True, text=True, cwd=written, timeout=300)
    assert checked.returncode == 0, checked.stderr
    assert {row["operator"] for row in json.loads(checked.stdout)} == routed


def test_a_run_is_carried_on_without_trying_anything_again(written: Path) -> None:
    before = (written / "e.json.trials").read_text("utf-8")
    command = [
        sys.executable,
        "-m",
        "torch_fl.survey",
        "--op",
        "mm",
        "--dtype",
        "float32",
        "--depth",
        "quick",
        "--resume",
    ]
    subprocess.run([*command, "--json", "e.json"], check=True, capture_output=True, cwd=written, timeout=300)
    assert (written / "e.json.trials").read_text("utf-8") == before
