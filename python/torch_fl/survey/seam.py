"""The one place where a call is sent to FlagGems, and where is seen what ran.

Calls go the way of every user's call: a routing file sends an operator to the slot `flaggems`, the operator is called on
tensors of the device. A worker's file routes a group of operators; what those functions call themselves and is not in the
group is served by the CPU fallback.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .policy import BACKEND

DEVICE = "flagos:0"
NAME = "routing file and slot flaggems"
VARIABLE = "FLAGOS_BACKEND_CONFIG"


def write_routes(keys: Iterable[str], file: Path) -> Path:
    """A routing file that sends these operators to FlagGems."""
    file.write_text("".join(f"{key} = {BACKEND}, none\n" for key in keys), "utf-8")
    return file


@contextmanager
def routes(file: Path) -> Iterator[None]:
    """Processes that start meanwhile use this routing file."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(file)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def calls(key: str) -> int:
    """Calls of the operator that this process's FlagGems slot was given until now."""
    from torch_fl import _C

    return _C.dispatch_counts().get((key, BACKEND), 0)


def launches() -> int:
    """Triton kernels launched by this process until now."""
    import torch_fl_triton_host

    return sum(torch_fl_triton_host.launches().values())


def executor() -> str:
    """What executes Triton kernels here: `native` or `numpy`; `gpu` where the plug-in for hosts is not installed."""
    try:
        from torch_fl_triton_host import executable
    except ImportError:
        return "gpu"
    return executable.executor()
