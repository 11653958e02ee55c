"""The wheels of the seed channel: the hashed lists, and getting what they name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from flbuild import interpreter_tags, pip, preflight
from flbuild.digest import sha256_file, sha256_text
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.report import Stage


def wheel_list(root: Path, part: str = "") -> Path:
    """The hashed list of this Python version: everything but torch; part `-cuda`: a CUDA build of torch with its libraries;
    part `-torch2.11`: everything, with that torch.

    Raises:
        UserError: there is none for this version.
    """
    path = root / "recipe" / "seed" / "wheels" / f"{interpreter_tags.current().py}{part}.txt"
    if not path.is_file():
        raise UserError(
            f"there is no wheel list for Python {preflight.python_version()} ({path}); run with another Python or make it: python -m flbuild.seed.pin"
        )
    return path


def has_torch(root: Path, minor: str) -> bool:
    """Whether seed channels can be made of that minor of PyTorch."""
    return (root / "recipe" / "seed" / "wheels" / f"torch{minor}.in").is_file()


def lists(layout: Layout) -> list[Path]:
    """All lists that the layout's seed channel may be made of: one with its own torch, or the common one and those of torch."""
    if layout.torch:
        return [wheel_list(layout.root, f"-torch{layout.torch}")]
    common = wheel_list(layout.root)
    return [common, *(file for part in ("cpu", "cuda") if (file := common.with_stem(f"{common.stem}-{part}")).is_file())]


def fetch(layout: Layout, requirements: Path, stage: Stage) -> list[Path]:
    """The wheels of one list, downloaded once.

    Raises:
        UserError: PyPI is out of reach or a wheel is not the pinned one; `pip.NotFound`: there is no such release.
    """
    folder = layout.wheels / f"{requirements.stem}-{sha256_text(requirements.read_text())[:12]}"
    total, seen = requirements.read_text().count("=="), 0

    def count(line: str) -> None:
        nonlocal seen
        if line.startswith("Collecting "):
            seen += 1
            stage.advance(seen, total, line.split()[1].split("=")[0])

    pinned = set(re.findall(r"sha256:([0-9a-f]{64})", requirements.read_text()))
    whole = (folder / "whole").exists() and all(sha256_file(file) in pinned for file in folder.glob("*.whl"))
    if not whole:  # pip keeps what is there and right, and replaces what is damaged
        options = [
            "download",
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            str(folder),
            "-r",
            str(requirements),
        ]
        pip.run(sys.executable, options, layout.logs / f"wheels-{requirements.stem}.log", count)
        (folder / "whole").touch()
    return sorted(folder.glob("*.whl"))


def download(layout: Layout, stage: Stage) -> list[Path]:
    """All wheels of the channel: torch as a CPU build where pip finds one, else the CUDA build and what that needs."""
    if layout.torch:
        return fetch(layout, lists(layout)[0], stage)
    common = fetch(layout, wheel_list(layout.root), stage)
    cpu_list = wheel_list(layout.root).with_name(f"{interpreter_tags.current().py}-cpu.txt")
    if cpu_list.is_file():
        try:
            return common + fetch(layout, cpu_list, stage)
        except pip.NotFound:
            pass
    return common + fetch(layout, wheel_list(layout.root, "-cuda"), stage)
