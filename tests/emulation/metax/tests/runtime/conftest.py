"""Fixtures: the emulated MACA runtime and the device layer over it, in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

EMULATION = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(EMULATION))

import processes

HARNESS = EMULATION.parent / "unit" / "platform_host"
HEAD = """
from flagos_contract import *
from mirror import *
card = Platform(f"{FOLDER}/libtorch_fl_platform_metax.so")
"""


@pytest.fixture
def printed():
    """Runs Python source, `rt` the MACA runtime and `card` the platform; gives what it printed."""
    variables = processes.environment("metax", HARNESS)
    return lambda source, **settings: processes.printed(processes.run(HEAD, source, variables | settings))
