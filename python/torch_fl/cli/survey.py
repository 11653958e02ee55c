"""``torch-fl survey``: run FlagGems' operators against the CPU and write the routes that follow."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from torch_fl.cli.options import parse_dtypes, parse_fraction, parse_shard
from torch_fl.cli.progress import bar

if TYPE_CHECKING:
    from torch_fl.survey.evidence import Trial

MISSING = "torch-fl survey needs the package torch-fl-flaggems ({}); install it, or leave the survey out"


def parse_depth(text: str) -> str:
    if text not in ("quick", "full"):
        raise typer.BadParameter(f"{text!r} is not a depth; give quick or full")
    return text


def survey(
    op: Annotated[
        str | None,
        typer.Option("--op", metavar="PATTERN", help="Shell patterns of operators, with commas between them."),
    ] = None,
    dtypes: Annotated[
        str, typer.Option("--dtype", help="Dtypes, with commas between them, in the order to be tried.")
    ] = "",
    depth: Annotated[
        str, typer.Option(callback=parse_depth, help="full, or quick: few layouts, so few kernels to compile.")
    ] = "full",
    sample: Annotated[float, typer.Option(callback=parse_fraction, help="Fraction of the cases.")] = 1.0,
    shard: Annotated[str, typer.Option(metavar="K/N", help="Part K of N.")] = "1/1",
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    together: Annotated[
        int, typer.Option(min=1, help="Operators that a worker routes to FlagGems at a time; 1 tries each alone.")
    ] = 48,
    limit: Annotated[float, typer.Option(min=1, help="Seconds that one operator and dtype may take.")] = 120,
    cost: Annotated[
        bool,
        typer.Option("--cost", help="Then measure what is right beside the platform's own kernels, each call alone."),
    ] = False,
    attempt: Annotated[
        bool, typer.Option("--try/--no-try", help="--no-try: nothing but the costs of what was right before.")
    ] = True,
    beside: Annotated[
        bool,
        typer.Option("--beside", help="Try as data, too, the dtypes of indices and masks beside what is right."),
    ] = False,
    deadline: Annotated[
        float | None, typer.Option(min=1, help="Seconds for everything; what is left is for --resume.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Carry on the run that wrote --json, or was to.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="With --resume: try what was not right once more.")] = False,
    only_write: Annotated[
        bool, typer.Option("--write", help="Run nothing; write the files anew from the trials of --json.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", dir_okay=False, help="Write the evidence here.")] = None,
    conf: Annotated[Path | None, typer.Option("--conf", dir_okay=False, help="Write the routing file here.")] = None,
    conf_own: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help="Write here the routing file for installations with the platform's own kernels: right and not slower.",
        ),
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", dir_okay=False, help="Write the picture here.")] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", dir_okay=False, help="Write the totals into this page, between its markers."),
    ] = None,
) -> None:
    """Run every FlagGems operator on this device and on the CPU, compare, and write evidence and routes.

    Each operator and dtype runs in a worker process with a time limit, with PyTorch's own samples in several layouts
    and with values at the edge. Trials are kept in FILE.trials beside --json FILE as they come, for --resume.

    On a card: torch-fl survey --jobs 14 --together 24 --dtype float32,bfloat16 --beside --cost --json FILE
    """
    part = parse_shard(shard)
    if (resume or only_write) and json_file is None:
        raise typer.BadParameter("--resume and --write need --json FILE, whose trials are to be used")
    try:
        from torch_fl.survey import assemble, costs, index, journal, plan, runner, seam, sources
        from torch_fl.survey import evidence as documents
    except ImportError as error:
        typer.echo("torch-fl: " + MISSING.format(error), err=True)
        raise typer.Exit(1) from None
    table = assemble.table()
    keys = plan.chosen(table, op)
    if not keys:
        raise typer.BadParameter(f"--op {op!r} matches no operator of FlagGems; names look like add.Tensor, mm")
    wanted = parse_dtypes(dtypes, plan.DTYPES)
    kept = journal.Journal(json_file, fresh=not (resume or only_write)) if json_file else None
    try:
        known = kept.trials() if kept and (resume or only_write) else {}
        runs = kept.runs() if kept and (resume or only_write) else []
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if cost and seam.native() is None:
        raise typer.BadParameter(
            "--cost needs a card whose own kernels PyTorch has (package torch-fl-vendor-kernels); leave it out here"
        )
    begun = time.monotonic()
    until = begun + deadline if deadline else None
    if not only_write:
        few = len(keys) <= index.FEW
        entries = index.by_name(sources.needed(keys)) if few else index.entries_of(sources.needed(table))
        run = assemble.this_run(command_line())

        def follow(title: str, trials: Iterable[Trial], total: int, extra: Sized = ()) -> None:
            """Take the trials as they come, keep them and show how far they are."""
            with bar() as progress:
                task = progress.add_task(title, total=total)
                for trial in trials:
                    case = trial.operator, trial.dtype
                    known[case] = journal.with_cost(trial, known.get(case))
                    run.seconds = max(1, round(time.monotonic() - begun))
                    if kept:
                        kept.append(trial, run)
                    said = trial.cost.state if trial.cost else trial.verdict
                    progress.update(
                        task, advance=1, total=total + len(extra), description=f"{trial.operator} {trial.dtype}: {said}"
                    )

        cases = plan.share(plan.sampled(plan.cases(keys, wanted, entries), sample), part)
        todo = journal.open_cases(cases, known, depth, retry) if attempt else []
        extra: list[tuple[str, str]] = []

        def more(trial: Trial) -> list[tuple[str, str]]:
            asked = [case for case in plan.beside([trial]) if case not in known and case not in (*todo, *extra)]
            extra.extend(asked)
            return asked

        trials = runner.run(
            todo, entries, depth, jobs, limit, together, until=until, more=more if beside else lambda trial: ()
        )
        follow("survey", trials, len(todo), extra)
        cases += extra
        if cost:
            measured = costs.open_trials([known[case] for case in cases if case in known], retry)
            chains = {key: chain for key in keys if (chain := assemble.chain(known, table, key))}
            follow("cost", costs.run(measured, chains, entries, jobs, limit, until), len(measured))
        runs = [*runs, run] if run.seconds else runs
    reported = sorted({*keys, *(key for key, _ in known if key in table)})
    if only_write and kept and kept.evidence.exists():  # the machine that measured has said what it is
        evidence = assemble.renewed(documents.read(kept.evidence), known, runs)
    else:
        evidence = assemble.evidence(known, table, reported, runs)
    assemble.show(evidence, Console())
    assemble.write(evidence, json_file, conf, conf_own, svg)
    if page:
        try:
            assemble.write_page(evidence, page, json_file.stem if json_file else "survey")
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None


def command_line() -> str:
    """As the user might have typed it, however Python was started."""
    return " ".join(["torch-fl survey", *sys.argv[1 + ("survey" in sys.argv[1:2]) :]])
