"""The checks of one case, carried out: counts, and the differences found."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .cases import Case
from .compare import Difference, Tolerance
from .trial import Side, Trial

KEPT = 3  # differences kept of one check: the rest is counted


@dataclass
class Finding:
    """One difference between the CPU and the device."""

    check: str
    sample: int
    aspect: str
    message: str
    expected: str = ""  # the cause, when an entry of reviewed.py covers it


@dataclass
class CheckCount:
    """How often a check ran; `whole` says that it ran on every sample there is."""

    runs: int = 0
    raised: int = 0  # alike on both sides
    failed: int = 0
    whole: bool = True


@dataclass
class Result:
    """What became of a case. `status` is pass, expected, refused (alike on both sides, whatever was asked), fail, crash,
    timeout, or broken (a check itself failed)."""

    case: Case
    status: str = "pass"
    checks: dict[str, CheckCount] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    @property
    def refused(self) -> bool:
        """Nothing but refusals was compared: the CPU has no kernel for the dtype, so there is nothing to be like."""
        return all(count.raised == count.runs for name, count in self.checks.items() if name != "error inputs")


class Plan:
    """Which checks of a case are done: all of them on every sample, unless something is set.

    Attributes:
        depth: the most samples a check looks at; None for all.
        checks: shell patterns of the checks to do.
        host_arguments: the operator wants the tensors among its further arguments on the CPU.
        native: the two sides are devices of one card, and not the CPU and a device.
    """

    host_arguments = False
    native = False

    def __init__(self, depth: int | None = None, checks: str = "*") -> None:
        self.depth = depth
        self.patterns = [pattern.strip() for pattern in checks.split(",")]

    def wants(self, check: str) -> bool:
        return any(fnmatch.fnmatchcase(check, pattern) for pattern in self.patterns)

    def tolerance(self, check: str) -> Tolerance | None:
        """None asks for the same bits."""
        return None


class Bench:
    """What a group of checks works with: runs programs, counts, keeps the differences.

    Args:
        trial: how both sides are compared.
        plan: which checks to do, and how.
        tell: called with where the work is before each run, so that a crash can be placed.
    """

    def __init__(self, case: Case, trial: Trial, plan: Plan, tell: Callable[[str], None]) -> None:
        self.case = case
        self.trial = trial
        self.plan = plan
        self.tell = tell
        self.result = Result(case)

    def seed(self) -> None:
        """Before samples are made: the same ones in every process."""
        torch.random.default_generator.manual_seed(self.case.number)
        random.seed(self.case.number)
        import numpy

        numpy.random.seed(self.case.number)

    def samples(self, made: Iterable[Any], check: str, most: int | None = None) -> Iterator[tuple[int, Any]]:
        """Numbered samples, evenly spread when there are more than the depth allows (or `most`, if fewer)."""
        if not self.plan.wants(check):
            return
        made = list(made)
        asked = len(made) if most is None else min(most, len(made))
        limit = asked if self.plan.depth is None else min(self.plan.depth, asked)
        if limit < asked:
            self.count(check).whole = False
        chosen = range(len(made)) if limit >= len(made) else sorted({i * len(made) // limit for i in range(limit)})
        for number in chosen:
            yield number, made[number]

    def count(self, check: str) -> CheckCount:
        return self.result.checks.setdefault(check, CheckCount())

    def run(self, check: str, sample: int, program: Callable[..., Any], *arguments: Any) -> Side | None:
        """One program on both sides; None when they differ."""
        if not self.plan.wants(check):
            return None
        self.trial.label = (check, sample)
        self.trial.at = lambda device: self.tell(f"{check}, sample {sample}, on {device}")
        count = self.count(check)
        count.runs += 1
        try:
            side = self.trial(program, *arguments, tolerance=self.plan.tolerance(check))
        except Difference as difference:
            self.found(check, sample, difference)
            return None
        count.raised += side.error is not None
        return side

    def found(self, check: str, sample: int, difference: Difference) -> None:
        count = self.count(check)
        count.failed += 1
        self.result.status = "fail"
        if count.failed <= KEPT:
            self.result.findings.append(Finding(check, sample, difference.aspect, difference.message[:600]))
