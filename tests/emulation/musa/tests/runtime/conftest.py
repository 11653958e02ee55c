"""Fixtures: the emulated MUSA runtime and muRAND through ctypes, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2])]

import built


@pytest.fixture(scope="session")
def folder() -> Path:
    return built.libraries("musa")


@pytest.fixture
def run(folder: Path):
    """Runs Python source in a process of its own, with all names of musa_sdk.py; gives the finished process."""

    def run_(source: str, **settings: str) -> subprocess.CompletedProcess:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FLAGOS_", "MUSA_"))}
        clean |= {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", "EMULATED_LIBRARIES": str(folder)}
        clean |= {"FLAGOS_HOST_MEMORY": "64MiB"} | settings
        script = "from musa_sdk import *\n" + textwrap.dedent(source)
        return subprocess.run(
            [sys.executable, "-c", script], env=clean, capture_output=True, text=True, timeout=60, check=False
        )

    return run_


@pytest.fixture
def printed(run):
    """The same for sources that succeed: what they print."""

    def printed_(source: str, **settings: str) -> str:
        result = run(source, **settings)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    return printed_
