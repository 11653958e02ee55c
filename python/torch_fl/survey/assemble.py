"""From trials to the documents: evidence, routing file, picture, table on the screen."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from importlib import metadata, util
from pathlib import Path
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from . import conf, guards, operators, picture, seam
from .evidence import ORDER, Evidence, Making, Operator, Run, Trial
from .policy import SLOWEST, backed, cheap, decide

FILES = ("--json", "--conf", "--conf-own", "--svg", "--page")  # options of the command
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
    found, own = [], seam.own_operators()
    for key in wanted:
        exists = operators.overload(key) is not None
        found.append(
            Operator(
                operator=key,
                function=table[key],
                exists=exists,
                composite=exists and operators.composite(key),
                own=key in own,
                guards=guards.guards_of(table[key], package()),
                trials=sorted(by_operator[key], key=lambda trial: trial.dtype),
            )
        )
    return Evidence(
        making=Making(
            runs=[run.model_copy(update={"command": told(run.command)}) for run in runs],
            date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            versions=versions(),
            machine=machine(),
            seam=seam.NAME,
            own=seam.own_slot() or "",
        ),
        operators=found,
    )


def renewed(before: Evidence, trials: Mapping[tuple[str, str], Trial], runs: Iterable[Run]) -> Evidence:
    """Evidence with other trials; what its machine and FlagGems' source said stays, wherever this is called."""
    ours: dict[str, list[Trial]] = {}
    for trial in trials.values():
        ours.setdefault(trial.operator, []).append(trial)
    by_dtype = lambda name: sorted(ours.get(name, ()), key=lambda trial: trial.dtype)
    found = [entry.model_copy(update={"trials": by_dtype(entry.operator)}) for entry in before.operators]
    told_runs = [run.model_copy(update={"command": told(run.command)}) for run in runs]
    return Evidence(making=before.making.model_copy(update={"runs": told_runs}), operators=found)


def chain(trials: Mapping[tuple[str, str], Trial], table: Mapping[str, str], key: str) -> str:
    """The route of an operator where being right is enough; empty where it has none."""
    ours = [trial for (operator, _), trial in trials.items() if operator == key]
    found = Operator(operator=key, function=table[key], exists=operators.overload(key) is not None, trials=ours)
    served = decide(found).chain
    return backed(served, seam.own_slot()) if served and key in seam.own_operators() else served


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


def machine() -> str:
    """The processor and, where there is one, the card."""
    import torch

    card = f", {torch.get_device_module(seam.DEVICE).get_device_name()}" if seam.native() else ""
    return f"{platform.machine()}, {os.cpu_count()} processors{card}"


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
    if said := costs(evidence):
        console.print(said.replace("**", ""))


def costs(evidence: Evidence) -> str:
    """What is to be said of costs; nothing where none were tried."""
    right = [trial for trial in evidence.trials if trial.verdict == "correct"]
    tried = [trial for trial in right if trial.cost]
    if not tried:
        return ""
    measured = [trial for trial in tried if trial.cost and trial.cost.ratio is not None]
    late = sum(trial.cost is not None and trial.cost.state == "no time" for trial in tried)
    beside = sum(bool(decide(operator, SLOWEST).chain) for operator in evidence.operators)
    ratios = [trial.cost.ratio for trial in measured if cheap(trial) and trial.cost and trial.cost.ratio]
    return (
        f"Of {len(right)} right cases the cost of {len(measured)} was measured beside '{evidence.making.own}',"
        f" at sizes of large models for {sum(t.cost is not None and t.cost.enlarged for t in measured)};"
        f" {len(ratios)} are not slower than {SLOWEST:g} times ({geometric_mean(ratios or [1]):.2f} in the geometric mean). {late} ran out of time,"
        f" {len(tried) - len(measured) - late} failed at that size, {len(right) - len(tried)} were not tried."
        f" **Where these kernels are installed, {beside} operators are routed to FlagGems.**"
    )


def write(
    evidence: Evidence, json_file: Path | None, conf_file: Path | None, conf_own: Path | None, svg: Path | None
) -> None:
    """The files that are asked for; `conf_own` for installations with the platform's own kernels."""
    source = json_file.name if json_file else "survey.json"
    if json_file:
        evidence.write(json_file)
    if conf_file:
        conf_file.write_text(conf.text(evidence, source=source), "utf-8")
    if conf_own:
        conf_own.write_text(conf.text(evidence, own=True, source=source), "utf-8")
    if svg:
        svg.write_text(picture.svg(evidence), "utf-8")


BEGIN = "<!-- {0}: written by `torch-fl survey --write --json docs/{0}.json --page docs/survey.md` -->"
END = "<!-- /{0} -->"


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
    if said := costs(evidence):
        lines += ["", said]
    refusing = sorted({g.function for o in evidence.operators for g in o.guards if g.refuses})
    lines += ["", f"Functions with a guard that refuses other devices: {', '.join(f'`{name}`' for name in refusing)}."]
    return "\n".join(lines)


def write_page(evidence: Evidence, page: Path, name: str = "survey") -> None:
    """Put the totals between the page's markers for the evidence of that name; ValueError where it has none."""
    text, begin, end = page.read_text("utf-8"), BEGIN.format(name), END.format(name)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page}: needs the lines {begin!r} and {end!r} exactly once, around what is written")
    before, rest = text.split(begin)
    page.write_text(f"{before}{begin}\n{block(evidence)}\n{end}{rest.split(end)[1]}", "utf-8")
