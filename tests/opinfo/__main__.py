"""The command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from torch_fl.cli.options import parse_fraction, parse_shard
from torch_fl.cli.progress import bar

from . import cases, picture, runner
from .cases import Case
from .checks import Result
from .judge import Settings
from .own import compared_with
from .report import CPU, GOOD, Report, from_json, merged, to_json

EPILOG = """
Examples, each after `python -m torch_fl_opinfo`:

  --ops 'add,nn.functional.*'          some operators, every dtype, every sample

  --ops 'ops:*:float32' --depth 3      one dtype, three samples for each check

  --sample 0.15 --depth 2              a seventh of the cases, at least one of each operator

  --shard 1/4 --json one.json          a part; `merge one.json two.json ...` makes one report of the parts

  --json all.json --resume             carry an interrupted run on; cases that failed run again
"""

app = typer.Typer(add_completion=False, no_args_is_help=False, rich_markup_mode=None)


JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the whole report here.", dir_okay=False)]
SummaryFile = Annotated[Path | None, typer.Option("--summary", help="Write totals and failures here.", dir_okay=False)]
SvgFile = Annotated[
    Path | None, typer.Option("--svg", help="Write the picture by operator family here.", dir_okay=False)
]


@app.callback(invoke_without_command=True, epilog=EPILOG)
def run(
    context: typer.Context,
    ops: Annotated[
        str | None,
        typer.Option(
            help="Shell patterns of names or of database:name:dtype, with commas between them.", metavar="PATTERN"
        ),
    ] = None,
    checks: Annotated[str, typer.Option(help="Shell patterns of the checks to do.", metavar="PATTERN")] = "*",
    sample: Annotated[
        float, typer.Option(help="Fraction of the cases; of each entry at least one.", callback=parse_fraction)
    ] = 1.0,
    depth: Annotated[int | None, typer.Option(help="Most samples for each check (default: all).", min=1)] = None,
    shard: Annotated[str, typer.Option(help="Part K of N.", metavar="K/N")] = "1/1",
    jobs: Annotated[int, typer.Option(help="Worker processes.", min=1)] = os.cpu_count() or 1,
    limit: Annotated[float, typer.Option(help="Seconds that one case may take.", min=1)] = 300,
    json_file: JsonFile = None,
    summary: SummaryFile = None,
    svg: SvgFile = None,
    resume: Annotated[bool, typer.Option("--resume", help="Carry on the run that was to write --json.")] = False,
    device: Annotated[str, typer.Option(help="The device under test.")] = "flagos:0",
    against: Annotated[
        str | None,
        typer.Option(help="Compare with this device, cuda, in processes without torch_fl, instead of the CPU.", metavar="DEVICE"),
    ] = None,
) -> None:
    """Run PyTorch's own samples on a device and on the CPU and compare everything that can be seen.

    A case is one entry of PyTorch's sample databases (operators, foreach, modules, optimizers) with one dtype. It
    passes when every check on every sample gives the same as on the CPU: values, dtypes, strides, aliasing, results
    in place and in `out=`, exceptions, derivatives. Exit status 0: all pass, or differ as was reviewed.
    """
    if context.invoked_subcommand:
        return
    part = parse_shard(shard)
    if resume and json_file is None:
        raise typer.BadParameter("--resume needs --json FILE, the report of the run to carry on")
    chosen = cases.matching(cases.all_cases(), ops)
    if not chosen:
        raise typer.BadParameter(
            f"--ops {ops!r} matches no case; names look like add, nn.functional.gelu, ops:add:int64"
        )
    # By number: each worker meets all kinds, and an early look at a long run shows the whole.
    chosen = sorted(cases.share(cases.sampled(chosen, sample), part), key=lambda case: case.number)
    journal = json_file.with_name(json_file.name + ".partial") if json_file else None
    known = read_journal(journal) if resume and journal else {}
    done = [known[case] for case in chosen if case in known and known[case].status in GOOD]
    settled = {result.case for result in done}
    settings = Settings(device, depth, checks, against)
    if against:
        os.environ.setdefault("PYTHONHASHSEED", "0")  # some samples are made in the order of a set
    done += carry_out([c for c in chosen if c not in settled], settings, jobs, limit, journal, bool(known))
    other = against or CPU
    finish(Report(done, compared_with(other), command_line(), depth, len(chosen), other), json_file, summary, svg)
    if journal is not None:
        journal.unlink(missing_ok=True)


def carry_out(
    todo: list[Case], settings: Settings, jobs: int, limit: float, journal: Path | None, append: bool
) -> list[Result]:
    """Run the cases; each result goes to the journal at once."""
    results = []
    with (
        open(journal or os.devnull, "a" if append else "w", encoding="utf-8") as file,
        bar() as progress,
    ):
        task = progress.add_task("0 failed", total=len(todo))
        for result in runner.run(todo, settings, jobs, limit):
            results.append(result)
            print(json.dumps(to_json(result)), file=file, flush=True)
            failed = sum(r.status not in GOOD for r in results)
            progress.update(task, advance=1, description=f"{failed} failed")
    return results


def read_journal(path: Path) -> dict[Case, Result]:
    """The last result of each case; a line that was cut off is left out."""
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            result = from_json(json.loads(line))
        except ValueError:
            continue
        found[result.case] = result
    return found


def command_line() -> str:
    return " ".join(["python -m torch_fl_opinfo", *sys.argv[1:]])


def finish(report: Report, json_file: Path | None, summary: Path | None, svg: Path | None) -> None:
    report.show(Console())
    if json_file:
        report.write(json_file)
    if summary:
        report.write_summary(summary)
    if svg:
        svg.write_text(picture.svg(report.summary()), "utf-8")
    if not report.good:
        raise typer.Exit(1)


@app.command()
def merge(
    reports: Annotated[list[Path], typer.Argument(help="Reports written by --json.", exists=True, dir_okay=False)],
    json_file: JsonFile = None,
    summary: SummaryFile = None,
    svg: SvgFile = None,
) -> None:
    """Make one report of the reports of several shards, or of one report after a review."""
    try:
        report = merged(reports, compared_with, command_line())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    finish(report, json_file, summary, svg)


if __name__ == "__main__":
    app()
