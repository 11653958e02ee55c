"""Python's own trouble: folders that come before the environment's packages, and have some of the same name."""

import os
import site
import sys
from collections.abc import Iterator
from pathlib import Path

from torch_fl.doctor import Finding

NAMES = ("torch", "torch_fl", "triton", "flag_gems", "numpy")


def check() -> Iterator[Finding]:
    """PYTHONPATH, the user's site-packages and the folder where the command is typed."""
    yield Finding("fine", "python", f"{sys.version.split()[0]} in {sys.prefix}")
    for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        if found := _shadows(Path(folder)):
            yield Finding("wrong", "PYTHONPATH", f"{folder} comes before the environment, and has {', '.join(found)}", "unset PYTHONPATH")
        else:
            yield Finding("note", "PYTHONPATH", f"{folder} comes before the environment's packages")
    user = site.getusersitepackages()
    if site.ENABLE_USER_SITE and user in sys.path and (found := _shadows(Path(user))):
        yield Finding("wrong", "user site", f"{user} comes before the environment, and has {', '.join(found)}", f"export PYTHONNOUSERSITE=1, or pip uninstall {' '.join(found)}")
    here = Path.cwd()
    if found := _shadows(here):
        seen = f"{here} has {', '.join(found)}: python -c and python -m would import those"
        yield Finding("note", "folder", seen, "go to another folder")


def _shadows(folder: Path) -> list[str]:
    """What the folder has and another one on Python's path has, too: where there is no other it is where these things are installed."""
    others = {place.resolve() for place in map(Path, filter(None, sys.path))} - {folder.resolve()}
    return [name for name in NAMES if _has(folder, name) and any(_has(place, name) for place in others)]


def _has(folder: Path, name: str) -> bool:
    return (folder / name / "__init__.py").is_file() or (folder / f"{name}.py").is_file()
