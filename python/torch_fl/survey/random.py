"""Results that depend on random numbers: what can be said of them without the CPU's draws."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .compare import Difference, compare, flat
from .mirror import on_cpu

ENOUGH = 1000  # values from which a mean and a deviation say something
NEAR = 0.25  # of the deviation: at 1000 values, eight times what a fair draw's mean strays


def alike(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> bool:
    """Whether two runs drew the same."""
    return len(ours) == len(theirs) and all(
        a.shape == b.shape and torch.equal(flat(a).nan_to_num(), flat(b).nan_to_num())
        for a, b in zip(ours, theirs, strict=True)
    )


def differences(wanted: Any, found: Any, again: Any) -> list[Difference]:
    """Dtype and shape as the CPU's; the same bits again from the same seed; a mean and a deviation like the CPU's."""
    result = [difference for difference in compare(wanted, found) if difference.aspect != "values"]
    if any(difference.aspect not in ("strides", "sign of zero") for difference in result):
        return result
    first, second = (
        [on_cpu(leaf) for leaf in tree_leaves(run) if isinstance(leaf, torch.Tensor)] for run in (found, again)
    )
    if not alike(first, second):
        result.append(Difference("seed", "the same seed gave other values"))
    ours = [leaf for leaf in tree_leaves(wanted) if isinstance(leaf, torch.Tensor)]
    for a, b in zip(ours, first, strict=True):
        if a.numel() >= ENOUGH and not similar(flat(a).double(), flat(b).double()):
            result.append(Difference("values", f"wanted {law(a)}, found {law(b)}"))
    return result


def similar(a: torch.Tensor, b: torch.Tensor) -> bool:
    if not a.isfinite().all():
        return True
    deviation = a.std().item()
    near = abs(a.mean() - b.mean()) <= NEAR * deviation + 1e-12
    return bool(near and abs(b.std() - deviation) <= NEAR * deviation + 1e-12)


def law(t: torch.Tensor) -> str:
    values = flat(t).double()
    return f"mean {values.mean().item():.4g} and deviation {values.std().item():.4g}"
