"""Workers that crash, hang and end: each costs its own case and nothing else."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from torch_fl import workers
from torch_fl.survey import runner, seam
from torch_fl.survey.evidence import Trial
from torch_fl.survey.trial import CPU_STEP
from torch_fl.survey.variants import FAR

Run = Callable[..., dict[str, Trial]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs cases in workers that do what planted.py says; they import it by its name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    main = import_module("planted").main

    def run(*cases: tuple[str, str], **more: object) -> dict[str, Trial]:
        return {trial.operator: trial for trial in runner.run(cases, {}, main=main, **{"limit": 60, **more})}

    return run


def test_a_crash_is_a_verdict_with_the_call_and_the_last_words_and_the_next_case_runs(run: Run) -> None:
    found = run(("mm", "good"), ("abs", "crash"), ("exp", "good"))
    assert {key: trial.verdict for key, trial in found.items()} == {"mm": "correct", "abs": "crash", "exp": "correct"}
    (finding,) = found["abs"].findings
    assert finding.check == "samples" and finding.source == "nn.planted" and finding.arguments == "float32[2]"
    assert "SIGSEGV" in finding.message and "wrote 4 bytes past the end" in finding.message
    assert found["abs"].checks["samples"].failed == 1


def test_a_worker_that_ends_by_itself_is_a_crash_with_its_status(run: Run) -> None:
    assert "exit status 3" in run(("abs", "exit"))["abs"].findings[0].message


def test_what_takes_too_long_is_ended_and_the_next_case_runs(run: Run) -> None:
    found = run(("abs", "hang"), ("mm", "good"), limit=2)
    assert (found["abs"].verdict, found["mm"].verdict) == ("timeout", "correct")


@pytest.mark.parametrize("where,check", [("far", FAR), ("cpu", CPU_STEP)])
def test_a_crash_of_far_offsets_or_of_the_cpu_leaves_the_judgement_of_the_rest(run: Run, where: str, check: str) -> None:
    trial = run(("abs", where))["abs"]
    assert trial.verdict == "correct"
    assert [(f.check, f.aspect) for f in trial.findings] == [(check, "crash")]


def test_a_worker_routes_the_operators_of_its_group_and_no_others(run: Run) -> None:
    before = os.environ.get(seam.VARIABLE)
    found = run(("mm", "routes"), ("abs", "routes"), ("exp", "routes"), together=2)
    assert found["mm"].executor == "mm = flaggems, none\nabs = flaggems, none\n"
    assert found["exp"].executor == "exp = flaggems, none\n"
    assert os.environ.get(seam.VARIABLE) == before


def test_what_a_trial_asks_for_runs_with_its_operators(run: Run) -> None:
    asked = lambda trial: [("mm", "routes")] if trial.dtype == "good" else []
    found = run(("mm", "good"), ("abs", "good2"), together=1, more=asked)
    assert found["mm"].dtype == "routes" and found["mm"].executor == "mm = flaggems, none\n"


def test_at_the_deadline_what_is_left_has_no_trial(run: Run) -> None:
    assert run(("abs", "hang"), ("mm", "good"), until=time.monotonic() + 1) == {}


def test_workers_begin_with_groups_of_their_own_and_keep_them() -> None:
    waiting = deque(runner.grouped([("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")], 1))
    fits = lambda worker, case: worker == case[0]
    first = workers._unserved(waiting, [], fits)
    assert first == (("a",), ("a", "1"))
    assert workers._unserved(waiting, [("a",)], fits) == (("b",), ("b", "1"))
    assert workers._unserved(waiting, [("a",), ("b",)], fits) == first


def test_all_dtypes_of_a_group_run_before_the_next_group() -> None:
    cases = [("a", "float32"), ("b", "float32"), ("a", "int64"), ("b", "int64")]
    assert [case for _, case in runner.grouped(cases, 1)] == [cases[0], cases[2], cases[1], cases[3]]
