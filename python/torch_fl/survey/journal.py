"""Trials on disk while a survey runs: one a line, so that a run that was cut off is carried on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from . import evidence
from .evidence import BAD, Depth, Trial


def read(path: Path) -> dict[tuple[str, str], Trial]:
    """The last trial of each operator and dtype; a line that was cut off is left out."""
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            trial = Trial.model_validate_json(line)
        except ValidationError:
            continue
        found[trial.operator, trial.dtype] = trial
    return found


def known(json_file: Path) -> dict[tuple[str, str], Trial]:
    """The trials of an earlier run: of its journal where that is left, else of the evidence that it wrote."""
    trials = read(beside(json_file))
    if not trials and json_file.exists():
        trials = {(trial.operator, trial.dtype): trial for trial in evidence.read(json_file).trials}
    return trials


def beside(json_file: Path) -> Path:
    return json_file.with_name(json_file.name + ".trials")


def append(path: Path, trial: Trial) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(trial.model_dump_json(exclude_defaults=True) + "\n")


def open_cases(
    cases: Iterable[tuple[str, str]], known: dict[tuple[str, str], Trial], depth: Depth, retry: bool
) -> list[tuple[str, str]]:
    """What is still to be tried: not known, known less deeply, or bad and to be tried again."""

    def settled(case: tuple[str, str]) -> bool:
        trial = known.get(case)
        if trial is None or (depth == "full" and trial.depth == "quick"):
            return False
        return not (retry and trial.verdict in BAD)

    return [case for case in cases if not settled(case)]
