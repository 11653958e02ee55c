"""MetaX's own tests, on an installed package with a MetaX card, real or emulated."""

import os
import textwrap

import pytest
from torch_fl_tests import processes


@pytest.fixture
def python(tmp_path):
    """Runs a program in a process of its own: ``python(code, NAME=value, ...)``."""

    def run(code, **environ):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_") and "TF32" not in name}
        done = processes.run(textwrap.dedent(code), {**kept, **environ}, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run
