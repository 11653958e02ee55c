"""Inputs of unusual layouts: with gaps, expanded, conjugated or negated lazily, empty, without dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .checks import Bench

MOST = 4  # samples for each layout


def strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_quantized


def expanded(t: torch.Tensor) -> torch.Tensor | None:
    """The first row, repeated without memory of its own."""
    return t.narrow(0, 0, 1).expand(t.shape) if t.dim() and t.shape[0] > 1 else None


def reversed_strides(t: torch.Tensor) -> torch.Tensor | None:
    """The same elements in column-major order."""
    return t.permute(*reversed(range(t.dim()))).contiguous().permute(*reversed(range(t.dim()))) if t.dim() > 1 else None


def shifted(t: torch.Tensor) -> torch.Tensor | None:
    """The same elements, one element into a longer storage."""
    longer = torch.zeros(t.numel() + 3, dtype=t.dtype)
    longer[1 : t.numel() + 1] = t.reshape(-1)
    return longer[1 : t.numel() + 1].view(t.shape)


def conjugated(t: torch.Tensor) -> torch.Tensor | None:
    return torch.conj(t.conj_physical()) if t.dtype.is_complex else None


def negated(t: torch.Tensor) -> torch.Tensor | None:
    fractions = t.dtype.is_floating_point or t.dtype.is_complex
    return torch._neg_view(-t) if fractions and t.dtype.itemsize > 1 else None  # one-byte formats do not negate


def empty(t: torch.Tensor) -> torch.Tensor | None:
    return t.narrow(0, 0, 0) if t.dim() else None


def scalar(t: torch.Tensor) -> torch.Tensor | None:
    return t.reshape(-1)[0] if t.dim() and t.numel() else None


EVERY_TENSOR: dict[str, Callable[[torch.Tensor], torch.Tensor | None]] = {
    "column-major": reversed_strides,
    "storage offset": shifted,
    "conj view": conjugated,
    "neg view": negated,
}
INPUT_ONLY: dict[str, Callable[[torch.Tensor], torch.Tensor | None]] = {
    "expanded": expanded,
    "empty": empty,
    "0-d": scalar,
}


def check(bench: Bench, info: Any, samples: list[Any]) -> None:
    from .operators import of, program

    for number, sample in bench.samples(samples, "noncontiguous"):
        try:
            changed = sample.noncontiguous()
        except (RuntimeError, NotImplementedError, TypeError):  # a layout or dtype that has no such form
            continue
        bench.run("noncontiguous", number, program(info.op), *of(changed))
    functions = {"": info.op, " inplace": info.inplace_variant}
    for name, change in EVERY_TENSOR.items():
        for number, sample in bench.samples(samples, name, MOST):
            changed = sample.transform(lambda t, change=change: every(t, change))
            both(bench, name, number, functions, of(changed), sample.broadcasts_input)
    for name, change in INPUT_ONLY.items():
        for number, sample in bench.samples(samples, name, MOST):
            if strided(sample.input) and (value := change(sample.input)) is not None:
                both(bench, name, number, functions, (value, *of(sample)[1:]), sample.broadcasts_input)


def both(bench: Bench, name: str, number: int, functions: dict[str, Any], arguments: Any, broadcasts: bool) -> None:
    from .operators import program

    for suffix, function in functions.items():
        if function is not None and not (suffix and broadcasts):
            bench.run(name + suffix, number, program(function), *arguments)


def every(value: Any, change: Callable[[torch.Tensor], torch.Tensor | None]) -> Any:
    changed = change(value) if strided(value) else None
    return value if changed is None else changed
