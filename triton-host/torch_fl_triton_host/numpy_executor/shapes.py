"""Operations that place elements: constants, ranges, broadcasting, permutation, joining, selection."""

from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor.elements import HELD, constant
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation


@operation("arith.constant")
def _constant(op: Operation) -> Compute:
    value = constant(op.attributes["value"], op.results[0].type)
    return lambda: value


@operation("ub.poison")
def _poison(op: Operation) -> Compute:
    kind = op.results[0].type
    return lambda: np.zeros(kind.shape, HELD[kind.element])


@operation("tt.make_range")
def _range(op: Operation) -> Compute:
    values = np.arange(op.attributes["start"], op.attributes["end"], dtype=np.int32)
    return lambda: values


@operation("tt.splat", "tt.broadcast")
def _broadcast(op: Operation) -> Compute:
    shape = op.results[0].type.shape
    return lambda a: np.broadcast_to(a, shape)


@operation("tt.unsplat")
def _unsplat(op: Operation) -> Compute:
    return lambda a: a.reshape(-1)[0]


@operation("tt.expand_dims", "tt.reshape")
def _reshape(op: Operation) -> Compute:
    shape = op.results[0].type.shape
    return lambda a: np.reshape(a, shape)


@operation("tt.trans")
def _transpose(op: Operation) -> Compute:
    order = op.attributes["order"]
    return lambda a: np.transpose(a, order)


@operation("tt.join")
def _join(op: Operation) -> Compute:
    return lambda a, b: np.stack((a, b), axis=-1)


@operation("tt.split")
def _split(op: Operation) -> Compute:
    return lambda a: [a[..., 0], a[..., 1]]


@operation("tt.cat")
def _concatenate(op: Operation) -> Compute:
    return lambda a, b: np.concatenate((a, b))


@operation("arith.select")
def _select(op: Operation) -> Compute:
    return np.where


@operation("tt.gather")
def _gather(op: Operation) -> Compute:
    axis = op.attributes["axis"]
    return lambda source, index: np.take_along_axis(source, np.asarray(index, np.int64), axis)


@operation("tt.histogram")
def _histogram(op: Operation) -> Compute:
    bins, kind = op.results[0].type.shape[0], HELD[op.results[0].type.element]

    def compute(values: Any, mask: Any = None) -> Any:
        chosen = values if mask is None else values[mask]
        inside = chosen[(chosen >= 0) & (chosen < bins)]
        return np.bincount(inside, minlength=bins).astype(kind)

    return compute
