"""Install an archive of `torch-fl pack`: no network, no solver's choice, every hash compared before anything is linked.

It is also the program in the archive: `python3 ARCHIVE --prefix FOLDER`.  Standard library only, but for the installer's library,
which the archive brings.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from torch_fl_lab.errors import UserError
from torch_fl_lab.offline.archive import CHANNEL, LOCK, SBOM, WHEELS, Archive

UNFINISHED = ".incomplete"  # stands in the prefix until all is done
LINKED = 5  # bytes on disk for each packed one, at most, as measured with PyTorch's packages


def unpack(path: Path, prefix: Path, say=print) -> None:
    """Make the environment.

    Args:
        path: the archive.
        prefix: where to; it has to be absent or empty, but for what an interrupted run left.
        say: told of each step.

    Raises:
        UserError: the archive or the place cannot be used.
    """
    prefix = prefix.absolute()
    if (prefix / UNFINISHED).exists():
        shutil.rmtree(prefix)
    if prefix.exists() and (not prefix.is_dir() or any(prefix.iterdir())):
        raise UserError(f"{prefix} is there and not empty; give another folder, or remove it")
    archive = Archive(path)
    packed = sum(said["bytes"] for said in archive.files.values())
    parent = next(folder for folder in prefix.parents if folder.exists())
    if not os.access(parent, os.W_OK):
        raise UserError(f"{parent} may not be written; give a folder of your own")
    free = shutil.disk_usage(parent).free
    if free < packed * (1 + LINKED):
        raise UserError(f"{parent} has {free / 1e9:.1f} GB free and {packed * (1 + LINKED) / 1e9:.1f} are needed; free some, or give a folder on another disk")
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{prefix.name}-", dir=prefix.parent) as scratch:
        work = Path(scratch)
        say(f"checking {len(archive.files)} files, {packed / 1e6:.0f} MB")
        for number, name in enumerate(archive.files, 1):
            if sys.stdout.isatty():
                say(f"\r  {number} of {len(archive.files)} ", end="", flush=True)
            archive.extract(name, work)
        if sys.stdout.isatty():
            say()
        prefix.mkdir(exist_ok=True)
        (prefix / UNFINISHED).touch()
        asyncio.run(_install(archive, work, prefix, say))
        _install_wheels(work / WHEELS, prefix, say)
        for name in (LOCK, SBOM):
            shutil.copyfile(work / name, prefix / name)
    (prefix / UNFINISHED).unlink()
    say(f"{archive.manifest.get('environment')} is in {prefix}\n  use it   export PATH=\"{prefix}/bin:$PATH\"\n  look     {prefix}/bin/torch-fl info")


async def _install(archive: Archive, work: Path, prefix: Path, say) -> None:
    """Link the packages: exactly those of the manifest, as the archive's own channel has them."""
    from rattler import BuildString, GenericVirtualPackage, MatchSpec, PackageName, Version, VirtualPackage, VirtualPackageOverrides, install, solve

    stated = archive.manifest.get("stated", {})
    detected = [package.into_generic() for package in VirtualPackage.detect(VirtualPackageOverrides.from_env())]
    machine = [package for package in detected if package.name.normalized not in stated]
    machine += [GenericVirtualPackage(PackageName(name), Version(version), BuildString("0")) for name, version in stated.items() if version]
    specs = [MatchSpec(spec, strict=False) for spec in archive.manifest["packages"]]
    try:
        records = await solve([(work / CHANNEL).as_uri()], specs, virtual_packages=machine)
    except Exception as error:  # the binding has one exception for all causes
        raise UserError(f"this machine cannot have the environment: {' '.join(str(error).split())}") from None
    if len(records) != len(specs):
        raise UserError(f"{archive.path} has {len(specs)} packages and needs {len(records)}; pack it anew")
    say(f"installing {len(records)} packages")
    try:
        await install(records, prefix, cache_dir=work / "cache", show_progress=False)
    except Exception as error:
        raise UserError(f"the environment could not be installed: {' '.join(str(error).split())}; remove {prefix} and try again") from None


def _install_wheels(folder: Path, prefix: Path, say) -> None:
    """What has no package, by the environment's own pip, from the archive alone."""
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        return
    say(f"installing {len(wheels)} wheels")
    command = [prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-cache-dir", *wheels]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"the wheels could not be installed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")


def main() -> None:
    """The program in the archive."""
    path = Path(sys.argv[0]).resolve()
    parser = argparse.ArgumentParser(
        prog=f"python3 {path.name}", description="Install the environment that is packed in this file. It needs this Python and nothing else: no network, no conda."
    )
    parser.add_argument("--prefix", type=Path, metavar="FOLDER", help="where to; absent or empty")
    parser.add_argument("--list", action="store_true", help="say what is in it, and stop")
    args = parser.parse_args()
    try:
        archive = Archive(path)
        if args.list:
            print("\n".join([*archive.manifest["packages"], *(name for name in archive.files if name.startswith(f"{WHEELS}/"))]))
            return
        if args.prefix is None:
            parser.error("give --prefix FOLDER, or --list")
        wanted = archive.manifest.get("python", "").lstrip(">= ")
        if tuple(map(int, wanted.split("."))) > sys.version_info[:2]:
            raise UserError(f"it needs Python {wanted} or newer and this is {sys.version.split()[0]}; call it by another python3")
        with tempfile.TemporaryDirectory(prefix="torch-fl-") as tools:
            archive.extract_tools(Path(tools))
            sys.path.insert(0, tools)
            unpack(path, args.prefix)
    except UserError as error:
        sys.exit(f"{path.name}: {error}")
