"""The command ``torch-fl``.  Its libraries are imported here only, never by ``import torch_fl``."""

from importlib.util import find_spec

import typer

from torch_fl._version import __version__
from torch_fl.cli.dev import dev
from torch_fl.cli.doctor import doctor
from torch_fl.cli.evidence import evidence
from torch_fl.cli.info import info
from torch_fl.cli.libtorch import bundle_libtorch
from torch_fl.cli.routes import routes
from torch_fl.cli.test import test

app = typer.Typer(
    help="Look at the flagos device of this installation.",
    rich_markup_mode="markdown",  # a paragraph of a docstring is one in the help
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(info)
app.command()(routes)
app.command()(test)
app.command()(doctor)
app.command()(evidence)
app.command()(bundle_libtorch)
app.add_typer(dev, name="dev")
if find_spec("torch_fl.survey") is not None:  # comes with torch-fl-flaggems
    from torch_fl.cli.survey import survey
    from torch_fl.cli.warm import warm

    app.command()(survey)
    app.command()(warm)
if find_spec("torch_fl_lab") is not None:  # a package of its own, which does without PyTorch
    from torch_fl_lab.cli import COMMANDS

    for command in COMMANDS:
        app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"torch-fl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app(prog_name="torch-fl")
