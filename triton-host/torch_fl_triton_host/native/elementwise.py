"""One element of an operation as a C expression.

Representation in C: i1 is ``_Bool``, integers are the signed type of their width, a pointer is ``int64_t``, f64 is
``double``, and every narrower float is a ``float`` that holds a value of its format: it is rounded after each operation,
as the front end's types say. Integers wrap, since the compiler runs with ``-fwrapv``.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from ..ttir.ir import Operation, Type
from .extern import extern_expression
from .unsupported import Unsupported

C_TYPES = {
    "i1": "_Bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "index": "int64_t", "ptr": "int64_t",
    "f64": "double",
}  # fmt: skip
UNSIGNED = {
    "i8": "uint8_t",
    "i16": "uint16_t",
    "i32": "uint32_t",
    "i64": "uint64_t",
    "index": "uint64_t",
    "ptr": "uint64_t",
}
#: Formats narrower than float32: how they lie in memory, and the suffix of the functions that convert them.
NARROW = {
    "f16": ("uint16_t", "f16"), "bf16": ("uint16_t", "bf16"), "f8E5M2": ("uint8_t", "e5m2"), "f8E4M3FN": ("uint8_t", "e4m3"),
    "f8E4M3B11FNUZ": ("uint8_t", "e4m3b11"), "f8E5M2FNUZ": ("uint8_t", "e5m2fnuz"), "f8E4M3FNUZ": ("uint8_t", "e4m3fnuz"),
}  # fmt: skip

INTEGER = {
    "addi": "{a} + {b}", "subi": "{a} - {b}", "muli": "{a} * {b}", "andi": "{a} & {b}", "ori": "{a} | {b}", "xori": "{a} ^ {b}",
    "minsi": "{a} < {b} ? {a} : {b}", "maxsi": "{a} > {b} ? {a} : {b}",
    "minui": "({U}){a} < ({U}){b} ? {a} : {b}", "maxui": "({U}){a} > ({U}){b} ? {a} : {b}",
    "shli": "({U}){b} < {bits} ? ({U}){a} << ({b} & {last}) : 0",
    "shrui": "({U}){b} < {bits} ? ({U}){a} >> ({b} & {last}) : 0",
    "shrsi": "({U}){b} < {bits} ? {a} >> ({b} & {last}) : {a} >> {last}",
    "divui": "{b} == 0 ? 0 : ({T})(({U}){a} / ({U})({b} + ({b} == 0)))",
    "remui": "{b} == 0 ? {a} : ({T})(({U}){a} % ({U})({b} + ({b} == 0)))",
}  # fmt: skip
BOOLEAN = {
    "addi": "{a} ^ {b}", "subi": "{a} ^ {b}", "muli": "{a} & {b}", "andi": "{a} & {b}", "ori": "{a} | {b}", "xori": "{a} ^ {b}",
    "minui": "{a} & {b}", "maxui": "{a} | {b}", "minsi": "{a} | {b}", "maxsi": "{a} & {b}", "divui": "{a}", "divsi": "{a}",
    "remui": "{a} & !{b}", "remsi": "{a} & !{b}", "shli": "{a} & !{b}", "shrui": "{a} & !{b}", "shrsi": "{a}",
}  # fmt: skip
FLOAT = {
    "addf": "{a} + {b}", "subf": "{a} - {b}", "mulf": "{a} * {b}", "divf": "{a} / {b}", "negf": "-{a}", "remf": "fmod{f}({a}, {b})",
    "minimumf": "({a} < {b} || {a} != {a}) ? {a} : {b}", "maximumf": "({a} > {b} || {a} != {a}) ? {a} : {b}",
    "minnumf": "({a} < {b} || {b} != {b}) ? {a} : {b}", "maxnumf": "({a} > {b} || {b} != {b}) ? {a} : {b}",
}  # fmt: skip
COMPARE_INTEGER = {
    "eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=",
}  # fmt: skip
COMPARE_FLOAT = {
    "oeq": "{a} == {b}", "ogt": "{a} > {b}", "oge": "{a} >= {b}", "olt": "{a} < {b}", "ole": "{a} <= {b}",
    "one": "({a} < {b}) | ({a} > {b})", "ord": "({a} == {a}) & ({b} == {b})", "ueq": "!(({a} < {b}) | ({a} > {b}))",
    "ugt": "!({a} <= {b})", "uge": "!({a} < {b})", "ult": "!({a} >= {b})", "ule": "!({a} > {b})", "une": "{a} != {b}",
    "uno": "({a} != {a}) | ({b} != {b})", "false": "0", "true": "1",
}  # fmt: skip
MATH = {
    **{name: f"{name}{{f}}({{a}})" for name in ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc"]},
    **{name: f"{name}{{f}}({{a}}, {{b}})" for name in ("copysign", "atan2")},
    "powf": "pow{f}({a}, {b})", "fpowi": "pow{f}({a}, {b})", "sqrt": "__builtin_sqrt{f}({a})", "rsqrt": "1 / __builtin_sqrt{f}({a})",
    "floor": "__builtin_floor{f}({a})", "ceil": "__builtin_ceil{f}({a})", "trunc": "__builtin_trunc{f}({a})",
    "round": "round{f}({a})", "roundeven": "__builtin_rint{f}({a})", "absf": "__builtin_fabs{f}({a})",
    "fma": "__builtin_fma{f}({a}, {b}, {c})", "isnan": "{a} != {a}", "isinf": "__builtin_fabs{f}({a}) == __builtin_inf()",
    "isfinite": "__builtin_fabs{f}({a}) < __builtin_inf()",
}  # fmt: skip
BIT_COUNTS = {
    "ctpop": "__builtin_popcount{ll}(({U}){a})", "ctlz": "{a} ? __builtin_clz{ll}(({U}){a}) - ({builtin} - {bits}) : {bits}",
    "cttz": "{a} ? __builtin_ctz{ll}(({U}){a}) : {bits}",
}  # fmt: skip


def c_type(kind: Type) -> str:
    """The C type of one element while it is computed with."""
    return C_TYPES.get(kind.element, "float")


def memory_type(kind: Type) -> str:
    """The C type of one element in device memory."""
    if kind.element == "i1":
        return "uint8_t"
    return NARROW[kind.element][0] if kind.element in NARROW else c_type(kind)


def from_memory(kind: Type, text: str) -> str:
    """The expression that reads: ``text`` is one of :func:`memory_type`."""
    if kind.element == "i1":
        return f"({text} != 0)"
    return f"from_{NARROW[kind.element][1]}({text})" if kind.element in NARROW else text


def to_memory(kind: Type, text: str) -> str:
    return f"to_{NARROW[kind.element][1]}({text})" if kind.element in NARROW else text


def rounded(kind: Type, text: str) -> str:
    """``text`` rounded to the format of ``kind``."""
    return f"round_{NARROW[kind.element][1]}({text})" if kind.element in NARROW else text


def literal(kind: Type, value: Any) -> str:
    """A constant in C."""
    if kind.is_float:
        if math.isnan(value):
            return f'({"-" if struct.pack(">d", value)[0] >> 7 else ""}__builtin_nan{"" if kind.element == "f64" else "f"}(""))'
        if math.isinf(value):
            return f"({'-' if value < 0 else ''}__builtin_inf{'' if kind.element == 'f64' else 'f'}())"
        text = value.hex() if kind.element == "f64" else f"{value.hex()}f"
        return f"({text})" if text.startswith("-") else text
    value = int(value)
    if kind.bits == 64:
        return "INT64_MIN" if value == -(1 << 63) else f"INT64_C({value})"
    if value == -(1 << 31):
        return "INT32_MIN"
    return f"({value})" if value < 0 else str(value)


def expression(op: Operation, arguments: list[str]) -> str | None:
    """What ``op`` computes of one element from its operands' elements; None if it is no elementwise operation.

    Arguments are names or literals: they may be repeated in the expression.
    """
    dialect, _, name = op.name.partition(".")
    if not op.results or name in ("constant", "make_range"):
        return None
    result = op.results[0].type
    source = op.operands[0].type if op.operands else result
    a, b, c = (arguments + ["", "", ""])[:3]
    names = {"a": a, "b": b, "c": c, "f": "" if source.element == "f64" else "f"}
    if dialect == "arith":
        return arithmetic(op, name, source, result, names)
    if dialect == "math":
        return mathematics(name, source, result, names)
    if op.name == "tt.extern_elementwise":
        return rounded(result, extern_expression(op, arguments))
    if op.name in ("tt.bitcast",):
        return bitcast(source, result, a)
    if op.name in ("tt.int_to_ptr", "tt.ptr_to_int"):
        return f"(int64_t){a}"
    if op.name == "tt.addptr":
        return f"{a} + (int64_t){b} * {source.pointee.bytes}"
    if op.name == "tt.fp_to_fp":
        return float_cast(source, result, a, op.attributes.get("rounding", "rtne"))
    if op.name == "tt.mulhiui":
        wide = "unsigned __int128" if source.bits == 64 else "uint64_t"
        unsigned = UNSIGNED[source.element]
        return f"({c_type(result)})((({wide})({unsigned}){a} * ({unsigned}){b}) >> {source.bits})"
    if op.name == "tt.precise_sqrt":
        return f"__builtin_sqrt{names['f']}({a})"
    if op.name == "tt.precise_divf":
        return f"{a} / {b}"
    if op.name == "tt.clampf":
        inner = f"clamp_nan{names['f']}" if op.attributes.get("propagateNan") == "all" else f"clamp{names['f']}"
        return f"{inner}({a}, {b}, {c})"
    return None


def arithmetic(op: Operation, name: str, source: Type, result: Type, names: dict[str, str]) -> str | None:
    a, b = names["a"], names["b"]
    if name == "select":
        return f"{a} ? {b} : {names['c']}"
    if name == "cmpf":
        return COMPARE_FLOAT[op.attributes["predicate"]].format(**names)
    if name == "cmpi":
        predicate = op.attributes["predicate"]
        cast = f"({UNSIGNED[source.element]})" if predicate[0] == "u" and source.element != "i1" else ""
        if source.element == "i1" and predicate[0] == "s":
            cast = "-(int)"
        return f"{cast}{a} {COMPARE_INTEGER[predicate]} {cast}{b}"
    if name in FLOAT:
        return rounded(result, FLOAT[name].format(**names))
    if result.element == "i1" and name in BOOLEAN:
        return BOOLEAN[name].format(**names)
    if name in ("divsi", "remsi", "floordivsi", "ceildivsi"):
        return f"{name}{result.bits}({a}, {b})"
    if name in INTEGER:
        kind = c_type(result)
        return f"({kind})({INTEGER[name].format(**names, T=kind, U=UNSIGNED[result.element], bits=result.bits, last=result.bits - 1)})"
    return convert(name, source, result, a)


def convert(name: str, source: Type, result: Type, a: str) -> str | None:
    kind, boolean = c_type(result), source.element == "i1"
    if name in ("extsi", "index_cast"):
        return f"({kind})({'-' if boolean else ''}{a})"
    if name in ("extui", "index_castui", "uitofp"):
        unsigned = a if boolean else f"({UNSIGNED[source.element]}){a}"
        return rounded(result, f"({kind}){unsigned}")
    if name == "trunci":
        return f"(_Bool)({a} & 1)" if result.element == "i1" else f"({kind}){a}"
    if name == "sitofp":
        return rounded(result, f"({kind})({'-' if boolean else ''}{a})")
    if name in ("fptosi", "fptoui"):
        if result.element == "i1":
            return f"__builtin_trunc({a}) != 0"
        sign = "unsigned" if name == "fptoui" else "signed"
        wide = "_double" if source.element == "f64" else ""
        return f"({kind})to_{sign}{result.bits}{wide}({a})"
    if name in ("extf", "truncf", "convertf"):
        return float_cast(source, result, a, "rtne")
    if name == "bitcast":
        return bitcast(source, result, a)
    return None


def float_cast(source: Type, result: Type, a: str, rounding: str) -> str:
    if rounding == "rtz":
        if result.element not in ("bf16", "f16"):
            raise Unsupported(f"rounding toward zero to {result.element}")
        return f"round_{result.element}_to_zero((float){a})"
    if (
        result.element in NARROW
        and result.bits < source.bits
        or result.element in NARROW
        and result.element != source.element
    ):
        wide = f"narrow_double({a})" if source.element == "f64" else a
        return rounded(result, wide)
    return f"({c_type(result)}){a}"


def bits_of(kind: Type, a: str) -> str:
    if kind.element in NARROW:
        return to_memory(kind, a)
    if kind.element == "f32":
        return f"float_bits({a})"
    return f"double_bits({a})" if kind.element == "f64" else a


def bitcast(source: Type, result: Type, a: str) -> str:
    if (
        source.element == result.element
        or (source.is_integer or source.is_pointer)
        and (result.is_integer or result.is_pointer)
    ):
        return f"({c_type(result)}){a}"
    bits = bits_of(source, a)
    if result.element in NARROW:
        return from_memory(result, f"({memory_type(result)}){bits}")
    if result.is_float:
        return f"bits_{c_type(result)}({bits})"
    return f"({c_type(result)}){bits}"


def mathematics(name: str, source: Type, result: Type, names: dict[str, str]) -> str | None:
    if name == "absi":
        return f"({c_type(result)})({names['a']} < 0 ? -{names['a']} : {names['a']})"
    if name in BIT_COUNTS:
        wide = source.bits == 64
        return BIT_COUNTS[name].format(
            **names, U=UNSIGNED[source.element], bits=source.bits, ll="ll" if wide else "", builtin=64 if wide else 32
        )
    if name not in MATH:
        return None
    return rounded(result, MATH[name].format(**names))
