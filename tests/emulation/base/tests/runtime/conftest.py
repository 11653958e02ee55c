"""Fixtures: the emulated runtime through ctypes, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import processes


@pytest.fixture(scope="session")
def sdk() -> dict:
    """What is known of the SDK: its sdk.py."""
    return processes.facts(processes.platform())


@pytest.fixture
def run():
    """Runs Python source in a process of its own, with all names of mirror.py; gives the finished process."""
    variables = processes.environment(processes.platform())
    return lambda source, **settings: processes.run("from mirror import *\nimport os\n", source, variables | settings)


@pytest.fixture
def printed(run):
    """The same for sources that succeed: what they print."""
    return lambda source, **settings: processes.printed(run(source, **settings))
