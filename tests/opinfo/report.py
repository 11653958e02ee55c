"""The report of a run: one JSON document, a summary of it, and tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .cases import Case
from .checks import CheckCount, Finding, Result
from .expectations import Expectations
from .families import family

STATUSES = ("pass", "expected", "refused", "fail", "crash", "timeout", "broken")
GOOD = ("pass", "expected", "refused")
CPU = "cpu"


def to_json(result: Result) -> dict[str, Any]:
    return asdict(result)


def from_json(entry: dict[str, Any]) -> Result:
    checks = {name: CheckCount(**count) for name, count in entry["checks"].items()}
    findings = [Finding(**finding) for finding in entry["findings"]]
    return Result(**entry | {"case": Case(**entry["case"]), "checks": checks, "findings": findings})


class Report:
    """Results with what is needed to read them.

    Args:
        command: the command line that made them.
        depth: samples for each check; None for all.
        asked: cases that were to run.
        against: the device that said what is right.
    """

    def __init__(
        self,
        results: Iterable[Result],
        reviewed: Expectations,
        command: str,
        depth: int | None,
        asked: int,
        against: str = CPU,
    ):
        self.results = sorted(results, key=lambda result: result.case)
        self.reviewed = reviewed
        self.command = command
        self.depth = depth
        self.asked = asked
        self.against = against
        self.unmet = reviewed.unmet(self.results)

    @property
    def good(self) -> bool:
        """Every case that was asked for ran and passed or differs as expected, and no expectation is stale."""
        return len(self.results) == self.asked and not self.unmet and all(r.status in GOOD for r in self.results)

    def totals(self, results: Iterable[Result]) -> dict[str, int]:
        counts = Counter(result.status for result in results)
        return {"cases": sum(counts.values()), **{status: counts[status] for status in STATUSES}}

    def families(self) -> dict[str, dict[str, int]]:
        groups: dict[str, list[Result]] = {}
        for result in self.results:
            groups.setdefault(family(result.case), []).append(result)
        return {name: self.totals(group) for name, group in sorted(groups.items())}

    def summary(self) -> dict[str, Any]:
        """The small document: totals, families, checks, expected differences and failures."""
        import torch
        import torch_fl

        totals = self.totals(self.results)
        checks: Counter[str] = Counter()
        for result in self.results:
            for name, count in result.checks.items():
                checks[name] += count.runs
        causes = Counter((f.expected, f.aspect) for r in self.results for f in r.findings if f.expected)
        owners = {e.cause: e.owner for e in self.reviewed.expected}
        return {
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "torch": torch.__version__,
            "torch_fl": torch_fl.__version__,
            "command": self.command,
            "against": self.against,
            "samples_for_each_check": self.depth or "all",
            "percent": percent(totals),
            "totals": totals,
            "comparisons": sum(checks.values()),
            "families": self.families(),
            "checks": dict(sorted(checks.items())),
            "expected": [
                {"owner": owners[cause], "aspect": aspect, "findings": n, "cause": cause}
                for (cause, aspect), n in sorted(causes.items())
            ],
            "failures": [
                {"case": str(r.case), "status": r.status, "what": what(r)} for r in self.results if r.status not in GOOD
            ],
            "stale": self.unmet,
        }

    def write(self, path: Path) -> None:
        """The whole report, which `merge` reads."""
        document = self.summary() | {"asked": self.asked, "cases": [to_json(result) for result in self.results]}
        path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")

    def write_summary(self, path: Path) -> None:
        path.write_text(json.dumps(self.summary(), indent=1) + "\n", "utf-8")

    def show(self, console: Console) -> None:
        table = Table(title=f"PyTorch's samples, flagos against {called(self.against)}", title_justify="left")
        for heading in ("family", *("cases", *STATUSES)):
            table.add_column(heading, justify="left" if heading == "family" else "right")
        families = self.families()
        for name, counts in families.items():
            table.add_row(name, *(str(n) if n else "" for n in counts.values()))
        totals = self.totals(self.results)
        if len(families) > 1:
            table.add_section()
            table.add_row("all", *(str(n) if n else "" for n in totals.values()))
        console.print(table)
        for result in self.results:
            if result.status not in GOOD:
                console.print(f"{result.status} {result.case}: {what(result)}", highlight=False, markup=False)
        for line in self.unmet:
            console.print(f"stale: {line}", highlight=False, markup=False)
        missing = self.asked - totals["cases"]
        console.print(
            f"{percent(totals)} % of the {comparable(totals)} cases that {called(self.against)} computes pass"
            + f"; {missing} did not run" * bool(missing)
        )


def called(device: str) -> str:
    """A device that is compared with, in a sentence."""
    return "the CPU" if device == CPU else device


def comparable(totals: dict[str, int]) -> int:
    """Cases that the device which is compared with computes."""
    return totals["cases"] - totals["refused"]


def percent(totals: dict[str, int]) -> float:
    """Cases that pass, in hundredths of those that the CPU computes; rounded down, so that 100 means all."""
    return int(10_000 * totals["pass"] / comparable(totals)) / 100 if comparable(totals) else 0.0


def what(result: Result) -> str:
    """A failure in a line."""
    unexpected = [f for f in result.findings if not f.expected]
    if unexpected:
        first = unexpected[0]
        more = f" (and {len(unexpected) - 1} more)" if len(unexpected) > 1 else ""
        return f"{first.check}, sample {first.sample}: {first.aspect}: {first.message}{more}"
    return result.note.strip().splitlines()[-1] if result.status == "broken" else result.note


def merged(paths: list[Path], reviewed: Callable[[str], Expectations], command: str) -> Report:
    """One report of several, in which what was reviewed since is settled.

    Args:
        reviewed: the list for a device that was compared with.

    Raises:
        ValueError: names the file that cannot be read, repeats a case, or compares with another device.
    """
    results: dict[Case, Result] = {}
    asked, depths, against = 0, set(), None
    for path in paths:
        try:
            document = json.loads(path.read_text("utf-8"))
            entries = [from_json(entry) for entry in document["cases"]]
            asked += document["asked"]
            depths.add(document["samples_for_each_check"])
            compared = document["against"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: not a report written by --json: {error}") from None
        if compared != (against := against or compared):
            raise ValueError(f"{path}: compares with {compared} and the others with {against}; merge shards of one run")
        for result in entries:
            if result.case in results:
                raise ValueError(f"{path}: {result.case} is in another report too; merge shards of one run")
            results[result.case] = result
    listed = reviewed(against or CPU)
    for result in results.values():
        listed.settle(result)
    depth = depths.pop() if len(depths) == 1 else None
    return Report(results.values(), listed, command, depth if isinstance(depth, int) else None, asked, against or CPU)
