"""``torch-fl warm``: compile and tune FlagGems' kernels before they are needed."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from torch_fl.cli.options import parse_dtypes
from torch_fl.cli.progress import bar

DTYPES = "float32,bfloat16"
MISSING = "torch-fl warm needs the package torch-fl-flaggems ({}); without it there is nothing to compile"


def warm(
    op: Annotated[
        str | None,
        typer.Option("--op", metavar="PATTERN", help="Shell patterns of operators, with commas between them."),
    ] = None,
    dtypes: Annotated[str, typer.Option("--dtype", help="Dtypes, with commas between them.")] = DTYPES,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes: compilers run on so many processors.")] = 1,
    limit: Annotated[float, typer.Option(min=1, help="Seconds that one operator and dtype may take.")] = 120,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compile and tune the FlagGems kernels that this installation's routes use, so that no first call waits for it.

    A first `mm` on a card tries some hundred configurations, which takes half a minute. This makes one call of each routed
    operator at a size of large models; what it compiles stays in Triton's cache (TRITON_CACHE_DIR, else ~/.triton) and what
    it tunes in FlagGems' database (FLAGGEMS_CACHE_DIR, else ~/.flaggems). A second run finds all of it and compiles
    nothing. Both folders may be copied to machines with the same card and the same versions.

    torch-fl warm --jobs 8                       all routed operators, in float32 and bfloat16

    torch-fl warm --op "mm,*softmax*" --dtype bfloat16
    """
    try:
        from torch_fl.survey import index, plan, sources
        from torch_fl.survey import warm as warming
    except ImportError as error:
        typer.echo("torch-fl: " + MISSING.format(error), err=True)
        raise typer.Exit(1) from None
    routed = warming.routed()
    keys = plan.chosen(routed, op)
    if not keys:
        raise typer.BadParameter(
            f"--op {op!r} matches no operator that is routed to FlagGems here; 'torch-fl routes' shows them"
            if routed
            else "no operator is routed to FlagGems here; 'torch-fl routes' shows what serves"
        )
    wanted = parse_dtypes(dtypes, plan.DTYPES)
    needed = sources.needed(keys)
    entries = index.by_name(needed) if len(keys) <= index.FEW else index.entries_of(needed)
    cases = plan.cases(keys, wanted, entries)
    found = []
    with bar() as progress:
        task = progress.add_task("warm", total=len(cases))
        for done in warming.run(cases, entries, jobs, limit):
            found.append(done)
            progress.update(task, advance=1, description=f"{done.operator} {done.dtype}: {done.state}")
    compiled = sum(done.compiled for done in found)
    places = {
        "triton": os.environ.get("TRITON_CACHE_DIR") or str(Path.home() / ".triton" / "cache"),
        "flaggems": os.environ.get("FLAGGEMS_CACHE_DIR") or str(Path.home() / ".flaggems"),
    }
    if as_json:
        cases_found = [done.model_dump() for done in found]
        typer.echo(json.dumps({"compiled": compiled, "caches": places, "cases": cases_found}, indent=1))
        return
    states = Counter(done.state for done in found)
    for done in found:
        if done.state in ("failed", "no time"):
            typer.echo(f"{done.operator} {done.dtype}: {done.state}: {done.note}")
    typer.echo(f"{', '.join(f'{count} {state}' for state, count in states.items())}; {compiled} kernels compiled")
    typer.echo(f"kernels in {places['triton']}, tuning in {places['flaggems']}")
