"""The variants a person can ask for: the files of `variants/`. Standard library only."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from flbuild.errors import UserError


def names(root: Path, emulated: bool = False) -> list[str]:
    """All variants, sorted; or those that can be built on an emulated SDK."""
    found = sorted(path.stem for path in (root / "variants").glob("*.yaml"))
    return [name for name in found if has_emulation(root, name.partition("-")[0])] if emulated else found


def has_emulation(root: Path, platform: str) -> bool:
    """Whether the platform's SDK is emulated, with the platform or among the other emulations."""
    folders = (root / "src" / "platforms" / platform / "emulation", root / "tests" / "emulation" / platform)
    return any((folder / "CMakeLists.txt").is_file() for folder in folders)


def is_described(folder: Path) -> bool:
    """Whether a platform's folder has its facts alone, and no device layer that could be compiled."""
    return not (folder / "CMakeLists.txt").is_file()


def find(root: Path, name: str) -> Path:
    """The file of one variant.

    Raises:
        UserError: unknown, and the nearest names are given; or of a platform that cannot be built yet.
    """
    known = names(root)
    if name in known:
        place = Path("src", "platforms", name.partition("-")[0])
        if is_described(root / place):
            raise UserError(
                f"{name} cannot be built yet: the platform is described, and {place} has no device layer (no CMakeLists.txt);"
                f" what is known of it is in {place}/README.md."
            )
        return root / "variants" / f"{name}.yaml"
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known) or 'none'}."
    raise UserError(f"unknown variant {name!r} (no variants/{name}.yaml); {hint}")


def python_of(root: Path, name: str) -> str:
    """The minor of Python that a variant is pinned to, as its file says; empty where any will do."""
    found = re.search(r"^python:\n\s+- (3\.\d+)\.\*", find(root, name).read_text(), re.MULTILINE)
    return found[1] if found else ""
