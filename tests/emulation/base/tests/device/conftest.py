"""Fixtures: the device library on the emulated SDK, in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

EMULATION = Path(__file__).resolve().parents[3]
HARNESS = EMULATION.parent / "unit" / "platform_host"
sys.path.insert(0, str(EMULATION))

import processes

# `card` is the platform, `rt` the runtime below it, `current()` the runtime's current device.
HEAD = """
import ctypes, os, sys, threading
from ctypes import byref, c_int, c_size_t, c_void_p
from flagos_contract import *
from mirror import INVALID_VALUE, LAUNCH_FAILURE, NOT_READY, SUCCESS, rt
card = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])

def current():
    device = c_int(-1)
    assert rt.GetDevice(byref(device)) == SUCCESS
    return device.value

def told(name, *arguments):
    try:
        getattr(card, name)(*arguments)
    except Failed as error:
        return f"{error.status.name} {error}"
    return "SUCCESS"
"""


@pytest.fixture(scope="session")
def sdk() -> dict:
    """What is known of the SDK: its sdk.py."""
    return processes.facts(processes.platform())


@pytest.fixture
def run():
    """Runs Python source in a process of its own, `card` initialised unless told otherwise; gives what it printed."""
    name = processes.platform()
    variables = processes.environment(name, HARNESS)
    variables["FLAGOS_PLATFORM_LIBRARY"] = f"{variables['EMULATED_LIBRARIES']}/libtorch_fl_platform_{name}.so"

    def run_(source: str, *, initialize: bool = True, **settings: str) -> str:
        head = HEAD + "card.initialize()\n" * initialize
        return processes.printed(processes.run(head, source, variables | settings))

    return run_
