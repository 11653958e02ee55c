"""``torch-fl pack`` and ``torch-fl unpack``: an environment in one file, for a machine without a network."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn

from torch_fl_lab.cli.lock import stated
from torch_fl_lab.errors import UserError
from torch_fl_lab.offline import packing, unpacking
from torch_fl_lab.offline.archive import sha256


def pack(
    lock: Annotated[Path, typer.Argument(help="A lock of `torch-fl lock`.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The archive (default: torch-fl-PLATFORM.pyz).")] = None,
    wheels: Annotated[Path | None, typer.Option(metavar="DIR", help="Wheels without a conda package, packed and hashed beside it.")] = None,
    override_virtual: Annotated[list[str] | None, typer.Option(metavar="__NAME=VERSION", help="As the lock was made with (repeatable).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put the packages of a lock, their index and an installer into one file.

    On the other machine `python3 FILE --prefix FOLDER` installs it: it needs Python and nothing else. Where packages cannot be had, all of
    them are listed before anything is copied.

        torch-fl pack locks/host/pixi.lock -o torch-fl-host.pyz
    """
    if not lock.is_file():
        raise UserError(f"{lock} is no file; make one with torch-fl lock")
    target = (output or Path(f"torch-fl-{lock.parent.resolve().name}.pyz")).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total}")
    with tempfile.TemporaryDirectory(prefix=".pack-", dir=target.parent) as work, Progress(*columns, disable=as_json, transient=True) as bar:
        task = bar.add_task("", total=1)
        manifest = packing.pack(
            lock, target, wheels, Path(work), stated(override_virtual or []), lambda done, total, name: bar.update(task, completed=done, total=total, description=name)
        )
    size, digest = target.stat().st_size, sha256(target)
    if as_json:
        typer.echo(json.dumps({"schema": 1, "archive": str(target), "bytes": size, "sha256": digest, "packages": manifest["packages"]}, indent=2))
        return
    typer.echo(f"{target}: {len(manifest['packages'])} packages, {size / 1e6:.0f} MB\nsha256 {digest}\nOn the other machine: python3 {target.name} --prefix FOLDER")


def unpack(
    archive: Annotated[Path, typer.Argument(help="A file of `torch-fl pack`.")],
    prefix: Annotated[Path, typer.Argument(help="Where to; absent or empty.")],
) -> None:
    """Install an archive: no network is used, and every hash is compared before anything is linked.

    `python3 ARCHIVE --prefix FOLDER` does the same where torch-fl is not installed.
    """
    unpacking.unpack(archive, prefix)
