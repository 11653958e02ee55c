"""Tests of the sources, shared out over processes: a plug-in for pytest, `-p flbuild.sharing`.

Suites that make channels or environments first make them once a process, so each of these suites stays in one. The rest
goes wherever there is time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

WHOLE = ("package", "skeleton", "solve")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell pytest-xdist which tests belong together."""
    for item in items:
        suite = next((part for part in Path(item.path).parts[::-1] if part in WHOLE), None)
        if suite:
            item.add_marker(pytest.mark.xdist_group(suite))


def options(jobs: int) -> list[str]:
    """pytest's options for so many processes."""
    return ["-p", "flbuild.sharing", "-n", str(jobs), "--dist=loadgroup"] if jobs > 1 else []
