"""Digests: what was built from what, and what changed since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

IGNORED = ("__pycache__", ".pytest_cache", ".ruff_cache")


def sha256_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sha256_text(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def files_under(paths: Iterable[Path]) -> list[Path]:
    """Every file below the given files and folders; those that do not exist give nothing."""
    found = []
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(set(folders) - set(IGNORED))
                found += [Path(folder, name) for name in names if not name.endswith(".pyc")]
        elif path.is_file():
            found.append(path)
    return sorted(found)


def manifest(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Relative path -> sha256 of every file below the given ones."""
    return {path.relative_to(root).as_posix(): sha256_file(path) for path in files_under(paths)}


def changes(old: dict[str, str], new: dict[str, str], limit: int = 3) -> str:
    """The names that differ, the first few of them: `src/a.cpp, src/b.cpp and 4 more`; empty when nothing does."""
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
