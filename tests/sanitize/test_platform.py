"""The platform library alone, without an interpreter: eight threads use everything at once."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("guard", ["0", "1"])
def test_eight_threads(compiled, guard):
    program = compiled("../unit/platform_host/stress.cpp")
    (library,) = Path(os.environ["PYTHONPATH"]).glob("torch_fl/lib/libtorch_fl_platform_host.so")
    settings = {"FLAGOS_HOST_GUARD": guard, "FLAGOS_HOST_MEMORY": "64MiB"}
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | settings
    done = subprocess.run([program, library, "40"], env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "calls 1 failures 1\n"), done.stderr
