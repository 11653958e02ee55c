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

from . import conf, guards, operators, picture
from .evidence import ORDER, Evidence, Making, Operator, Trial
from .policy import decide

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
    trials: Mapping[tuple[str, str], Trial], table: Mapping[str, str], keys: Iterable[str], command: str
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
    every = [trial for operator in found for trial in operator.trials]
    return Evidence(
        making=Making(
            command=command,
            date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            versions=versions(),
            machine=f"{platform.machine()}, {os.cpu_count()} processors",
            seam="torch.library",
            seconds=round(sum(trial.seconds for trial in every)),
        ),
        operators=found,
    )


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
