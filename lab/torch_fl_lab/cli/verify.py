"""``torch-fl verify``: is an environment, or an archive, still what it was?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from torch_fl_lab.offline import verifying

SHOWN = 20  # of the files that no package has


def verify(
    place: Annotated[Path, typer.Argument(help="An installed environment, or a file of `torch-fl pack`.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare every file of an environment with the records of its packages, and these with its lock; or an archive with its manifest.

    No network is used. The exit status is 0 where all is as it was, 1 where something was changed or is missing, and 2 where it cannot
    be looked at. Files that no package has are told and are nothing wrong.
    """
    if place.is_file():
        count = verifying.archive(place)
        typer.echo(json.dumps({"schema": 1, "ok": True, "files": count}) if as_json else f"{place}: {count} files are as packed")
        return
    found = list(verifying.differences(place))
    wrong = [difference for difference in found if difference.wrong]
    if as_json:
        said = [{"kind": difference.kind, "what": difference.what} for difference in found]
        typer.echo(json.dumps({"schema": 1, "ok": not wrong, "differences": said}, indent=2))
    else:
        added = [difference for difference in found if not difference.wrong]
        if found:
            table = Table("", Column("what", overflow="fold"))
            for difference in [*wrong, *added[:SHOWN]]:
                table.add_row(difference.kind, difference.what)
            Console(markup=False, highlight=False).print(table)
        more = f"; nothing wrong with {len(added)} more files, compiled or added since" if added else ""
        typer.echo(f"{place}: {len(wrong)} differences{more}" + ("; install it again" if wrong else ""))
    if wrong:
        raise typer.Exit(1)
