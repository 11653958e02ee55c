"""The harness itself: planted faults are reported by processes that have torch and the device loaded, and sound code is not."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, torch
assert (torch.ones(8, device="flagos") * 2).sum().item() == 16
library = ctypes.CDLL({library!r})
print("value", library.{call})
"""
FAULTS = {
    "address": {
        "overflow(4)": "heap-buffer-overflow",
        "use_after_free()": "heap-use-after-free",
        "undefined(1)": "signed integer overflow",
    },
    "thread": {"race()": "data race"},
}
KIND = os.environ["TORCH_FL_SANITIZE"]


@pytest.fixture(scope="module")
def planted(compiled):
    return compiled("planted.cpp", "-shared", "-fPIC")


@pytest.fixture
def call(planted, tmp_path):
    """Run a function of the planted library in a process of its own: its status and its reports."""

    def run(call):
        env = dict(os.environ)
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in env:
                env[name] += f":log_path={tmp_path / 'report'}"  # the last one counts: not a fault of the run
        program = PROGRAM.format(library=str(planted), call=call)
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
        return done, "".join(file.read_text() for file in tmp_path.glob("report.*"))

    return run


@pytest.mark.parametrize("name", FAULTS[KIND])
def test_a_planted_fault_is_reported(call, name):
    done, report = call(name)
    told = report + done.stderr  # that is where undefined behaviour is reported
    assert FAULTS[KIND][name] in told and "planted.cpp" in told, done.stdout + told
    assert done.returncode != 0


def test_sound_code_is_not_reported(call):
    done, report = call("harmless()")
    assert (done.returncode, done.stdout, done.stderr, report) == (0, "value 7\n", "", "")
