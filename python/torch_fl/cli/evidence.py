"""``torch-fl evidence``: the page of a file that ``torch-fl test`` has written."""

from pathlib import Path
from typing import Annotated

import typer


def evidence(file: Annotated[Path, typer.Argument(help="The file of evidence, such as evidence-host.json.")]) -> None:
    """Make the HTML page of a file of evidence anew, beside it: what ran where, outcomes by file, skips, failures, seconds.

    The page is one file without scripts, made from the JSON alone; torch-fl test makes it, too.

        torch-fl evidence evidence-host.json
    """
    from torch_fl.evidence import page

    try:
        typer.echo(page.write(file, page.read(file)))
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from None
