"""Trials on disk while a survey runs: one a line, so that a run that was cut off is carried on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from . import evidence
from .evidence import BAD, Depth, Run, Trial


class Journal:
    """The file beside the evidence; a run's first line says what the run is.

    Args:
        json_file: the evidence that is to be written.
        fresh: forget what an earlier run left.
    """

    def __init__(self, json_file: Path, fresh: bool = False) -> None:
        self.evidence = json_file
        self.path = json_file.with_name(json_file.name + ".trials")
        if fresh:
            self.path.unlink(missing_ok=True)

    def trials(self) -> dict[tuple[str, str], Trial]:
        """The last trial of each operator and dtype, of the journal and of the evidence that was written before.

        Raises:
            ValueError: the evidence cannot be read.
        """
        found: dict[tuple[str, str], Trial] = {}
        if self.evidence.exists():
            found = {(trial.operator, trial.dtype): trial for trial in evidence.read(self.evidence).trials}
        for trial, _ in self._lines():
            key = trial.operator, trial.dtype
            found[key] = with_cost(trial, found.get(key))
        return found

    def runs(self) -> list[Run]:
        """The runs that the trials are from, with the time that each took."""
        before = evidence.read(self.evidence).making.runs if self.evidence.exists() else []
        ours: dict[tuple[str, str], Run] = {}
        worked: Counter[tuple[str, str]] = Counter()
        for trial, run in self._lines():
            name = run.date, run.command
            worked[name] += trial.seconds
            ours[name] = run.model_copy(update={"worked": round(worked[name])})
        return [*(run for run in before if (run.date, run.command) not in ours), *ours.values()]

    def append(self, trial: Trial, run: Run) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(Line(trial=trial, run=run).model_dump_json(exclude_defaults=True) + "\n")

    def _lines(self) -> Iterator[tuple[Trial, Run]]:
        for text in self.path.read_text("utf-8").splitlines() if self.path.exists() else []:
            try:
                line = Line.model_validate_json(text)
            except ValidationError:  # cut off
                continue
            yield line.trial, line.run


def with_cost(trial: Trial, before: Trial | None) -> Trial:
    """A trial with the cost that an earlier one of the same case has: trying more layouts does not change it."""
    if before is None or before.cost is None or trial.cost is not None or trial.verdict != "correct":
        return trial
    return trial.model_copy(update={"cost": before.cost, "large": trial.large or before.large})


class Line(BaseModel):
    """A trial, and the run that it is from as far as it had come."""

    trial: Trial
    run: Run


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
