"""Fixtures: the device library on the emulated SDK, and processes of their own in which it starts afresh."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[4]
sys.path[:0] = [str(ROOT / "tests" / "unit" / "platform_host"), str(ROOT / "tests" / "emulation")]

import built

# `musa` is the platform, `sdk` the runtime below it, `current()` the runtime's current device.
HEAD = """
import ctypes, os, sys, threading
from ctypes import byref, c_int, c_size_t, c_void_p
from flagos_contract import *
musa = Platform(os.environ["FLAGOS_PLATFORM_LIBRARY"])
sdk = ctypes.CDLL(os.path.join(os.path.dirname(os.environ["FLAGOS_PLATFORM_LIBRARY"]), "libmusart.so.5"))
SUCCESS, INVALID_VALUE, NOT_READY, LAUNCH_FAILURE = 0, 1, 600, 719

def current():
    device = c_int(-1)
    assert sdk.musaGetDevice(byref(device)) == SUCCESS
    return device.value

def told(name, *arguments):
    try:
        getattr(musa, name)(*arguments)
    except Failed as error:
        return f"{error.status.name} {error}"
    return "SUCCESS"
"""


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    folder = built.libraries("musa")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("FLAGOS_", "MUSA_"))}
    return clean | {
        "FLAGOS_PLATFORM_LIBRARY": str(folder / "libtorch_fl_platform_musa.so"),
        "FLAGOS_HOST_MEMORY": "64MiB",
        "PYTHONPATH": str(ROOT / "tests" / "unit" / "platform_host"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture
def run(environment: dict[str, str]):
    """Runs Python source in a process of its own, `musa` initialised unless told otherwise; gives what it printed."""

    def run_(source: str, *, initialize: bool = True, **settings: str) -> str:
        script = HEAD + "musa.initialize()\n" * initialize + textwrap.dedent(source)
        result = subprocess.run(
            [sys.executable, "-c", script], env=environment | settings, capture_output=True, text=True, timeout=60, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    return run_
