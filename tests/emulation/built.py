"""Where the libraries of an emulated SDK are that tests run against: CMake builds them, nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "FLAGOS_EMULATED_LIBRARIES"  # set by build-locally.py


def libraries(platform: str) -> Path:
    """The folder that has a platform's device library and the emulated SDK below it.

    It is the one that FLAGOS_EMULATED_LIBRARIES names, else the newest below the checkout's `build*`. Fails the test where
    there is none.
    """
    name = f"libtorch_fl_platform_{platform}.so"
    named = os.environ.get(VARIABLE)
    if named:
        assert (Path(named) / name).is_file(), f"{VARIABLE}={named}: there is no {name}"
        return Path(named)
    built = sorted(ROOT.glob(f"build*/**/{name}"), key=lambda path: path.stat().st_mtime)
    if not built:
        pytest.fail(
            f"no {name} below {ROOT}/build*: run `build-locally.py <variant> --emulated`, or build with"
            f" -DTORCH_FL_EMULATED=ON and set {VARIABLE} to the folder that has it"
        )
    return built[-1].parent
