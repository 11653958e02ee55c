"""``torch-fl routes``: which backend serves which operator, and why."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table


def routes(
    op: Annotated[
        str | None, typer.Option("--op", metavar="OPERATOR", help="Only this operator, as add.Tensor, step by step.")
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Only operators whose route names kernels that are not here.")
    ] = False,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Check a routing file, and use nothing of it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the routing table in force: operator, backend, chain, and where that was decided.

    With `--op` it says step by step which kernels were asked for an operator, and why the one that serves it was taken; with `--check` whether a
    file of your own has faults, each with its line.

        torch-fl routes --op add.Tensor
    """
    if check is not None:
        _check(check, as_json)
    elif op is not None:
        _explain(op, as_json)
    else:
        _show(missing, as_json)


def _fail(sentence: str) -> None:
    typer.echo(f"torch-fl: {sentence}", err=True)
    raise typer.Exit(1)


def _check(file: Path, as_json: bool) -> None:
    from torch_fl import _C, routing
    from torch_fl.routing import missing

    errors: list[routing.RoutingError] = []
    installed = routing.of_core(_C)
    table = routing.read_table(file, installed, report=errors.append)
    for error in errors:
        typer.echo(f"torch-fl: {error}", err=True)
    if errors:
        _fail(f"{len(errors)} error{'s' if len(errors) > 1 else ''} in {file}")
    if lacking := missing.missing(table):
        typer.echo(f"torch-fl: {missing.describe(lacking, installed)}", err=True)
        if missing.strict(os.environ):
            raise typer.Exit(1)
    _print([_row(route) for route in table], as_json, empty=f"{file}: no routes, no errors")


def _row(route: Any) -> dict[str, str]:
    first = route.asked[0].backend
    return {"operator": route.operator, "backend": first, "chain": route.text, "origin": route.origin}


def _show(only_missing: bool, as_json: bool) -> None:
    from torch_fl.routing import explain
    from torch_fl.routing.missing import missing

    written = explain.written_routes()
    if only_missing:
        _print([_row(route) for route in missing(written.values())], as_json, empty="every route has its kernels")
        return
    rows = {}
    for operator, backend, origin in explain.entries():
        route = written.get(operator)
        chain = route.text if route else backend
        # Of a chain's several entries the row shows the first that is asked; unwritten, that is the device's own kernel.
        first = route.asked[0].backend == backend if route else backend != explain.CPU
        if operator not in rows or first:
            rows[operator] = {"operator": operator, "backend": backend, "chain": chain, "origin": origin}
    _print([rows[name] for name in sorted(rows)], as_json, empty="no operator has a kernel of its own")


def _explain(op: str, as_json: bool) -> None:
    from torch_fl.routing import explain
    from torch_fl.routing.errors import nearest
    from torch_fl.routing.operators import operator_names

    if op not in operator_names():
        _fail(f"PyTorch has no operator '{op}'" + nearest(op, operator_names()))
    reasons = explain.reasons(op)
    if as_json:
        typer.echo(json.dumps([reasons], indent=2))
        return
    console = Console(markup=False, highlight=False)
    console.print(f"{op} = {reasons['chain']}  ({reasons['origin']})")
    grid = Table("step", "backend", "what comes of it")
    for number, step in enumerate(reasons["steps"], start=1):
        grid.add_row(str(number), step["backend"], step["verdict"])
    console.print(grid)


def _print(rows: list[dict[str, str]], as_json: bool, empty: str) -> None:
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        typer.echo(empty)
        return
    grid = Table("operator", "backend", "chain", "because of")
    for row in rows:
        grid.add_row(row["operator"], row["backend"], row["chain"], row["origin"])
    console = Console(markup=False, highlight=False)
    console.print(grid)
    counts = Counter(row["backend"] for row in rows).most_common()
    console.print(f"{len(rows)} operators: " + ", ".join(f"{backend} {count}" for backend, count in counts))
