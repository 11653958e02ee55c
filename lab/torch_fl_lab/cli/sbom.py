"""``torch-fl sbom``: what is in a package, in an environment, or in an archive, as a bill of materials."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sbom(
    place: Annotated[Path, typer.Argument(help="A .conda file, a pixi.lock, a file of `torch-fl pack`, or an installed environment.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file to write (default: standard output).")] = None,
) -> None:
    """Write a bill of materials (CycloneDX 1.6, JSON): every package with its version, hash and licence, and which one needs which.

    Of a single package it lists the files with their hashes, what it asks for, and the revision of the sources that it was made of. The
    same thing gives the same bytes; no network is used.

        torch-fl sbom locks/host/pixi.lock -o host.cdx.json
    """
    from torch_fl_lab import sbom as bills  # its library is a tenth of a second that other commands need not wait for

    text = bills.of(place)
    if output is None:
        typer.echo(text, nl=False)
        return
    partial = output.with_name(output.name + ".partial")
    partial.write_text(text, "utf-8")
    partial.replace(output)
