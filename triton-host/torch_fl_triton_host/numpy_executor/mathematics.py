"""Mathematical functions: MLIR's ``math`` dialect, and CUDA's libdevice by the names Triton calls it with.

libdevice: the functions and their meanings are those of NVIDIA's libdevice user's guide; a trailing ``f`` marks the
float32 variant.
"""

import ctypes
import ctypes.util
import functools
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor import integers
from torch_fl_triton_host.numpy_executor.elements import HELD, held, unsigned
from torch_fl_triton_host.numpy_executor.floats import fused, to_integer
from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    """A function of Python floats as one of arrays, in float64."""
    ufunc = np.frompyfunc(function, function.__code__.co_argcount if hasattr(function, "__code__") else 1, 1)
    return lambda *arrays: np.asarray(ufunc(*(np.asarray(a, np.float64) for a in arrays))).astype(np.float64)


@functools.cache
def _c_library(name: str, *kinds: type) -> Callable[..., float]:
    """A function of C's mathematical library that returns a double."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m") or None), name)
    function.restype, function.argtypes = ctypes.c_double, kinds or (ctypes.c_double,)
    return function


def _c(name: str, *kinds: type) -> Callable[..., Any]:
    def compute(*arrays: Any) -> Any:
        ufunc = np.frompyfunc(_c_library(name, *kinds), len(arrays), 1)
        wide = (
            np.asarray(a, np.int64 if k is ctypes.c_int else np.float64)
            for a, k in zip(arrays, kinds or (ctypes.c_double,), strict=True)
        )
        return np.asarray(ufunc(*wide)).astype(np.float64)

    return compute


def _normal_quantile(p: float) -> float:
    if not 0 < p < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)
    return statistics.NormalDist().inv_cdf(p)


def _inverse_erf(x: float) -> float:
    return _normal_quantile((x + 1) / 2) / math.sqrt(2)


def _pi(function: Callable) -> Callable:
    # The remainder is exact, so that whole multiples of pi give exact results.
    return lambda x: function(np.fmod(np.asarray(x, np.float64), 2) * np.pi)


def _round_half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(np.subtract(x, whole)) >= 0.5, np.sign(x), 0), x)


_double = ctypes.c_double
_erf, _erfc = _each(math.erf), _each(math.erfc)
_FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(np, name) for name in ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "sqrt", "cbrt", "hypot", "copysign", "fmod", "rint", "trunc", "nextafter", "ldexp"]},
    **{name: getattr(np, f"arc{name[1:]}") for name in ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"]},
    "fabs": np.abs, "pow": np.power, "powi": np.power, "nearbyint": np.rint, "round": _round_half_away,
    "rsqrt": lambda x: 1 / np.sqrt(np.asarray(x, np.float64)), "rcbrt": lambda x: 1 / np.cbrt(np.asarray(x, np.float64)),
    "erf": _erf, "erfc": _erfc, "erfcx": lambda x: np.exp(np.asarray(x, np.float64) ** 2) * _erfc(x),
    "erfinv": _each(_inverse_erf), "erfcinv": lambda x: _each(_inverse_erf)(1 - np.asarray(x, np.float64)),
    "normcdf": lambda x: _erfc(np.asarray(x, np.float64) / -math.sqrt(2)) / 2, "normcdfinv": _each(_normal_quantile),
    "lgamma": _c("lgamma"), "tgamma": _c("tgamma"), "j0": _c("j0"), "j1": _c("j1"), "y0": _c("y0"), "y1": _c("y1"),
    "jn": _c("jn", ctypes.c_int, _double), "yn": _c("yn", ctypes.c_int, _double), "logb": _c("logb"),
    "remainder": _c("remainder", _double, _double), "fdim": _c("fdim", _double, _double),
    "cyl_bessel_i0": np.i0, "exp10": lambda x: np.power(10.0, np.asarray(x, np.float64)), "scalbn": np.ldexp,
    "sinpi": _pi(np.sin), "cospi": _pi(np.cos), "rhypot": lambda x, y: 1 / np.hypot(x, y), "fma": fused,
    "norm3d": lambda *v: np.hypot(np.hypot(v[0], v[1]), v[2]), "rnorm3d": lambda *v: 1 / np.hypot(np.hypot(v[0], v[1]), v[2]),
    "norm4d": lambda *v: np.hypot(np.hypot(v[0], v[1]), np.hypot(v[2], v[3])),
    "rnorm4d": lambda *v: 1 / np.hypot(np.hypot(v[0], v[1]), np.hypot(v[2], v[3])),
}  # fmt: skip

#: Functions whose float32 name is not the float64 one and an ``f``, and those of integers.
_SYMBOLS: dict[str, Callable] = {
    **{f"fast_{name}f": _FUNCTIONS[name] for name in ["sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow"]},
    "fast_fdividef": np.divide, "saturatef": lambda x: np.fmax(np.fmin(x, 1), 0),
    "finitef": np.isfinite, "isfinited": np.isfinite, "isinff": np.isinf, "isinfd": np.isinf, "isnanf": np.isnan,
    "isnand": np.isnan, "signbitf": np.signbit, "signbitd": np.signbit, "abs": np.abs, "llabs": np.abs,
    "ilogb": lambda x: np.frexp(x)[1] - 1, "ilogbf": lambda x: np.frexp(x)[1] - 1,
    "popc": integers.BIT_COUNTS["ctpop"], "popcll": integers.BIT_COUNTS["ctpop"], "clz": integers.BIT_COUNTS["ctlz"],
    "clzll": integers.BIT_COUNTS["ctlz"], "umulhi": integers.high_half, "umul64hi": integers.high_half,
    "mulhi": integers.signed_high_half, "mul64hi": integers.signed_high_half,
    "ffs": lambda x: np.where(np.equal(x, 0), 0, integers.BIT_COUNTS["cttz"](x) + 1),
    "ffsll": lambda x: np.where(np.equal(x, 0), 0, integers.BIT_COUNTS["cttz"](x) + 1),
    **{name: lambda x: to_integer(np.rint(x), 64, True) for name in ("llrint", "llrintf")},
    **{name: lambda x: to_integer(_round_half_away(x), 64, True) for name in ("llround", "llroundf")},
    **{name: lambda x: np.asarray(x).view(np.int32) for name in ("float_as_int", "float_as_uint")},
    **{name: lambda x: np.asarray(x).view(np.float32) for name in ("int_as_float", "uint_as_float")},
    "double_as_longlong": lambda x: np.asarray(x).view(np.int64),
    "longlong_as_double": lambda x: np.asarray(x).view(np.float64),
    **{f"{source}2{target}_rn": lambda x: x for source in ("int", "ll") for target in ("float", "double")},
    **{f"{source}2{target}_rn": unsigned for source in ("uint", "ull") for target in ("float", "double")},
    "double2float_rn": lambda x: x,
}  # fmt: skip
_ROUNDED = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt, "rcp": np.reciprocal,
    "rsqrt": _FUNCTIONS["rsqrt"],
}  # fmt: skip
_SYMBOLS.update({f"{kind}{name}_rn": function for kind in "fd" for name, function in _ROUNDED.items()})
_SYMBOLS.update({f"{name}{kind}_rn": fused for name in ("fma",) for kind in ("", "f")})
_TOWARD_ZERO = {
    f"{kind}{name}_rz": _ROUNDED[name] for kind in "fd" for name in ("add", "sub", "mul", "div", "sqrt", "rcp")
}
_CONVERT = {"int": (32, True), "uint": (32, False), "ll": (64, True), "ull": (64, False)}
_WHOLE = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def _to_whole(symbol: str) -> Callable | None:
    """``float2int_rz`` and its like, or None."""
    source, _, target = symbol.partition("2")
    kind, _, mode = target.partition("_")
    if source not in ("float", "double") or kind not in _CONVERT or mode not in _WHOLE:
        return None
    return lambda x: to_integer(_WHOLE[mode](x), *_CONVERT[kind])


@operation("tt.extern_elementwise")
def _extern(op: Operation) -> Compute:
    symbol, element = op.attributes["symbol"], op.results[0].type.element
    name = symbol.removeprefix("__nv_")
    if name in _TOWARD_ZERO:
        exact = _TOWARD_ZERO[name]
        return lambda *a: held(exact(*(np.asarray(x, np.longdouble) for x in a)), element, toward_zero=True)
    function = _SYMBOLS.get(name) or _to_whole(name) or _FUNCTIONS.get(name) or _FUNCTIONS.get(name.removesuffix("f"))
    if function is None or not symbol.startswith("__nv_"):
        raise NotImplementedError(
            f"the device function '{symbol}' (line {op.line} of its Triton IR) has no counterpart here"
        )
    return lambda *a: held(function(*a), element)


_MATH = {
    **{name: name for name in ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "floor", "ceil", "sqrt", "rsqrt", "cbrt", "erf", "erfc", "round", "trunc"]},
    "absf": "fabs", "roundeven": "rint", "fpowi": "powi",
}  # fmt: skip


@operation("tt.precise_sqrt", *(f"math.{name}" for name in _MATH))
def _math(op: Operation) -> Compute:
    function = np.sqrt if op.name == "tt.precise_sqrt" else _FUNCTIONS[_MATH[op.name.removeprefix("math.")]]
    element = op.results[0].type.element
    if HELD[element] is np.float16:  # in float32, and rounded once
        return lambda *a: held(function(*(np.asarray(x, np.float32) for x in a)), element)
    return lambda *a: held(function(*a), element)
