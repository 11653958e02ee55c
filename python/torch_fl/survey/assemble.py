"""From trials to the documents: evidence, routing file, picture, table on the screen."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from importlib import metadata, util
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import conf, guards, operators, picture, seam
from .evidence import ORDER, Evidence, Making, Operator, Run, Trial
from .policy import decide

FILES = ("--json", "--conf", "--svg", "--page")  # options of the command
DISTRIBUTIONS = ("torch", "triton", "flag_gems", "torch-fl", "torch-fl-triton-host")


def package() -> Path:
    """The folder of FlagGems; ImportError where it is not installed."""
    spec = util.find_spec("flag_gems")
    if spec is None or spec.origin is None:
        raise ImportError("No module named 'flag_gems'")
    return Path(spec.origin).parent


def table() -> dict[str, str]:
    """FlagGems' operators and functions, read from its source."""
    from torch_fl.flaggems.operators import table

    return table()


def evidence(
    trials: Mapping[tuple[str, str], Trial], table: Mapping[str, str], keys: Iterable[str], runs: Iterable[Run]
) -> Evidence:
    """All trials with what is known of the operators without running them."""
    wanted = sorted(keys)
    by_operator: dict[str, list[Trial]] = {key: [] for key in wanted}
    for trial in trials.values():
        if trial.operator in by_operator:
            by_operator[trial.operator].append(trial)
    found = []
    for key in wanted:
        exists = operators.overload(key) is not None
        found.append(
            Operator(
                operator=key,
                function=table[key],
                exists=exists,
                composite=exists and operators.composite(key),
                guards=guards.guards_of(table[key], package()),
                trials=sorted(by_operator[key], key=lambda trial: trial.dtype),
            )
        )
    return Evidence(
        making=Making(
            runs=[run.model_copy(update={"command": told(run.command)}) for run in runs],
            date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            versions=versions(),
            machine=f"{platform.machine()}, {os.cpu_count()} processors",
            seam=seam.NAME,
        ),
        operators=found,
    )


def this_run(command: str) -> Run:
    """A run that begins now."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    return Run(command=told(command), date=now, executor=seam.executor())


def told(command: str) -> str:
    """A command line without the names of the files that it wrote, and with a long list of operators cut short."""
    words = command.split()
    kept = [w for before, w in zip(["", *words], words, strict=False) if w not in FILES and before not in FILES]
    lists = [f"{w[:40]}...({w.count(',') + 1} operators)" if w.count(",") > 8 else w for w in kept]
    return " ".join(lists)


def versions() -> dict[str, str]:
    result = {}
    for name in DISTRIBUTIONS:
        try:
            result[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return result


def show(evidence: Evidence, console: Console) -> None:
    """Totals by dtype."""
    counts: dict[str, Counter[str]] = {}
    for trial in evidence.trials:
        counts.setdefault(trial.dtype, Counter())[trial.verdict] += 1
    grid = Table("dtype", *ORDER, title="FlagGems against the CPU", title_justify="left")
    for dtype, row in counts.items():
        grid.add_row(dtype, *(str(row[verdict] or "") for verdict in ORDER))
    console.print(grid)
    routed = sum(bool(decide(operator).chain) for operator in evidence.operators)
    console.print(f"{routed} of {len(evidence.operators)} operators are routed to FlagGems")


def write(evidence: Evidence, json_file: Path | None, conf_file: Path | None, svg: Path | None) -> None:
    if json_file:
        evidence.write(json_file)
    if conf_file:
        conf_file.write_text(conf.text(evidence), "utf-8")
    if svg:
        svg.write_text(picture.svg(evidence), "utf-8")


BEGIN = "<!-- survey: written by `torch-fl survey --write --json docs/survey.json --page docs/survey.md` -->"
END = "<!-- /survey -->"


def block(evidence: Evidence) -> str:
    """The totals in Markdown."""
    making = evidence.making
    counts: dict[str, Counter[str]] = {}
    for trial in evidence.trials:
        counts.setdefault(trial.dtype, Counter())[trial.verdict] += 1
    existing = [operator for operator in evidence.operators if operator.exists]
    routed = sum(bool(decide(operator).chain) for operator in existing)
    quick = sum(trial.depth == "quick" for trial in evidence.trials)
    lines = [
        f"{making.date}, {', '.join(f'{name} {version}' for name, version in making.versions.items())}, {making.machine}.",
        f"{len(evidence.trials)} cases (operator x dtype), {quick} of them in the quick form, took the workers {sum(run.worked for run in making.runs) / 60:.0f} minutes in all; the runs took {sum(run.seconds for run in making.runs) / 60:.0f} minutes.",
        f"**{routed} of {len(existing)} operators are routed to FlagGems**, with the dtypes that are right;"
        f" {sum(not operator.trials for operator in existing)} were not tried yet, and are not routed.",
        "",
        f"| dtype | {' | '.join(ORDER)} |",
        "|---" * (len(ORDER) + 1) + "|",
    ]
    lines += [f"| {dtype} | {' | '.join(str(row[v] or '') for v in ORDER)} |" for dtype, row in sorted(counts.items())]
    refusing = sorted({g.function for o in evidence.operators for g in o.guards if g.refuses})
    lines += ["", f"Functions with a guard that refuses other devices: {', '.join(f'`{name}`' for name in refusing)}."]
    return "\n".join(lines)


def write_page(evidence: Evidence, page: Path) -> None:
    """Put the totals between the page's markers; ValueError where it has none."""
    text = page.read_text("utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{page}: needs the lines {BEGIN!r} and {END!r} exactly once, around what is written")
    before, rest = text.split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{block(evidence)}\n{END}{rest.split(END)[1]}", "utf-8")
