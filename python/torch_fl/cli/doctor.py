"""``torch-fl doctor``: what may be wrong with this installation, and the remedy."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from torch_fl.doctor import examine

COLOURS = {"fine": "green", "note": "yellow", "wrong": "red"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look at devices, PyTorch's core, FlagGems, Triton and settings; exit with 1 where something is wrong.

    A note is nothing to mend: it explains what surprises people, such as a torch.cuda without devices.
    """
    findings = examine()
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        table = Table("", "what", Column("seen", overflow="fold"))
        for finding in findings:
            table.add_row(Text(finding.state, COLOURS[finding.state]), finding.subject, finding.sentence)
        Console(markup=False, highlight=False).print(table)
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)
