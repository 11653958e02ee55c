"""Python programs in processes of their own, in which an emulated SDK starts afresh; and what is known of that SDK."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import built

HERE = Path(__file__).resolve().parent
PLATFORM = "FLAGOS_EMULATED_PLATFORM"  # set by build-locally.py


def platform() -> str:
    """The platform whose emulated SDK is under test."""
    named = os.environ.get(PLATFORM)
    assert named, f"set {PLATFORM} to the platform whose emulated SDK is to be tested"
    return named


def facts(name: str) -> dict:
    """What its folder's sdk.py says."""
    return runpy.run_path(str(HERE / name / "sdk.py"))


def environment(name: str, *paths: Path) -> dict[str, str]:
    """Variables of a process that imports from `paths` and from here; no setting of the SDK's or ours is left in them."""
    sdk = facts(name)
    dropped = ("FLAGOS_", sdk["title"])
    clean = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return clean | {
        "PYTHONPATH": os.pathsep.join(map(str, (*paths, HERE))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "EMULATED_LIBRARIES": str(built.libraries(name)),
        "EMULATED_PREFIX": sdk["prefix"],
        "EMULATED_LIBRARY": sdk["library"],
        "FLAGOS_HOST_MEMORY": "64MiB",
    }


def run(head: str, source: str, variables: dict[str, str]) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", head + textwrap.dedent(source)]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)


def printed(done: subprocess.CompletedProcess) -> str:
    """What a program that succeeded has printed."""
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
