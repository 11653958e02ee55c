"""Conversions between types, and reinterpretation of bits."""

import numpy as np

from torch_fl_triton_host.numpy_executor.elements import HELD, from_bits, held, stored, to_bits, unsigned
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation


@operation("arith.extsi", "arith.trunci", "arith.index_cast", "arith.sitofp")
def _signed(op: Operation) -> Compute:
    source, target = op.operands[0].type.element, op.results[0].type.element
    if target == "i1":
        return lambda a: (np.asarray(a) & 1).astype(np.bool_)
    if source == "i1":  # a set bit is -1
        return lambda a: held(-np.asarray(a).astype(np.int8), target)
    return lambda a: held(a, target)


@operation("arith.extui", "arith.uitofp", "arith.index_castui")
def _unsigned(op: Operation) -> Compute:
    target = op.results[0].type.element
    return lambda a: held(unsigned(a), target)


@operation("arith.extf", "arith.truncf", "tt.fp_to_fp")
def _float(op: Operation) -> Compute:
    target = op.results[0].type.element
    toward_zero = op.attributes.get("rounding") == "rtz"
    return lambda a: held(a, target, toward_zero)


@operation("arith.bitcast", "tt.bitcast")
def _bitcast(op: Operation) -> Compute:
    source, target = op.operands[0].type.element, op.results[0].type.element
    if HELD[source] is HELD[target] and (source == target or source.startswith("i")):
        return lambda a: a
    return lambda a: from_bits(to_bits(a, source).view(stored(target)), target)


@operation("tt.int_to_ptr", "tt.ptr_to_int")
def _address(op: Operation) -> Compute:
    kind = HELD[op.results[0].type.element]
    return lambda a: np.asarray(a).astype(np.int64).view(np.uint64).astype(kind)
