"""The variants a person can ask for: the files of `variants/`. Standard library only."""

from __future__ import annotations

import difflib
from pathlib import Path

from flbuild.errors import UserError


def names(root: Path) -> list[str]:
    """All variants, sorted."""
    return sorted(path.stem for path in (root / "variants").glob("*.yaml"))


def find(root: Path, name: str) -> Path:
    """The file of one variant.

    Raises:
        UserError: unknown; the nearest names are given.
    """
    known = names(root)
    if name in known:
        return root / "variants" / f"{name}.yaml"
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known) or 'none'}."
    raise UserError(f"unknown variant {name!r} (no variants/{name}.yaml); {hint}")
