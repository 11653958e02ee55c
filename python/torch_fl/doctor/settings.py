"""Environment variables that change results, or do nothing any more."""

import os
from collections.abc import Iterator

from torch_fl import compat
from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities


def check() -> Iterator[Finding]:
    """The platform's notices, and retired variables."""
    for notice in capabilities.platform().get("notices", []):
        if os.environ.get(notice["variable"]) == notice["value"]:
            yield Finding("note", notice["variable"], f"={notice['value']}: {notice['sentence']}")
    for name, remedy in compat.RETIRED.items():
        if name in os.environ:
            yield Finding("note", name, f"has no effect any more: {remedy}")
