"""CUDA's device functions by name, as C expressions.

``tt.extern_elementwise`` names symbols of libdevice (NVIDIA's libdevice user's guide says what each one computes). A
name that ends in ``f`` is the float32 variant of the one without.
"""

from __future__ import annotations

from ..ttir.ir import Operation
from .unsupported import Unsupported

#: Functions that C's library has under the same name, in both precisions.
SAME = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fdim",
    "fmod",
    "hypot",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "remainder",
    "round",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "tgamma",
    "logb",
]
#: Functions of one, two or three arguments that are an expression; {f} is the suffix of the precision.
FORMS = {
    "abs": "__builtin_abs({a})", "llabs": "__builtin_llabs({a})", "fabs": "__builtin_fabs{f}({a})",
    "floor": "__builtin_floor{f}({a})", "ceil": "__builtin_ceil{f}({a})", "trunc": "__builtin_trunc{f}({a})",
    "rint": "__builtin_rint{f}({a})", "nearbyint": "__builtin_rint{f}({a})", "sqrt": "__builtin_sqrt{f}({a})",
    "rsqrt": "1 / __builtin_sqrt{f}({a})", "rcbrt": "1 / cbrt{f}({a})", "fma": "__builtin_fma{f}({a}, {b}, {c})",
    "powi": "pow{f}({a}, {b})", "ldexp": "ldexp{f}({a}, {b})", "scalbn": "ldexp{f}({a}, {b})", "isnan": "{a} != {a}",
    "isinf": "__builtin_fabs{f}({a}) == __builtin_inf()", "finite": "__builtin_fabs{f}({a}) < __builtin_inf()",
    "isfinite": "__builtin_fabs{f}({a}) < __builtin_inf()", "signbit": "__builtin_signbit{f}({a}) != 0",
    "fmax": "({a} > {b} || {b} != {b}) ? {a} : {b}", "fmin": "({a} < {b} || {b} != {b}) ? {a} : {b}",
    "max": "{a} > {b} ? {a} : {b}", "min": "{a} < {b} ? {a} : {b}", "fdividef": "{a} / {b}", "saturate": "clamp{f}({a}, 0, 1)",
    "normcdf": "erfc{f}({a} * -0.70710678118654752) / 2", "sinpi": "sin{f}(fmod{f}({a}, 2) * 3.14159265358979324)",
    "cospi": "cos{f}(fmod{f}({a}, 2) * 3.14159265358979324)", "rhypot": "1 / hypot{f}({a}, {b})",
    "add_rn": "{a} + {b}", "sub_rn": "{a} - {b}", "mul_rn": "{a} * {b}", "div_rn": "{a} / {b}", "sqrt_rn": "__builtin_sqrt{f}({a})",
    "rcp_rn": "1 / {a}", "rsqrt_rn": "1 / __builtin_sqrt{f}({a})", "fma_rn": "__builtin_fma{f}({a}, {b}, {c})",
}  # fmt: skip
#: Symbols whose name does not follow from one above.
SYMBOLS = {
    "popc": "__builtin_popcount({a})", "popcll": "__builtin_popcountll({a})", "clz": "{a} ? __builtin_clz({a}) : 32",
    "clzll": "{a} ? __builtin_clzll({a}) : 64", "ffs": "__builtin_ffs({a})", "ffsll": "__builtin_ffsll({a})",
    "umulhi": "(int32_t)(((uint64_t)(uint32_t){a} * (uint32_t){b}) >> 32)", "mulhi": "(int32_t)(((int64_t){a} * {b}) >> 32)",
    "umul64hi": "(int64_t)(((unsigned __int128)(uint64_t){a} * (uint64_t){b}) >> 64)",
    "mul64hi": "(int64_t)(((__int128){a} * {b}) >> 64)", "float_as_int": "(int32_t)float_bits({a})",
    "float_as_uint": "(int32_t)float_bits({a})", "int_as_float": "bits_float({a})", "uint_as_float": "bits_float({a})",
    "double_as_longlong": "(int64_t)double_bits({a})", "longlong_as_double": "bits_double({a})",
    "llrint": "to_signed64_double(__builtin_rint({a}))", "llrintf": "to_signed64(__builtin_rintf({a}))",
    "llround": "to_signed64_double(round({a}))", "llroundf": "to_signed64(roundf({a}))",
    "double2float_rn": "(float){a}", "int2float_rn": "(float){a}", "uint2float_rn": "(float)(uint32_t){a}",
    "ll2float_rn": "(float){a}", "ull2float_rn": "(float)(uint64_t){a}", "int2double_rn": "(double){a}",
    "uint2double_rn": "(double)(uint32_t){a}", "ll2double_rn": "(double){a}", "ull2double_rn": "(double)(uint64_t){a}",
}  # fmt: skip
WHOLE = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}
INTEGERS = {"int": "signed32", "uint": "unsigned32", "ll": "signed64", "ull": "unsigned64"}


def extern_expression(op: Operation, arguments: list[str]) -> str:
    """The value of a device function of ``arguments``.

    :raises Unsupported: for a symbol that is not in the tables.
    """
    symbol = op.attributes["symbol"]
    name = symbol.removeprefix("__nv_")
    names = dict(zip("abc", arguments, strict=False), f="")
    form = SYMBOLS.get(name) or conversion(name)
    if form is None:
        stem, single = variant(name.removeprefix("fast_"), op)
        names["f"] = "f" if single else ""
        form = FORMS.get(stem)
        if form is None and stem in SAME:
            form = f"{stem}{{f}}({', '.join(['{a}', '{b}', '{c}'][: len(arguments)])})"
    if form is None or not symbol.startswith("__nv_"):
        raise Unsupported(f"line {op.line}: the device function '{symbol}' has no counterpart in C")
    return f"({form.format(**names)})"


def variant(name: str, op: Operation) -> tuple[str, bool]:
    """The function of a symbol without its precision, and whether that is float32."""
    if name in FORMS or name in SAME:
        return name, op.operands[0].type.element != "f64"
    if name[:1] in "fd" and name[1:].replace("_rz", "_rn") in FORMS and name[-3:] in ("_rn", "_rz"):
        return name[1:].replace("_rz", "_rn"), name[0] == "f"
    if name.removesuffix("_rn").removesuffix("f") + "_rn" in FORMS and name.endswith("_rn"):
        return name.removesuffix("_rn").removesuffix("f") + "_rn", name.endswith("f_rn")
    stem = name.removesuffix("f") if name.endswith("f") else name.removesuffix("d")
    return stem, op.operands[0].type.element != "f64"


def conversion(name: str) -> str | None:
    """``float2int_rz`` and its like."""
    source, _, target = name.partition("2")
    kind, _, mode = target.partition("_")
    if source not in ("float", "double") or kind not in INTEGERS or mode not in WHOLE:
        return None
    suffix, wide = ("f", "") if source == "float" else ("", "_double")
    return f"to_{INTEGERS[kind]}{wide}(__builtin_{WHOLE[mode]}{suffix}({{a}}))"
