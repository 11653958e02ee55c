"""``torch-fl-preflight``: does an artifact fit this machine, and may it be released?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from torch_fl_lab.errors import UserError
from torch_fl_lab.preflight import archives, checks, facts, report
from torch_fl_lab.preflight.installed import Environment

Files = Annotated[
    list[Path] | None, typer.Option("--wheel", "--package", metavar="FILE", help="A wheel, a .conda or a .tar.bz2 file; more may follow it, as a shell writes dist/*.whl.")
]


def preflight(
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="Further files.")] = None,
    artifacts: Files = None,
    prefix: Annotated[Path | None, typer.Option(help="An installed environment: look at what is in it.")] = None,
    platform: Annotated[str | None, typer.Option(help="The platform that is meant: cuda, metax, ...")] = None,
    sdk_version: Annotated[str | None, typer.Option(help="The version of the vendor's SDK on the machine.")] = None,
    check_installed: Annotated[bool, typer.Option("--check-installed", help="Compare with what is installed: in --prefix, else beside this command.")] = False,
    check_build_env: Annotated[bool, typer.Option("--check-build-env", help="Ask for exactly the versions that it was built with.")] = False,
    require_sdk: Annotated[bool, typer.Option("--require-sdk", help="Refuse what does not say which SDK it is for.")] = False,
    release: Annotated[bool, typer.Option("--release", help="Refuse what lacks anything that others must know of it.")] = False,
    markdown_table: Annotated[bool, typer.Option("--markdown-table", help="Print the table of a release, in Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of compatibility.json, and stop.")] = False,
) -> None:
    """Look at packages, wheels and environments of torch-fl without importing them: what they are for, and what speaks against them.

    Nothing of torch_fl or PyTorch is imported, so no device is touched. The exit status is 0 where everything fits, 1 where something
    does not, and 2 where something cannot be read.

        torch-fl-preflight --wheel dist/*.whl --platform cuda --sdk-version 13.3 --check-installed

        torch-fl-preflight --package channel/linux-64/torch-fl-runtime-*.conda --release --markdown-table
    """
    if schema:
        typer.echo(json.dumps(facts.Facts.model_json_schema(by_alias=True), indent=2))
        return
    files = [*(artifacts or []), *(more or [])]
    if not files and prefix is None:
        raise UserError("nothing to look at: give --wheel FILE, --package FILE or --prefix FOLDER (see --help)")
    environment = Environment(prefix) if prefix else Environment(Path(sys.prefix)) if check_installed or check_build_env else None
    found = [(path.name, archives.read(path)) for path in files]
    if prefix and environment:
        documents = environment.documents()
        if not documents and not files:
            raise UserError(f"{prefix} has nothing of torch-fl in it; install torch-fl there")
        found += [(place, archives.Archive(text, [], conda=True)) for place, text in documents.items()]
    verdicts = []
    for name, archive in found:
        problems = [*checks.traceable(archive.source)] if release else []
        said = facts.read(archive.document, name) if archive.document is not None else None
        if said:
            problems += checks.asked_for(said, platform, sdk_version, require_sdk)
            problems += checks.releasable(said) if release else []
            if environment and (check_installed or (prefix and not files)):
                problems += checks.fits(said, archive.requires, archive.conda, environment)
            problems += checks.same_as_build(said, environment) if environment and check_build_env else []
        verdicts.append(report.Verdict(name, said, tuple(problems), archive.source))
    if as_json:
        typer.echo(report.as_json(verdicts))
    elif markdown_table:
        typer.echo(report.as_markdown(verdicts))
        for line in (f"{p.level}: {v.artifact}: {p.sentence}" for v in verdicts for p in v.problems):
            typer.echo(line, err=True)
    else:
        report.show(verdicts)
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(1)


def main() -> None:
    """The command of its own name."""
    from torch_fl_lab.cli import run_alone

    run_alone(preflight)
