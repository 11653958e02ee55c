"""Install one wheel into a prefix in the conda layout: `python -m flbuild.seed.unpack WHEEL PREFIX`."""

from __future__ import annotations

import compileall
import py_compile
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile
from packaging.utils import parse_wheel_filename

from flbuild import interpreter_tags
from flbuild.seed.wheel import PROGRAMS


def unpack_library(wheel: Path, prefix: Path) -> None:
    """A wheel with Python code: files, scripts with the prefix in their first line, byte code."""
    site_packages = prefix / "lib" / f"python{interpreter_tags.current().xy}" / "site-packages"
    scheme = {
        "purelib": site_packages,
        "platlib": site_packages,
        "scripts": prefix / "bin",
        "headers": prefix / "include",
        "data": prefix,
    }
    destination = SchemeDictionaryDestination(
        {key: str(folder) for key, folder in scheme.items()},
        interpreter=str(prefix / "bin/python"),
        script_kind="posix",
    )
    with WheelFile.open(wheel) as source:
        install(source, destination, additional_metadata={"INSTALLER": b"conda\n"})
    # Byte code is checked by content and not by time: packaging and unpacking do not keep times exactly.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(site_packages, quiet=2, stripdir=str(prefix), invalidation_mode=mode)


def unpack_program(wheel: Path, prefix: Path, folder: str | None) -> None:
    """A wheel that only carries a program: no Python around it."""
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch)
        programs = prefix / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        if folder:
            shutil.copytree(Path(scratch, folder), prefix, dirs_exist_ok=True, symlinks=True)
        else:
            for script in Path(scratch).glob("*.data/scripts/*"):
                shutil.copy(script, programs / script.name)
        for program in programs.iterdir():  # zip extraction drops the permission bits
            program.chmod(0o755)


def main(wheel: Path, prefix: Path) -> None:
    name = parse_wheel_filename(wheel.name)[0]
    if name in PROGRAMS:
        unpack_program(wheel, prefix, PROGRAMS[name])
    else:
        unpack_library(wheel, prefix)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
