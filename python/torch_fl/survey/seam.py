"""The one place where a call is sent to FlagGems, and where is seen what ran.

Calls go the way of every user's call: a routing file sends an operator to the slot `flaggems`, the operator is called on
tensors of the device. A worker's file routes a group of operators; what those functions call themselves and is not in the
group is served by the platform's own kernels, or by the CPU's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from .policy import BACKEND

DEVICE = "flagos:0"
NAME = "routing file and slot flaggems"
VARIABLE = "FLAGOS_BACKEND_CONFIG"


def write_routes(chains: Mapping[str, str], file: Path) -> Path:
    """A routing file with these chains, by operator."""
    file.write_text("".join(f"{key} = {chain}\n" for key, chain in chains.items()), "utf-8")
    return file


def plainly(keys: Iterable[str]) -> dict[str, str]:
    """The chain that sends every call of these operators to FlagGems."""
    return {key: f"{BACKEND}, none" for key in keys}


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
    """Triton kernels launched by this process until now; on a card since :func:`watch` was called."""
    try:
        import torch_fl_triton_host
    except ImportError:
        return _Launched.number
    return sum(torch_fl_triton_host.launches().values())


def watch() -> None:
    """Count launches from now on, where no plug-in of this project executes them: by Triton's own hook."""
    if executor() == "gpu":
        from triton import knobs

        knobs.runtime.launch_enter_hook.add(_Launched.hook)


class _Launched:
    """The hook, which Triton keeps once however often it is given."""

    number = 0

    @classmethod
    def hook(cls, _: Any) -> None:
        cls.number += 1


def executor() -> str:
    """What executes Triton kernels here: `native` or `numpy`; `gpu` where the plug-in for hosts is not installed."""
    try:
        from torch_fl_triton_host import executable
    except ImportError:
        return "gpu"
    return executable.executor()


def synchronize() -> None:
    torch.get_device_module(DEVICE.partition(":")[0]).synchronize()


def release() -> None:
    """Give back the memory that is kept for later: other processes use the device, too."""
    torch.get_device_module(DEVICE.partition(":")[0]).empty_cache()


def usable() -> bool:
    """Whether the process can still use the device: a kernel that leaves its memory on a card takes that away."""
    try:
        synchronize()
    except RuntimeError:
        return False
    return True


def native() -> torch.device | None:
    """The device whose own kernels serve the same memory without FlagGems, or None: what a cost is measured against."""
    from torch_fl import _C

    kind = _C.native_device_type()
    return torch.device(kind, 0) if kind and own_slot() else None


def compilations(seen: Any) -> None:
    """Call `seen` with True for each Triton kernel that this process compiles from now on, False for one from the cache."""
    from triton import knobs

    def listener(*_: Any, cache_hit: bool, **__: Any) -> None:
        seen(not cache_hit)

    knobs.compilation.listener = listener


def own_slot() -> str | None:
    """The platform's installed slot of kernels beside FlagGems', or None; the host's kernels are the CPU's."""
    from torch_fl import _C
    from torch_fl.routing.chain import FLAGGEMS

    return next((slot for slot in _C.known_slots() if slot not in (*FLAGGEMS, "host")), None)


def own_operators() -> frozenset[str]:
    """The operators that :func:`own_slot` has a kernel for."""
    from torch_fl import _C

    slot = own_slot()
    return frozenset(_C.slot_operators(slot)) if slot else frozenset()
