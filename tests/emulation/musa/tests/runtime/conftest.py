"""Fixtures: the emulated MUSA runtime and muRAND through ctypes, in a process of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

import processes


@pytest.fixture
def printed():
    """Runs Python source with all names of murand_sdk.py; gives what it printed."""
    variables = processes.environment("musa", HERE)
    return lambda source, **settings: processes.printed(
        processes.run("from murand_sdk import *\n", source, variables | settings)
    )
