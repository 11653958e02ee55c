"""Entries that misbehave on the device on purpose: a harness that cannot fail is worth nothing (test_harness.py)."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .checks import Bench


def differing(cpu: Callable[[torch.Tensor], Any], device: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    return lambda x: (cpu if x.device.type == "cpu" else device)(x)


def raises(kind: type[Exception]) -> Any:
    raise kind("planted")


def warned(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("planted", UserWarning, stacklevel=1)
    return x + 1


def slope(x: torch.Tensor, factor: int) -> Any:
    """The same value whatever the factor is, and another gradient."""
    x = x.detach().requires_grad_()
    y = x * factor
    return torch.autograd.grad((y - y.detach()).sum(), x)[0]


def crash(x: torch.Tensor) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


ENTRIES: dict[str, Callable[..., Any]] = {
    "honest": lambda x: x + 1,
    "values": differing(lambda x: x + 1, lambda x: torch.nextafter(x + 1, x)),
    "sign of zero": differing(lambda x: x * 0, lambda x: x * -0.0),
    "dtype": differing(lambda x: x + 1, lambda x: (x + 1).double()),
    "shape": differing(lambda x: x.sum(0), lambda x: x.sum(0, keepdim=True)),
    "strides": differing(lambda x: (x + 1).t(), lambda x: (x + 1).t().contiguous()),
    "device": differing(lambda x: x + 1, lambda x: x.cpu() + 1),
    "lost alias": differing(lambda x: x[0], lambda x: x[0].clone()),
    "lost identity": differing(lambda x: x.add_(1), lambda x: x.add_(1).view_as(x)),
    "not in place": differing(lambda x: [x.add_(1), None][1], lambda x: None),
    "exception": differing(lambda x: raises(ValueError), lambda x: raises(RuntimeError)),
    "no exception": differing(lambda x: raises(ValueError), lambda x: x + 1),
    "warning": differing(lambda x: x + 1, warned),
    "gradient": differing(lambda x: slope(x, 2), lambda x: slope(x, 3)),
    "refused": lambda x: raises(ValueError),
    "random": torch.rand_like,
    "unseeded": differing(torch.rand_like, lambda x: x + int.from_bytes(os.urandom(4), "big")),
    "crash": differing(lambda x: x + 1, crash),
    "crash on the CPU": differing(crash, lambda x: x + 1),
    "endless": differing(lambda x: x + 1, lambda x: time.sleep(3600)),
}


def check(bench: Bench, entry: Callable[..., Any]) -> None:
    """One run of the entry on a 3 by 3 tensor."""
    bench.run("planted", 0, entry, torch.arange(1.0, 10.0).reshape(3, 3))
