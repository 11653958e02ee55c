"""How elements of Triton's types are held in numpy arrays, and what rounds them.

Integers are held signed, i1 as bool, pointers as uint64.  Types that numpy
lacks (bf16, the 8-bit ones) are held as float32 on the grid of the type: after
each operation the value is rounded to it, as hardware with that type does.
"""

import functools
from typing import Any

import numpy as np

from torch_fl_triton_host.ttir.attributes import FP8, from_fp8
from torch_fl_triton_host.ttir.ir import Dense, Type

HELD = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64, "ptr": np.uint64,
    "f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64, **dict.fromkeys(FP8, np.float32),
}  # fmt: skip
#: What lies in memory, where that is not what is held.
STORED = {"i1": np.uint8, "bf16": np.uint16, **dict.fromkeys(FP8, np.uint8)}
#: Comparisons, by the part of MLIR's predicates that says neither signedness nor what NaN gives.
ORDER = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def held(values: Any, element: str, toward_zero: bool = False) -> Any:
    """Real or integer `values` as elements of a type: rounded to nearest even (or toward zero) if floating point."""
    kind = HELD[element]
    if element == "bf16":
        return _bf16(np.asarray(values, np.float32), toward_zero)
    if element in FP8:
        return _decoded(element)[_fp8_bits(np.asarray(values, np.float32), element, toward_zero)]
    if toward_zero and element in ("f16", "f32"):
        wide = np.asarray(values, np.float64)
        near = wide.astype(kind)
        return np.where(np.abs(near.astype(np.float64)) > np.abs(wide), np.nextafter(near, kind(0)), near)
    return np.asarray(values).astype(kind, copy=False)


def _bf16(values: np.ndarray, toward_zero: bool = False) -> np.ndarray:
    bits = values.view(np.uint32)
    if not toward_zero:
        bits = bits + (np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1)))
    return np.where(np.isnan(values), values, (bits & np.uint32(0xFFFF0000)).view(np.float32))


@functools.cache
def _decoded(element: str) -> np.ndarray:
    return np.array([from_fp8(bits, element) for bits in range(256)], np.float32)


def _fp8_bits(values: np.ndarray, element: str, toward_zero: bool = False) -> np.ndarray:
    """Bits of the nearest 8-bit numbers; what is too large becomes the largest finite one, NaN stays NaN."""
    table = _decoded(element)[:128]
    grid = table[np.isfinite(table)]  # of one sign, in the order of the bits
    size = np.minimum(np.abs(values), grid[-1])
    above = np.minimum(np.searchsorted(grid, size), len(grid) - 1)  # the first that is not smaller
    below = np.maximum(above - 1, 0)
    exact = grid[above] == size
    to_upper, to_lower = grid[above] - size, size - grid[below]
    lower = (to_lower < to_upper) | ((to_lower == to_upper) & (below % 2 == 0)) | toward_zero
    bits = np.where(exact | ~lower, above, below) | np.where(np.signbit(values), 128, 0)
    not_a_number = int(np.flatnonzero(np.isnan(_decoded(element)))[0])
    if element.endswith("FNUZ") or element == "f8E4M3B11FNUZ":
        bits = np.where(bits == 128, 0, bits)  # there is no negative zero
    return np.where(np.isnan(values), not_a_number, bits).astype(np.uint8)


def to_bits(values: Any, element: str) -> np.ndarray:
    """Elements as they lie in memory."""
    values = np.asarray(values, HELD[element])
    if element == "bf16":
        upper = (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(values) & (upper & 0x7F == 0), upper | np.uint16(0x40), upper)
    if element in FP8:
        infinite = np.isinf(values) & np.isinf(_decoded(element)).any()  # loaded from memory: a conversion gives none
        pattern = int(np.argmax(np.isinf(_decoded(element)))) | np.where(np.signbit(values), 128, 0)
        return np.where(infinite, pattern, _fp8_bits(values, element)).astype(np.uint8)
    return values.astype(STORED[element]) if element in STORED else values


def from_bits(raw: np.ndarray, element: str) -> np.ndarray:
    """The inverse of :func:`to_bits`."""
    if element == "bf16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if element in FP8:
        return _decoded(element)[raw]
    return raw != 0 if element == "i1" else raw


def stored(element: str) -> np.dtype:
    """The numpy type of what lies in memory."""
    return np.dtype(STORED.get(element, HELD[element]))


def unsigned(values: Any) -> Any:
    """Integers as the unsigned ones of the same bits; booleans as 0 and 1."""
    values = np.asarray(values)
    return values.astype(np.uint8) if values.dtype == np.bool_ else values.view(_UNSIGNED[values.dtype.itemsize])


def constant(value: Any, kind: Type) -> Any:
    """The value of an ``arith.constant``."""
    if not isinstance(value, Dense):
        return held(value, kind.element)[()]
    if value.splat:
        return np.broadcast_to(held(value.values[0], kind.element), kind.shape)
    return held(np.array(value.values), kind.element).reshape(kind.shape)
