"""The command ``torch-fl-lab``.  Each subcommand is a module here; ``torch-fl`` offers them, too, where both are installed."""

import functools
import sys
from collections.abc import Callable

import typer

from torch_fl_lab._version import __version__
from torch_fl_lab.cli.detect import detect
from torch_fl_lab.cli.lock import lock
from torch_fl_lab.cli.pack import pack, unpack
from torch_fl_lab.cli.preflight import preflight
from torch_fl_lab.cli.sbom import sbom
from torch_fl_lab.cli.verify import verify
from torch_fl_lab.errors import UserError


def _said_plainly(command: Callable) -> Callable:
    """The command, whose `UserError` is one line and exit status 2."""

    @functools.wraps(command)
    def run(*arguments: object, **named: object) -> None:
        try:
            command(*arguments, **named)
        except UserError as error:
            print(f"{command.__name__}: {error}", file=sys.stderr)
            raise typer.Exit(2) from None

    return run


#: the functions of the subcommands; a command is called as its function, with dashes
COMMANDS: tuple[Callable, ...] = tuple(map(_said_plainly, (detect, preflight, lock, pack, unpack, verify, sbom)))
OPTIONS = {"rich_markup_mode": "markdown", "no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False}

app = typer.Typer(help="Look at packages and machines, and make environments that install without a network. PyTorch is not needed.", **OPTIONS)
for command in COMMANDS:
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"torch-fl-lab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app(prog_name="torch-fl-lab")


def run_alone(command: Callable) -> None:
    """One of them as a command of its own: torch-fl-<name>."""
    alone = typer.Typer(**OPTIONS)
    alone.command()(_said_plainly(command))
    alone(prog_name=f"torch-fl-{command.__name__}")
