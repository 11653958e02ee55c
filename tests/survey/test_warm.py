"""``torch-fl warm``: what it compiled once it never compiles again. Kernels are counted, no time is compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OPERATORS = ["abs", "mm", "sum.dim_IntList"]


def warm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    caches = {"TRITON_CACHE_DIR": "triton", "FLAGGEMS_CACHE_DIR": "flaggems", "XDG_CACHE_HOME": "cache"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_")}  # the shipped routes hold
    env = kept | {name: str(folder / place) for name, place in caches.items()}
    command = [sys.executable, "-m", "torch_fl", "warm", *words]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False, timeout=900)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("warm")
    done = [warm(folder, "--op", ",".join(OPERATORS), "--dtype", "float32", "--jobs", "2", "--json") for _ in range(2)]
    assert [run.returncode for run in done] == [0, 0], done[0].stderr[-2000:] + done[1].stderr[-2000:]
    return [json.loads(run.stdout) for run in done]


def test_the_first_run_compiles_every_operator(runs: list[dict]) -> None:
    cases = {case["operator"]: case for case in runs[0]["cases"]}
    assert set(cases) == set(OPERATORS)
    assert all(case["state"] == "warm" and case["compiled"] > 0 for case in cases.values()), cases


def test_the_second_run_compiles_nothing(runs: list[dict]) -> None:
    assert runs[1]["compiled"] == 0
    assert all(case["state"] == "warm" and case["cached"] > 0 for case in runs[1]["cases"]), runs[1]


def test_it_says_where_the_caches_are(runs: list[dict]) -> None:
    assert all(Path(place).is_dir() for place in runs[0]["caches"].values())


@pytest.mark.parametrize(
    "words,told", [(["--op", "nothing"], "matches no operator"), (["--op", "mm", "--dtype", "float31"], "float31")]
)
def test_what_cannot_be_warmed_is_told(tmp_path: Path, words: list[str], told: str) -> None:
    done = warm(tmp_path, *words)
    assert done.returncode == 2 and told in done.stderr
