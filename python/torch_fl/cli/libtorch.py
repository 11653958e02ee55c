"""``torch-fl bundle-libtorch``: a vendor's core of PyTorch as packages, from the vendor's own wheel."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from torch_fl.evidence import capabilities


def bundle_libtorch(
    source: Annotated[Path, typer.Option("--from", help="The vendor's wheel of PyTorch, or the folder torch (or torch/lib) of an installation.")],
    checkout: Annotated[Path, typer.Option(help="A checkout of torch-fl, whose recipe makes the packages.")] = Path("."),
    license_file: Annotated[
        Path | None, typer.Option(help="The vendor's terms; without them the packages are refused for publishing.")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Platform and SDK version; this installation's where it is left out.")] = None,
) -> None:
    """Take the forked libraries out of a vendor's PyTorch, check them, and pack them as torch-fl-libtorch.

    Boxing on MetaX and its like runs on the vendor's build of PyTorch, which only the vendor gives away. The packages lie in a channel of
    their own: an environment has the vendor's core where that channel is named before the others, and else the official one.
    """
    driver = checkout / "build-locally.py"
    if not driver.is_file():
        raise typer.BadParameter(f"{checkout} has no build-locally.py; give the checkout of torch-fl with --checkout")
    built = capabilities.build()
    name = variant or f"{built['platform']}-{built.get('sdk_version', '')}".rstrip("-")
    command = [sys.executable, str(driver), name, "--libtorch", str(source.resolve()), "--bundle"]
    if license_file:
        command += ["--license-file", str(license_file.resolve())]
    raise typer.Exit(subprocess.call(command))
