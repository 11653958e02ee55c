"""What a reviewed difference is, and how it is matched with what was found. The list that holds everywhere is in reviewed.py."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Literal

from .cases import Case
from .checks import Finding, Result
from .compare import Tolerance


@dataclass(frozen=True)
class Entry:
    """Common to all: which cases (shell patterns of `database:name:dtype`), and why, in words."""

    cases: tuple[str, ...]
    cause: str

    def about(self, case: Case) -> bool:
        return any(fnmatch.fnmatchcase(str(case), pattern) for pattern in self.cases)


@dataclass(frozen=True)
class Uninitialised(Entry):
    """The results are memory that nobody wrote: only their description is compared."""


@dataclass(frozen=True)
class HostArguments(Entry):
    """PyTorch wants the tensors among the operator's further arguments on the CPU, for every device."""


@dataclass(frozen=True)
class Crashing(Entry):
    """Checks that are not done, because PyTorch's own CPU kernel kills the process."""

    checks: tuple[str, ...]


@dataclass(frozen=True)
class Close(Entry):
    """Values within a tolerance, instead of the same bits; without numbers, torch.testing's for the dtype."""

    relative: float | None = None
    absolute: float | None = None
    checks: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Expected(Entry):
    """A difference that is accepted. It must be found, or the entry is a failure itself."""

    aspect: str
    owner: Literal["pytorch", "host platform", "torch-fl"]
    checks: tuple[str, ...] = ("*",)

    def covers(self, case: Case, finding: Finding) -> bool:
        return self.about(case) and finding.aspect == self.aspect and self.names(finding.check)

    def names(self, check: str) -> bool:
        return any(fnmatch.fnmatchcase(check, pattern) for pattern in self.checks)


@dataclass(frozen=True)
class Expectations:
    """The whole list."""

    uninitialised: list[Uninitialised] = field(default_factory=list)
    host_arguments: list[HostArguments] = field(default_factory=list)
    crashing: list[Crashing] = field(default_factory=list)
    close: list[Close] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def __add__(self, other: Expectations) -> Expectations:
        """Both lists; of entries that fit the same case this one's come first."""
        return Expectations(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def tolerance(self, case: Case, check: str) -> Tolerance | None:
        """The first that fits; None asks for the same bits."""
        fitting = (e for e in self.close if e.about(case) and any(fnmatch.fnmatchcase(check, p) for p in e.checks))
        return next((Tolerance(e.relative, e.absolute) for e in fitting), None)

    def leaves_memory(self, case: Case) -> bool:
        return any(entry.about(case) for entry in self.uninitialised)

    def wants_host_arguments(self, case: Case) -> bool:
        return any(entry.about(case) for entry in self.host_arguments)

    def crashes_cpu(self, case: Case, check: str) -> bool:
        return any(e.about(case) and any(fnmatch.fnmatchcase(check, p) for p in e.checks) for e in self.crashing)

    def settle(self, result: Result) -> None:
        """Divide a failed case's findings: `expected` when every one of them is covered by an entry."""
        if result.status != "fail":
            return
        for finding in result.findings:
            entry = next((e for e in self.expected if e.covers(result.case, finding)), None)
            finding.expected = entry.cause if entry else ""
        if result.findings and all(finding.expected for finding in result.findings):
            result.status = "expected"

    def unmet(self, results: Iterable[Result]) -> list[str]:
        """Entries that nothing matched although a case of theirs ran their checks on every sample."""
        results = list(results)
        found = {f.expected for r in results for f in r.findings}
        return [
            f"{', '.join(e.cases)}: expected a difference in {e.aspect} and found none ({e.cause}); remove the entry"
            for e in self.expected
            if e.cause not in found
            and any(e.about(r.case) and any(e.names(n) and c.whole for n, c in r.checks.items()) for r in results)
        ]
