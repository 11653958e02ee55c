"""A run that was cut off is carried on."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_fl.survey import evidence, journal
from torch_fl.survey.evidence import Evidence, Making, Operator, Trial

GOOD, BAD = Trial(operator="a", dtype="float32", verdict="correct"), Trial(operator="b", dtype="float32", verdict="wrong")
CASES = [("a", "float32"), ("b", "float32"), ("c", "float32")]


def test_trials_come_back_and_the_last_of_a_case_counts(tmp_path: Path) -> None:
    file = tmp_path / "e.json.trials"
    for trial in (BAD, GOOD, BAD.model_copy(update={"verdict": "correct"})):
        journal.append(file, trial)
    assert {case: trial.verdict for case, trial in journal.read(file).items()} == {
        ("a", "float32"): "correct",
        ("b", "float32"): "correct",
    }


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "e.json.trials"
    journal.append(file, GOOD)
    file.write_text(file.read_text("utf-8") + '{"operator": "b", "dty', "utf-8")
    assert list(journal.read(file)) == [("a", "float32")]


@pytest.mark.parametrize(
    "depth,retry,expected", [("quick", False, ["c"]), ("quick", True, ["b", "c"]), ("full", False, ["b", "c"])]
)
def test_what_is_open(depth: str, retry: bool, expected: list[str]) -> None:
    known = {("a", "float32"): GOOD, ("b", "float32"): BAD.model_copy(update={"depth": "quick"})}
    assert [key for key, _ in journal.open_cases(CASES, known, depth, retry)] == expected


def test_without_a_journal_the_evidence_is_carried_on(tmp_path: Path) -> None:
    making = Making(command="c", date="d", versions={}, machine="m", seam="s", seconds=0)
    Evidence(making=making, operators=[Operator(operator="a", function="a", trials=[GOOD])]).write(tmp_path / "e.json")
    assert journal.known(tmp_path / "e.json") == {("a", "float32"): GOOD}


def test_a_file_that_is_no_evidence_is_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text("{}", "utf-8")
    with pytest.raises(ValueError, match=r"e\.json: not evidence of `torch-fl survey`"):
        evidence.read(file)
