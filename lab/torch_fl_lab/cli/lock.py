"""``torch-fl lock``: decide which packages an environment has, for this machine or for another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from torch_fl_lab.errors import UserError
from torch_fl_lab.offline import locking


def stated(pairs: list[str]) -> dict[str, str]:
    """`__cuda=13.0` and the like, as names and versions.

    Raises:
        UserError: one is something else.
    """
    found = {}
    for pair in pairs:
        name, equals, version = pair.partition("=")
        if not equals or not name.startswith("__"):
            raise UserError(f"--override-virtual {pair}: write __NAME=VERSION, such as __cuda=13.0, or __cuda= for a machine without")
        found[name] = version
    return found


def lock(
    platforms: Annotated[list[str], typer.Argument(metavar="PLATFORM...", help="What to make environments for: host, metax, musa_musa510, ...: the beginning of a build string.")],
    channel: Annotated[list[str], typer.Option(help="A channel's URL or folder; the first that has a package wins (repeatable).")],
    output: Annotated[Path, typer.Option(help="A folder: each lock is PLATFORM/pixi.lock in it.")] = Path("locks"),
    extra: Annotated[list[str] | None, typer.Option("--with", metavar="PACKAGE", help="A further package, as name=version=build (repeatable).")] = None,
    python: Annotated[str | None, typer.Option(help="A minor of Python, such as 3.12.")] = None,
    override_virtual: Annotated[list[str] | None, typer.Option(metavar="__NAME=VERSION", help="What the other machine has: __cuda=13.0, __glibc=2.28 (repeatable).")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a lock is not what the channels give.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Solve an environment for each platform and write it down, so that it can be packed and made again to the byte.

    The same channels give the same bytes. `torch-fl pack` makes one file of a lock, for a machine without a network.

        torch-fl lock host musa --channel build_artifacts/channel --channel build_artifacts/seed
    """
    channels = [locking.url_of(name) for name in channel]
    more = [*(extra or []), *([f"python={python}.*"] if python else [])]
    rows, differ = [], False
    for platform in platforms:
        records = locking.solved(channels, ["torch-fl", f"torch-fl-platform=*={platform}*", *more], stated(override_virtual or []))
        file = output / platform / locking.NAME
        partial = file.with_name(locking.NAME + ".new")
        locking.write(partial, channels, records)
        same = file.is_file() and file.read_bytes() == partial.read_bytes()
        if check:
            partial.unlink()
        else:
            partial.replace(file)
        differ |= not same
        state = "unchanged" if same else "differs" if check else "written"
        rows.append({"platform": platform, "lock": str(file), "state": state, "packages": len(records), "bytes": sum(record.size or 0 for record in records)})
    if as_json:
        typer.echo(json.dumps({"schema": 1, "locks": rows}, indent=2))
    else:
        table = Table("platform", "lock", "", "packages", "MB")
        for row in rows:
            table.add_row(row["platform"], row["lock"], row["state"], str(row["packages"]), f"{row['bytes'] / 1e6:.0f}")
        Console(markup=False, highlight=False).print(table)
    if check and differ:
        raise typer.Exit(1)
