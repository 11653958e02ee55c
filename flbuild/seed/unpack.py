"""Install one wheel, or a part of one, into a prefix in the conda layout:

python -m flbuild.seed.unpack [--only PATTERN | --without PATTERN] WHEEL PREFIX
"""

from __future__ import annotations

import argparse
import compileall
import fnmatch
import py_compile
import shutil
import tempfile
import zipfile
from pathlib import Path

from installer import install
from installer.destinations import SchemeDictionaryDestination
from installer.sources import WheelFile
from packaging.utils import parse_wheel_filename

from flbuild import interpreter_tags
from flbuild.seed.wheel import PROGRAMS


def site_packages_of(prefix: Path) -> Path:
    return prefix / "lib" / f"python{interpreter_tags.current().xy}" / "site-packages"


def unpack_part(wheel: Path, prefix: Path, pattern: str) -> None:
    """Of a wheel only the files whose path fits the pattern, as they are."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if fnmatch.fnmatchcase(entry.filename, pattern):
                file = Path(archive.extract(entry, site_packages_of(prefix)))
                file.chmod(entry.external_attr >> 16 & 0o777 or 0o644)


def unpack_library(wheel: Path, prefix: Path, without: str) -> None:
    """A wheel with Python code: files, scripts with the prefix in their first line, byte code; but for what fits `without`."""
    site_packages = site_packages_of(prefix)
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
    for file in sorted(site_packages.rglob("*")) if without else ():
        if file.is_file() and fnmatch.fnmatchcase(file.relative_to(site_packages).as_posix(), without):
            file.unlink()
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


def main(wheel: Path, prefix: Path, only: str = "", without: str = "") -> None:
    """Of a library's wheel what fits `only`, or all but what fits `without`: patterns of paths, a star crosses folders."""
    name = parse_wheel_filename(wheel.name)[0]
    if name in PROGRAMS:
        unpack_program(wheel, prefix, PROGRAMS[name])
    elif only:
        unpack_part(wheel, prefix, only)
    else:
        unpack_library(wheel, prefix, without)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--only", metavar="PATTERN", default="", help="take these files alone")
    part.add_argument("--without", metavar="PATTERN", default="", help="leave these files out")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("prefix", type=Path)
    main(**vars(parser.parse_args()))
