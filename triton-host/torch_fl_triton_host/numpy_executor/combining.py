"""Operations that bring elements of a tensor together: reductions and scans by a region of code, and matrix products."""

from collections.abc import Callable
from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor.elements import HELD, held
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation

Combine = Callable[[list[Any], list[Any]], list[Any]]  #: the region of a reduction or scan, on arrays


def reduce(tensors: list[Any], axis: int, combine: Combine) -> list[Any]:
    """Combine neighbours along `axis` until one is left, so the order of elements is kept."""
    parts = [np.moveaxis(tensor, axis, 0) for tensor in tensors]
    while len(parts[0]) > 1:
        even = len(parts[0]) // 2 * 2
        rest = [part[even:] for part in parts]
        parts = combine([part[:even:2] for part in parts], [part[1:even:2] for part in parts])
        if len(rest[0]):
            parts = [np.concatenate(pair) for pair in zip(parts, rest, strict=True)]
    return [part[0] for part in parts]


def scan(tensors: list[Any], axis: int, reverse: bool, combine: Combine) -> list[Any]:
    """The inclusive scan along `axis`, in steps of 1, 2, 4, ... elements."""
    parts = [np.moveaxis(tensor, axis, 0) for tensor in tensors]
    parts = [part[::-1] for part in parts] if reverse else parts
    step = 1
    while step < len(parts[0]):
        done = combine([part[:-step] for part in parts], [part[step:] for part in parts])
        parts = [np.concatenate((part[:step], more)) for part, more in zip(parts, done, strict=True)]
        step *= 2
    parts = [part[::-1] for part in parts] if reverse else parts
    return [np.moveaxis(part, 0, axis) for part in parts]


@operation("tt.dot")
def _dot(op: Operation) -> Compute:
    """``a @ b + c``, products and sums in the type of the result; tf32 and its like are precisions of a GPU."""
    element = op.results[0].type.element
    kind = np.float32 if element in ("f16", "bf16") else HELD[element]

    def compute(a: Any, b: Any, c: Any) -> Any:
        return held(np.matmul(np.asarray(a, kind), np.asarray(b, kind)) + c, element)

    return compute
