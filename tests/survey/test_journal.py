"""A run that was cut off is carried on."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_fl.survey import evidence
from torch_fl.survey.evidence import Cost, Evidence, Making, Operator, Run, Trial
from torch_fl.survey.journal import Journal, open_cases

GOOD, BAD = (
    Trial(operator="a", dtype="float32", verdict="correct"),
    Trial(operator="b", dtype="float32", verdict="wrong"),
)
CASES = [("a", "float32"), ("b", "float32"), ("c", "float32")]
FIRST, SECOND = (Run(command="torch-fl survey", date=date, executor="numpy", seconds=3) for date in ("1", "2"))


@pytest.fixture
def kept(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "e.json")


def test_trials_come_back_and_the_last_of_a_case_counts(kept: Journal) -> None:
    for trial in (BAD, GOOD, BAD.model_copy(update={"verdict": "correct"})):
        kept.append(trial, FIRST)
    assert {case: trial.verdict for case, trial in kept.trials().items()} == {
        ("a", "float32"): "correct",
        ("b", "float32"): "correct",
    }


def test_a_line_that_was_cut_off_is_left_out(kept: Journal) -> None:
    kept.append(GOOD, FIRST)
    kept.path.write_text(kept.path.read_text("utf-8") + '{"trial": {"operator": "b", "dty', "utf-8")
    assert list(kept.trials()) == [("a", "float32")]


@pytest.mark.parametrize(
    "depth,retry,expected", [("quick", False, ["c"]), ("quick", True, ["b", "c"]), ("full", False, ["b", "c"])]
)
def test_what_is_open(depth: str, retry: bool, expected: list[str]) -> None:
    known = {("a", "float32"): GOOD, ("b", "float32"): BAD.model_copy(update={"depth": "quick"})}
    assert [key for key, _ in open_cases(CASES, known, depth, retry)] == expected


def test_evidence_is_carried_on_and_a_journal_is_newer(kept: Journal) -> None:
    making = Making(runs=[FIRST], date="d", versions={}, machine="m", seam="s")
    Evidence(making=making, operators=[Operator(operator="a", function="a", trials=[GOOD])]).write(kept.evidence)
    assert kept.trials() == {("a", "float32"): GOOD} and kept.runs() == [FIRST]
    worse = GOOD.model_copy(update={"verdict": "wrong"})
    kept.append(worse, SECOND)
    assert kept.trials() == {("a", "float32"): worse} and kept.runs() == [FIRST, SECOND]


def test_what_the_workers_took_is_told_by_run_and_outlives_the_journal(kept: Journal) -> None:
    for trial, run in ((GOOD, FIRST), (BAD, FIRST), (BAD, SECOND)):
        kept.append(trial.model_copy(update={"seconds": 2.0}), run)
    assert [run.worked for run in kept.runs()] == [4, 2]
    trials = list(kept.trials().values())
    making = Making(runs=kept.runs(), date="d", versions={}, machine="m", seam="s")
    Evidence(making=making, operators=[Operator(operator="a", function="a", trials=trials[:1])]).write(kept.evidence)
    kept.path.unlink()
    assert [run.worked for run in kept.runs()] == [4, 2]


def test_a_fresh_run_forgets(kept: Journal) -> None:
    kept.append(GOOD, FIRST)
    assert Journal(kept.evidence, fresh=True).trials() == {}


def test_a_file_that_is_no_evidence_is_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text("{}", "utf-8")
    with pytest.raises(ValueError, match=r"e\.json: not evidence of `torch-fl survey`"):
        evidence.read(file)


def test_a_deeper_trial_keeps_the_cost_while_it_is_right(kept: Journal) -> None:
    cost = Cost(ratio=0.5)
    kept.append(GOOD.model_copy(update={"depth": "quick", "cost": cost}), FIRST)
    kept.append(GOOD, SECOND)
    assert kept.trials()["a", "float32"] == GOOD.model_copy(update={"cost": cost})
    kept.append(GOOD.model_copy(update={"verdict": "wrong"}), SECOND)
    assert kept.trials()["a", "float32"].cost is None
