"""Fixtures: the library libcudart.so.12 that is installed beside the platform, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import processes

HEAD = """
from mirror import *
cuda = ctypes.CDLL(CUDART)
"""


@pytest.fixture(scope="session")
def library() -> Path:
    """Its file; it comes with torch-fl-vendor-kernels."""
    file = Path(processes.environment("metax")["EMULATED_LIBRARIES"]) / "torch_fl_metax" / "libcudart.so.12"
    if not file.is_file():
        pytest.skip("boxing is not installed (--with boxing)")
    return file


@pytest.fixture
def printed(library: Path):
    """Runs Python source, `rt` the MACA runtime and `cuda` the library; gives what it printed."""
    variables = processes.environment("metax")
    head = HEAD.replace("CUDART", repr(str(library)))
    return lambda source, **settings: processes.printed(processes.run(head, source, variables | settings))
