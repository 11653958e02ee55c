"""Where everything lies: nothing is written outside `build_artifacts/`."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Folders of one clone.

    Finished things (`tools`, `seed`, `channel`, `envs`) are only ever put in place by a rename; what is being made
    lies in `work`, and whatever an interrupted run left there is thrown away.
    """

    root: Path
    python: str = ""  # the Python that a variant is pinned to: its tools stand beside those of the person's own
    torch: str = ""  # the minor of PyTorch that its seed channel is made of; empty: the one that any variant takes

    @property
    def artifacts(self) -> Path:
        return self.root / "build_artifacts"

    @property
    def tools(self) -> Path:
        return self.artifacts / (f"tools-{self.python}" if self.python else "tools")

    @property
    def wheels(self) -> Path:
        return self.artifacts / "cache" / "wheels"

    @property
    def seed_packages(self) -> Path:
        return self.artifacts / "cache" / "seed"

    @property
    def package_cache(self) -> Path:
        return self.artifacts / "cache" / "packages"

    @property
    def ccache(self) -> Path:
        return self.artifacts / "cache" / "ccache"

    @property
    def seed(self) -> Path:
        return self.artifacts / (f"seed-torch{self.torch}" if self.torch else "seed")

    @property
    def seed_flaggems(self) -> Path:
        return self.artifacts / "seed-flaggems"

    @property
    def channel(self) -> Path:
        return self.artifacts / "channel"

    @property
    def work(self) -> Path:
        return self.artifacts / "work"

    @property
    def logs(self) -> Path:
        return self.artifacts / "logs"

    def environment(self, name: str) -> Path:
        return self.artifacts / "envs" / name

    def quarantine(self, name: str) -> Path:
        """An empty folder to make something in."""
        folder = self.work / name
        remove(folder)
        folder.mkdir(parents=True)
        return folder


def remove(path: Path) -> None:
    """Delete a file, link or folder if it is there."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def publish(made: Path, place: Path) -> None:
    """Put a finished folder in its place; the one that was there goes."""
    old = place.with_name(place.name + ".old")
    remove(old)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        os.rename(place, old)
    os.rename(made, place)
    remove(old)


def recover(place: Path) -> None:
    """Finish what an interruption between the two renames of `publish` left."""
    old = place.with_name(place.name + ".old")
    if old.exists() and not place.exists():
        os.rename(old, place)
    remove(old)
