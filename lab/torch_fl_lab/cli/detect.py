"""``torch-fl detect``: the same as the single file of it, which a machine without anything runs."""

from __future__ import annotations

from typing import Annotated

import typer

from torch_fl_lab import detect as file


def detect(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say which accelerator, SDK and driver are on this machine, and what to type. Nothing is changed.

    Before anything is installed, `python3 torch-fl-detect.py` does the same; any Python from 3.8 on runs it.
    """
    raise typer.Exit(file.main(["--json"] if as_json else [], "torch-fl detect"))
