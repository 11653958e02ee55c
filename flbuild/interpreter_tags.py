"""The ways a Python version is written in package names."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Tags:
    """`Tags(3, 11)`: xy 3.11, next_xy 3.12, py py311, cp cp311."""

    major: int
    minor: int

    @property
    def xy(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def next_xy(self) -> str:
        return f"{self.major}.{self.minor + 1}"

    @property
    def py(self) -> str:
        return f"py{self.major}{self.minor}"

    @property
    def cp(self) -> str:
        return f"cp{self.major}{self.minor}"


def current() -> Tags:
    """Of the running interpreter."""
    return Tags(*sys.version_info[:2])
