"""The one place where a call is sent to a FlagGems function, and where is seen what ran."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

DEVICE = "flagos:0"


def table() -> dict[str, str]:
    """FlagGems' operators and the names of the functions that serve them, in FlagGems' order."""
    return {key: function.__name__ for key, function in functions().items()}


def functions() -> dict[str, Any]:
    """FlagGems' operators and functions, of those that this PyTorch's version asks for."""
    import flag_gems

    return {entry[0]: entry[1] for entry in flag_gems._FULL_CONFIG if len(entry) < 3 or entry[2]()}


def launches() -> int:
    """Triton kernels launched by this process until now."""
    try:
        import torch_fl_triton_host
    except ImportError:
        from flagos_triton import runner  # type: ignore[import-not-found]

        return runner.NLAUNCH[0]
    counts = torch_fl_triton_host.launches()
    return sum(counts.values()) if hasattr(counts, "values") else int(counts)


def executor() -> str:
    """What executes Triton kernels here."""
    return os.environ.get("TORCH_FL_TRITON_EXECUTOR", "native")


class Library:
    """Puts FlagGems' function in the place of the runtime's kernel for one operator, as FlagGems' own `enable` does."""

    name = "torch.library"

    def __init__(self) -> None:
        self.functions = functions()

    @contextmanager
    def routed(self, key: str) -> Iterator[None]:
        library = torch.library.Library("aten", "IMPL")
        library.impl(key, self.functions[key], "PrivateUse1", allow_override=True)
        try:
            yield
        finally:
            library._destroy()
