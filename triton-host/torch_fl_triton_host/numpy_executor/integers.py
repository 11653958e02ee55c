"""Integer arithmetic: two's complement that wraps, signed and unsigned variants, as MLIR's ``arith`` defines them.

Where that leaves a result open (division by zero, shifts by the width or more) it is the one that a GPU gives or,
for division, a quotient of 0 with the dividend as remainder.
"""

from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor.elements import HELD, ORDER, held, unsigned
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation


def _divide(a: Any, b: Any) -> Any:
    """Quotient toward zero."""
    safe = np.where(b == 0, 1, b).astype(np.asarray(b).dtype)
    quotient = np.floor_divide(a, safe)
    inexact = np.multiply(quotient, safe) != a
    quotient = quotient + (inexact & ((np.asarray(a) < 0) != (safe < 0)))
    return np.where(b == 0, 0, quotient).astype(np.asarray(a).dtype)


def _floor_divide(a: Any, b: Any) -> Any:
    quotient = _divide(a, b)
    return quotient - (np.not_equal(b, 0) & (a - quotient * b != 0) & ((np.asarray(a) < 0) != (np.asarray(b) < 0)))


def _ceil_divide(a: Any, b: Any) -> Any:
    quotient = _divide(a, b)
    return quotient + (np.not_equal(b, 0) & (a - quotient * b != 0) & ((np.asarray(a) < 0) == (np.asarray(b) < 0)))


def _shift_left(a: Any, b: Any) -> Any:
    width = np.asarray(a).dtype.itemsize * 8
    return np.where(unsigned(b) < width, np.left_shift(a, b), 0)


def _shift_right(a: Any, b: Any) -> Any:
    width = np.asarray(a).dtype.itemsize * 8
    return np.right_shift(a, np.where(unsigned(b) < width, b, width - 1).astype(np.asarray(b).dtype))


def _unsigned_shift_right(a: Any, b: Any) -> Any:
    a, b = unsigned(a), unsigned(b)
    return np.where(b < a.dtype.itemsize * 8, np.right_shift(a, b), 0)


_SIGNED = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or,
    "xori": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum, "divsi": _divide, "floordivsi": _floor_divide,
    "ceildivsi": _ceil_divide, "remsi": lambda a, b: a - _divide(a, b) * b, "shli": _shift_left, "shrsi": _shift_right,
}  # fmt: skip
_UNSIGNED = {
    "divui": lambda a, b: np.where(b == 0, 0, a // np.where(b == 0, 1, b).astype(b.dtype)),
    "ceildivui": lambda a, b: np.where(a == 0, 0, (a - 1) // np.where(b == 0, 1, b).astype(b.dtype) + 1),
    "remui": lambda a, b: np.where(b == 0, a, a % np.where(b == 0, 1, b).astype(b.dtype)),
    "minui": np.minimum, "maxui": np.maximum, "shrui": _unsigned_shift_right,
}  # fmt: skip
#: Of one bit: addition is exclusive or, and the signed value of a set bit is -1.
_ONE_BIT = {
    "addi": np.logical_xor, "subi": np.logical_xor, "muli": np.logical_and, "minsi": np.logical_or,
    "maxsi": np.logical_and, "minui": np.logical_and, "maxui": np.logical_or, "divui": np.logical_and,
}  # fmt: skip


@operation(*(f"arith.{name}" for name in (*_SIGNED, *_UNSIGNED)))
def _binary(op: Operation) -> Compute:
    name, kind = op.name.removeprefix("arith."), HELD[op.results[0].type.element]
    if kind is np.bool_ and name in _ONE_BIT:
        return _ONE_BIT[name]
    if name in _UNSIGNED:
        function = _UNSIGNED[name]
        return lambda a, b: np.asarray(function(unsigned(a), unsigned(b))).astype(kind)
    function = _SIGNED[name]
    return lambda a, b: np.asarray(function(a, b)).astype(kind, copy=False)


@operation("arith.cmpi")
def _compare(op: Operation) -> Compute:
    predicate = op.attributes["predicate"]
    if predicate in ORDER:
        return ORDER[predicate]
    function = ORDER[predicate[1:]]
    if predicate[0] == "u":
        return lambda a, b: function(unsigned(a), unsigned(b))
    if op.operands[0].type.element == "i1":
        return lambda a, b: function(b, a)  # -1 is less than 0
    return function


@operation("arith.addui_extended")
def _add_with_carry(op: Operation) -> Compute:
    def compute(a: Any, b: Any) -> list[Any]:
        total = np.add(a, b)
        return [total, unsigned(total) < unsigned(a)]

    return compute


def high_half(a: Any, b: Any) -> Any:
    """The upper half of the product of unsigned integers, as signed ones of the same bits."""
    a, b = unsigned(a), unsigned(b)
    kind, half = a.dtype.type, a.dtype.itemsize * 4
    shift, mask = kind(half), kind((1 << half) - 1)
    a_low, a_high, b_low, b_high = a & mask, a >> shift, b & mask, b >> shift
    middle = a_high * b_low + (a_low * b_low >> shift)
    low = (middle & mask) + a_low * b_high
    return (a_high * b_high + (middle >> shift) + (low >> shift)).view(f"i{a.dtype.itemsize}")


def signed_high_half(a: Any, b: Any) -> Any:
    """The upper half of the product of signed integers."""
    return high_half(a, b) - np.where(np.asarray(a) < 0, b, 0) - np.where(np.asarray(b) < 0, a, 0)


@operation("arith.mului_extended", "arith.mulsi_extended")
def _wide_multiply(op: Operation) -> Compute:
    upper = high_half if "mului" in op.name else signed_high_half
    return lambda a, b: [np.multiply(a, b), upper(a, b)]


@operation("tt.mulhiui")
def _multiply_high(op: Operation) -> Compute:
    return high_half


@operation("math.absi")
def _absolute(op: Operation) -> Compute:
    return np.abs


def _bits_counted(values: Any) -> Any:
    values = unsigned(values)
    octets = values.reshape(-1).view(np.uint8).reshape(*values.shape, values.dtype.itemsize)
    return np.unpackbits(octets, axis=-1).sum(axis=-1)


def _leading_zeros(values: Any) -> Any:
    values, width = unsigned(values).copy(), np.asarray(values).dtype.itemsize * 8
    for shift in (1, 2, 4, 8, 16, 32):  # fills everything below the highest bit
        if shift < width:
            values |= values >> values.dtype.type(shift)
    return width - _bits_counted(values)


def _trailing_zeros(values: Any) -> Any:
    values = unsigned(values)
    return _bits_counted(~values & (values - values.dtype.type(1)))


BIT_COUNTS = {"ctpop": _bits_counted, "ctlz": _leading_zeros, "cttz": _trailing_zeros}


@operation(*(f"math.{name}" for name in BIT_COUNTS))
def _bit_count(op: Operation) -> Compute:
    count, element = BIT_COUNTS[op.name.removeprefix("math.")], op.results[0].type.element
    return lambda a: held(count(a), element)
