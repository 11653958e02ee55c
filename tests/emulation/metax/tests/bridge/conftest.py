"""Fixtures: the emulated MACA runtime and cu-bridge's through ctypes, in a process of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import processes

HEAD = """
from mirror import *
cuda = ctypes.CDLL(f"{FOLDER}/libsymbol_cu.so")
"""


@pytest.fixture
def printed():
    """Runs Python source, `rt` the MACA runtime and `cuda` the bridge; gives what it printed."""
    variables = processes.environment("metax")
    return lambda source, **settings: processes.printed(processes.run(HEAD, source, variables | settings))


@pytest.fixture(scope="session")
def library() -> Path:
    """The bridge's file."""
    return Path(processes.environment("metax")["EMULATED_LIBRARIES"]) / "libsymbol_cu.so"
