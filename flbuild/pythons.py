"""Another Python on this machine, by its minor: on PATH, else of pyenv. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def candidates(minor: str) -> list[Path]:
    """Where such an interpreter may be, the likeliest first; the newest patch release of pyenv's."""
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    of_pyenv = sorted(home.glob(f"versions/{minor}.*/bin/python{minor}"), key=lambda path: numbers(path.parts[-3]))
    on_path = shutil.which(f"python{minor}")
    return [*([Path(on_path)] if on_path else []), *reversed(of_pyenv)]


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def is_of(python: Path, minor: str) -> bool:
    """Whether it runs and is of that minor: pyenv's shims stand on PATH for versions that are not chosen."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == minor


def find(minor: str) -> Path | None:
    """An interpreter of a minor such as `3.12`; None where there is none."""
    return next((path for path in candidates(minor) if is_of(path, minor)), None)
