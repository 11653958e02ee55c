"""``torch-fl doctor``: what may be wrong with this installation, and the remedy."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from torch_fl.doctor import document, examine_all

COLOURS = {"fine": "green", "note": "yellow", "wrong": "red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help='Print JSON: {"schema": 1, "wrong": NUMBER, "findings": [...]}.')] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that torch, torch_fl and the devices have to answer.")] = 120,
) -> None:
    """Look at packages, libraries, driver, settings and devices, and say what is wrong and what to do.

    It works where import torch does not: packages and files, the libraries that each library needs, driver, SDK and device
    files, other owners of the device key and settings are looked at first; then torch and torch_fl are imported in a process
    of their own, where a crash is one more finding.

    A note is nothing to mend: it explains what surprises people, such as a torch.cuda without devices.

    The exit status is 0 where nothing is wrong, 1 where something is, 2 where the doctor could not look.

        torch-fl doctor --json
    """
    waiting = Console(stderr=True)
    with waiting.status("looking at this installation") if waiting.is_terminal else waiting:
        findings = list(examine_all(timeout))
    if as_json:
        typer.echo(json.dumps(document(findings), indent=2))
    else:
        table = Table("", "what", Column("seen", overflow="fold"), Column("what to do", overflow="fold"))
        for finding in findings:
            table.add_row(Text(finding.state, COLOURS[finding.state]), finding.subject, finding.sentence, finding.remedy)
        Console(markup=False, highlight=False).print(table)
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)
