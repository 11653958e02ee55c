"""The Triton plug-in, checked as it is installed: with FlagGems on flagos devices, and alone on CPU tensors."""

import os
import subprocess
import sys
import textwrap

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "devices(n): needs that many devices")


@pytest.fixture
def python(tmp_path):
    """Run a program in a fresh process with an own kernel cache: ``python(code, NAME=value, ...)``.

    A value of None takes the variable away.
    """

    def run(code, *, check=True, timeout=120, **environ):
        environ = {"TRITON_CACHE_DIR": str(tmp_path / "cache"), **environ}
        changed = {**os.environ, **{k: v for k, v in environ.items() if v is not None}}
        for name in (k for k, v in environ.items() if v is None):
            changed.pop(name, None)
        program = tmp_path / "program.py"  # Triton reads a kernel's source from its file
        program.write_text(textwrap.dedent(code))
        command = [sys.executable, *(["-P"] if sys.flags.safe_path else []), str(program)]
        done = subprocess.run(
            command, env=changed, cwd=tmp_path, capture_output=True, text=True, timeout=timeout, check=False
        )
        if check and done.returncode:
            pytest.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run


@pytest.fixture
def launches():
    """Launch counts of this test."""
    import torch_fl_triton_host

    torch_fl_triton_host.reset_launches()
    return torch_fl_triton_host.launches
