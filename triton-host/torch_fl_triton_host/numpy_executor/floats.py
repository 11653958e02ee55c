"""Floating-point arithmetic: rounded to the type after each operation."""

from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor.elements import HELD, ORDER, held
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation

_BINARY = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod,
    # maximumf gives NaN where an operand is one, maxnumf the other operand
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "tt.precise_divf": np.divide, "math.copysign": np.copysign, "math.atan2": np.arctan2, "math.powf": np.power,
}  # fmt: skip


@operation(*_BINARY)
def _binary(op: Operation) -> Compute:
    function, element = _BINARY[op.name], op.results[0].type.element
    return lambda a, b: held(function(a, b), element)


@operation("arith.negf")
def _negate(op: Operation) -> Compute:
    return np.negative


def _ordered(a: Any, b: Any) -> Any:
    return ~(np.isnan(a) | np.isnan(b))


@operation("arith.cmpf")
def _compare(op: Operation) -> Compute:
    """``o...`` is false and ``u...`` is true where an operand is NaN."""
    predicate = op.attributes["predicate"]
    if predicate in ("true", "false"):
        return lambda a, b: np.full(np.broadcast(a, b).shape, predicate == "true")[()]
    if predicate == "ord":
        return _ordered
    if predicate == "uno":
        return lambda a, b: ~_ordered(a, b)
    function = ORDER[predicate[1:]]
    if predicate[0] == "o":
        return (lambda a, b: _ordered(a, b) & np.not_equal(a, b)) if predicate == "one" else function
    return lambda a, b: function(a, b) | ~_ordered(a, b)


def fused(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` with the product not rounded, as far as numpy's widest type reaches."""
    wide = np.longdouble if np.asarray(a).dtype == np.float64 else np.float64
    return np.asarray(a, wide) * np.asarray(b, wide) + np.asarray(c, wide)


@operation("math.fma")
def _fused(op: Operation) -> Compute:
    element = op.results[0].type.element
    return lambda a, b, c: held(fused(a, b, c), element)


@operation("tt.clampf")
def _clamp(op: Operation) -> Compute:
    if op.attributes.get("propagateNan") == "all":
        return lambda x, low, high: np.minimum(np.maximum(x, low), high)
    return lambda x, low, high: np.fmin(np.fmax(x, low), high)


def to_integer(values: Any, bits: int, signed: bool) -> Any:
    """Toward zero; what does not fit becomes the nearest that does, and NaN 0, as a GPU's conversion gives."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    wide = np.trunc(np.asarray(values, np.float64))
    inside = (wide >= low) & (wide < high + 1)
    kind = np.int64 if signed else np.uint64
    result = np.where(inside, wide, 0).astype(kind)
    result = np.where(~inside & (wide > 0), kind(high), np.where(~inside & (wide < 0), kind(low), result))
    return result.view(np.int64)


@operation("arith.fptosi", "arith.fptoui")
def _to_integer(op: Operation) -> Compute:
    kind = op.results[0].type
    signed = op.name.endswith("si")
    if kind.element == "i1":
        return lambda a: np.trunc(a) != 0
    return lambda a: to_integer(a, kind.bits, signed).astype(HELD[kind.element])
