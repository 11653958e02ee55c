"""An environment of a hashed list of wheels, made anew only where the list or the interpreter changed.

Standard library only: the first one is made before there is any other.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from flbuild import pip
from flbuild.errors import UserError
from flbuild.layout import Layout, publish, recover


def base_interpreter() -> str:
    """The interpreter behind a virtual environment, if this is one: an environment made by an environment would depend on it."""
    return getattr(sys, "_base_executable", None) or sys.executable


def for_this_python(folder: Path) -> Path:
    """The list for this minor of Python, of a folder that has one for each."""
    return folder / "py{}{}.txt".format(*sys.version_info[:2])


def is_current(place: Path, listed: Path) -> bool:
    """Whether the environment is there, whole, and of this list and interpreter."""
    recover(place)
    marker = place / "digest"
    return marker.is_file() and marker.read_text() == _digest(listed) and (place / "bin/python").exists()


def make(layout: Layout, place: Path, listed: Path) -> None:
    """Install the list into a new environment and put it in place.

    Raises:
        UserError: Python cannot make one, or a wheel cannot be had.
    """
    made = layout.quarantine(place.name)
    done = subprocess.run([base_interpreter(), "-I", "-m", "venv", made], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"no tool environment could be made: {pip.shorten((done.stderr or done.stdout).strip().splitlines()[-1])}")
    options = ["install", "--require-hashes", "--no-deps", "--only-binary=:all:", "-r", str(listed)]
    pip.run(made / "bin/python", options, layout.logs / f"{place.name}.log")
    (made / "digest").write_text(_digest(listed))
    publish(made, place)


def _digest(listed: Path) -> str:
    parts = [listed.read_text(), sys.version, os.path.realpath(base_interpreter())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
