"""A verdict on each artifact, as a table for people, in Markdown or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from torch_fl_lab.preflight.checks import Problem
from torch_fl_lab.preflight.facts import Facts

COLUMNS = ("artifact", "platform", "SDK", "Python", "PyTorch", "kernels", "neighbours at build", "result")


@dataclass(frozen=True)
class Verdict:
    """What was found of one artifact."""

    artifact: str
    facts: Facts | None  # None: it is for every platform
    problems: tuple[Problem, ...]
    source: dict[str, str] | None = None

    @property
    def ok(self) -> bool:
        return all(problem.level != "error" for problem in self.problems)

    @property
    def result(self) -> str:
        return "fits" if self.ok else "does not fit"

    def cells(self) -> list[str]:
        """The row of a table."""
        facts = self.facts
        if facts is None:
            return [self.artifact, "any", "none needed", *["any"] * 2, *["none"] * 2, self.result]
        sdk = f"{facts.sdk} {facts.sdk_version or 'unknown'}" if facts.sdk else "none needed"
        neighbours = ", ".join(f"{name} {version}" for name, version in facts.build_versions.items()) or "none"
        return [
            self.artifact,
            f"{facts.platform}{' (emulated SDK)' if facts.emulated_sdk else ''}",
            sdk,
            facts.python_requires,
            facts.torch_version,
            ", ".join(facts.kernel_sets) or "none",
            neighbours,
            self.result,
        ]


def as_json(verdicts: list[Verdict]) -> str:
    """One document: `ok`, and each artifact with its facts and problems."""
    artifacts = [
        {
            "artifact": verdict.artifact,
            "ok": verdict.ok,
            "facts": verdict.facts.model_dump(by_alias=True, exclude_none=True) if verdict.facts else None,
            "source": verdict.source,
            "problems": [asdict(problem) for problem in verdict.problems],
        }
        for verdict in verdicts
    ]
    return json.dumps({"schema": 1, "ok": all(verdict.ok for verdict in verdicts), "artifacts": artifacts}, indent=2)


def as_markdown(verdicts: list[Verdict]) -> str:
    """The table of a release."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in verdict.cells()) + " |" for verdict in verdicts]
    return "\n".join(lines)


def show(verdicts: list[Verdict]) -> None:
    """A table on the terminal, and a line for each problem."""
    console = Console(markup=False, highlight=False)
    table = Table(*(Column(name, overflow="fold") for name in (*COLUMNS[:5], COLUMNS[-1])))
    for verdict in verdicts:
        *cells, result = verdict.cells()
        table.add_row(*cells[:5], Text(result, "green" if verdict.ok else "red"))
    console.print(table)
    for verdict in verdicts:
        for problem in verdict.problems:
            console.print(f"{problem.level}: {verdict.artifact}: {problem.sentence}")
