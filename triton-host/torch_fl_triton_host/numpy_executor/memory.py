"""Loads, stores and atomic operations, through the functions that Triton ships for its own interpreter."""

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from triton._C.libtriton import interpreter

from torch_fl_triton_host.numpy_executor.elements import HELD, from_bits, held, stored, to_bits, unsigned
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation, Type

_RMW = interpreter.RMW_OP
_ATOMICS = {
    "fadd": _RMW.FADD, "add": _RMW.ADD, "max": _RMW.MAX, "min": _RMW.MIN, "umax": _RMW.UMAX, "umin": _RMW.UMIN,
    "and": _RMW.AND, "or": _RMW.OR, "xor": _RMW.XOR, "exch": _RMW.XCHG,
}  # fmt: skip
_ORDERS = {
    "relaxed": interpreter.MEM_SEMANTIC.RELAXED, "acquire": interpreter.MEM_SEMANTIC.ACQUIRE,
    "release": interpreter.MEM_SEMANTIC.RELEASE, "acq_rel": interpreter.MEM_SEMANTIC.ACQUIRE_RELEASE,
}  # fmt: skip
_half_width = threading.Lock()  # makes atomics of 16 bits atomic among kernels that numpy runs


def _flat(values: Any, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    # A copy: Triton's functions take writable, contiguous arrays only.
    return np.array(np.broadcast_to(np.asarray(values, kind), shape), order="C").reshape(-1)


def _mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    return _flat(True if mask is None else mask, shape, np.bool_)


def _read(addresses: np.ndarray, mask: np.ndarray, other: np.ndarray, element: str) -> np.ndarray:
    return from_bits(interpreter.load(addresses, mask, other, stored(element)), element)


def _write(addresses: np.ndarray, values: np.ndarray, mask: np.ndarray, element: str) -> None:
    interpreter.store(addresses, to_bits(values, element), mask)


@operation("tt.addptr")
def _add_to_pointer(op: Operation) -> Compute:
    size = op.results[0].type.pointee.bytes
    return lambda pointer, offset: np.add(pointer, (np.asarray(offset, np.int64) * size).view(np.uint64))


@operation("tt.load")
def _load(op: Operation) -> Compute:
    element = op.operands[0].type.pointee.element

    def compute(pointers: Any, mask: Any = None, other: Any = 0) -> Any:
        shape = np.shape(pointers)
        filling = to_bits(_flat(other, shape, HELD[element]), element)
        return _read(_flat(pointers, shape, np.uint64), _mask(mask, shape), filling, element).reshape(shape)

    return compute


@operation("tt.store")
def _store(op: Operation) -> Compute:
    element = op.operands[0].type.pointee.element

    def compute(pointers: Any, values: Any, mask: Any = None) -> None:
        shape = np.shape(pointers)
        _write(_flat(pointers, shape, np.uint64), _flat(values, shape, HELD[element]), _mask(mask, shape), element)

    return compute


_HALF_WIDTH: dict[str, Callable] = {"fadd": np.add, "max": np.maximum, "min": np.minimum, "exch": lambda old, new: new}


def _half_width_atomic(
    name: str, kind: Type, addresses: np.ndarray, values: np.ndarray, mask: np.ndarray
) -> np.ndarray:
    """Elements of 16 bits, which Triton's function does not have, one after the other."""
    function, element = _HALF_WIDTH[name], kind.element
    former = np.zeros(len(addresses), HELD[element])
    nothing, one = to_bits(np.zeros(1, HELD[element]), element), np.ones(1, np.bool_)
    with _half_width:
        for i in np.flatnonzero(mask):
            former[i : i + 1] = _read(addresses[i : i + 1], one, nothing, element)
            _write(addresses[i : i + 1], held(function(former[i : i + 1], values[i : i + 1]), element), one, element)
    return former


@operation("tt.atomic_rmw")
def _atomic(op: Operation) -> Compute:
    kind, name = op.operands[0].type.pointee, op.attributes["operation"]
    order = _ORDERS[op.attributes["order"]]
    if kind.bits == 16:
        run = functools.partial(_half_width_atomic, name, kind)
    else:
        run = functools.partial(_full_width_atomic, _ATOMICS[name], order)

    def compute(pointers: Any, values: Any, mask: Any = None) -> Any:
        shape = np.shape(pointers)
        arguments = _flat(pointers, shape, np.uint64), _flat(values, shape, HELD[kind.element]), _mask(mask, shape)
        return np.asarray(run(*arguments)).reshape(shape)

    return compute


def _full_width_atomic(
    what: Any, order: Any, addresses: np.ndarray, values: np.ndarray, mask: np.ndarray
) -> np.ndarray:
    if what in (_RMW.UMAX, _RMW.UMIN):
        return interpreter.atomic_rmw(what, addresses, unsigned(values), mask, order).view(values.dtype)
    return interpreter.atomic_rmw(what, addresses, values, mask, order)


@operation("tt.atomic_cas")
def _compare_and_swap(op: Operation) -> Compute:
    kind = HELD[op.results[0].type.element]
    order = _ORDERS[op.attributes["order"]]

    def compute(pointers: Any, expected: Any, new: Any) -> Any:
        shape = np.shape(pointers)
        former = interpreter.atomic_cas(
            _flat(pointers, shape, np.uint64), _flat(expected, shape, kind), _flat(new, shape, kind), order
        )
        return np.asarray(former).reshape(shape)

    return compute
