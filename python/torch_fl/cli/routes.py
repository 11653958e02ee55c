"""``torch-fl routes``: which backend serves which operator, and why."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def routes(
    op: Annotated[
        str | None, typer.Option("--op", metavar="OPERATOR", help="Only this operator, as add.Tensor.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Check a routing file, and use nothing of it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the routing table in force: operator, backend, and where that was decided."""
    if check is not None:
        _check(check, as_json)
    else:
        _show(op, as_json)


def _fail(sentence: str) -> None:
    typer.echo(f"torch-fl: {sentence}", err=True)
    raise typer.Exit(1)


def _check(file: Path, as_json: bool) -> None:
    from torch_fl import _C, routing

    try:
        table = routing.read_table(file, _C.known_slots())
    except routing.RoutingError as error:
        _fail(str(error))
    _print([(route.operator, route.text, route.origin) for route in table], as_json, empty=f"{file}: no routes, no errors")


def _show(op: str | None, as_json: bool) -> None:
    from torch_fl import _C
    from torch_fl.routing.errors import nearest
    from torch_fl.routing.operators import operator_names

    table = sorted(_C.routes())
    if op is not None:
        if op not in operator_names():
            _fail(f"PyTorch has no operator '{op}'" + nearest(op, operator_names()))
        table = [row for row in table if row[0] == op] or [(op, "none", "no kernel here: CPU fallback")]
    _print(table, as_json, empty="no operator has a kernel of its own: all use the CPU fallback")


def _print(table: list[tuple[str, str, str]], as_json: bool, empty: str) -> None:
    if as_json:
        rows = [{"operator": operator, "backend": backend, "origin": origin} for operator, backend, origin in table]
        typer.echo(json.dumps(rows, indent=2))
        return
    if not table:
        typer.echo(empty)
        return
    grid = Table("operator", "backend", "because of")
    for row in table:
        grid.add_row(*row)
    Console(markup=False, highlight=False).print(grid)
