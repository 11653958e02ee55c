"""Whether two results are the same, within what the dtype can hold."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .mirror import on_cpu

TOLERANCE = {  # relative, absolute: room for another order of a sum of some hundred terms
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1.3e-5, 1e-4),
    torch.float16: (1e-2, 2e-2),
    torch.bfloat16: (3e-2, 6e-2),
    torch.complex64: (1.3e-5, 1e-4),
    torch.complex128: (1e-7, 1e-7),
}


class Difference(AssertionError):
    """The device's outcome is not the CPU's; `aspect` is one word or two."""

    def __init__(self, aspect: str, message: str) -> None:
        super().__init__(message)
        self.aspect = aspect


def compare(wanted: Any, found: Any, exact: Any = None) -> list[Difference]:
    """All differences between two trees of results, the CPU's and the device's.

    Args:
        exact: the CPU's results in double precision. Where given, a value passes that is as near to it as twice the
            CPU's own distance: half precision leaves room for both to be right.
    """
    ours, theirs = tree_leaves(wanted), tree_leaves(found)
    if len(ours) != len(theirs):
        return [Difference("structure", f"wanted {len(ours)} results, found {len(theirs)}")]
    precise = tree_leaves(exact) if exact is not None else [None] * len(ours)
    differences = []
    for number, (a, b, c) in enumerate(zip(ours, theirs, precise, strict=True)):
        where = f"result {number}: " if len(ours) > 1 else ""
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
            differences.append(Difference("structure", f"{where}wanted {type(a).__name__}, found {type(b).__name__}"))
        elif isinstance(a, torch.Tensor):
            differences += [Difference(d.aspect, f"{where}{d}") for d in of_tensors(a, b, c)]
        elif a != b and not (isinstance(a, float) and math.isnan(a) and isinstance(b, float) and math.isnan(b)):
            differences.append(Difference("values", f"{where}wanted {a!r}, found {b!r}"))
    return differences


def of_tensors(a: torch.Tensor, b: torch.Tensor, exact: torch.Tensor | None) -> list[Difference]:
    if b.device.type == "cpu":
        return [Difference("device", f"on {b.device}")]
    if a.dtype != b.dtype:
        return [Difference("dtype", f"wanted {a.dtype}, found {b.dtype}")]
    if a.shape != b.shape:
        return [Difference("shape", f"wanted {tuple(a.shape)}, found {tuple(b.shape)}")]
    differences = of_values(a, on_cpu(b), exact)
    if a.stride() != b.stride() and a.numel() > 1:
        differences.append(Difference("strides", f"wanted {a.stride()}, found {b.stride()}"))
    return differences


def of_values(a: torch.Tensor, b: torch.Tensor, exact: torch.Tensor | None) -> list[Difference]:
    a, b = flat(a), flat(b)
    if a.numel() == 0 or torch.equal(a, b):
        return signs(a, b)
    if not a.dtype.is_floating_point:
        return [Difference("values", tell(a, b, a != b))]
    relative, absolute = TOLERANCE[a.dtype]
    x, y = a.double(), b.double()
    good = close(y, x, relative, absolute)
    if exact is not None and not good.all():
        z = flat(exact.to(torch.complex128) if exact.is_complex() else exact).double()
        slack = torch.nan_to_num((x - z).abs(), nan=0.0, posinf=0.0) * 2
        good |= close(y, z, relative, absolute) | ((y - z).abs() <= slack)
        limit = torch.finfo(a.dtype).max  # beyond it both are right to overflow or to stop short of it
        good |= (z.abs() >= limit * 0.99) & (y.abs() >= limit * 0.99) & (y.sign() == z.sign())
    return signs(a, b) if good.all() else [Difference("values", tell(a, b, ~good))]


def close(y: torch.Tensor, x: torch.Tensor, relative: float, absolute: float) -> torch.Tensor:
    return torch.isclose(y, x, rtol=relative, atol=absolute, equal_nan=True)


def signs(a: torch.Tensor, b: torch.Tensor) -> list[Difference]:
    if not a.dtype.is_floating_point:
        return []
    other = (a == 0) & (b == 0) & (a.signbit() != b.signbit())
    return [Difference("sign of zero", tell(a, b, other))] if other.any() else []


def flat(t: torch.Tensor) -> torch.Tensor:
    """One-dimensional, without lazy bits and complex numbers."""
    t = t.detach().resolve_conj().resolve_neg().contiguous()
    return (torch.view_as_real(t) if t.is_complex() else t).reshape(-1)


def tell(a: torch.Tensor, b: torch.Tensor, different: torch.Tensor) -> str:
    first = int(different.nonzero()[0])
    return f"{int(different.sum())} of {a.numel()} differ; first wanted {a[first].item()!r}, found {b[first].item()!r}"
