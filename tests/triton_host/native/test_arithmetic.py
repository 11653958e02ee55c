"""Emitted arithmetic against numpy, for each type."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

INTEGERS = ["i8", "i16", "i32", "i64"]
OPTIONS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def pair(kind):
    """Two arrays of one type, with the values at which arithmetic goes wrong among them."""
    dtype = np.dtype({"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8"}[kind])
    if dtype.kind == "i":
        edges = st.sampled_from([0, 1, -1, 2, 3, -7, np.iinfo(dtype).min, np.iinfo(dtype).max, dtype.itemsize * 8])
        elements = st.one_of(edges, st.integers(np.iinfo(dtype).min, np.iinfo(dtype).max))
    else:
        edges = st.sampled_from([0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 3.0])
        elements = st.one_of(edges, st.floats(width=dtype.itemsize * 8))
    return st.tuples(*[hnp.arrays(dtype, 16, elements=elements)] * 2)


def wrapped(function):
    def compute(a, b):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(a, b)

    return compute


def unsigned(a):
    return a.view(f"u{a.dtype.itemsize}")


def divide(a, b):
    """Toward zero; by zero gives 0."""
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    quotient = np.floor_divide(a, safe)
    quotient = quotient + ((quotient * safe != a) & ((a < 0) != (safe < 0))).astype(a.dtype)
    quotient = np.where(safe == -1, (0 - unsigned(a)).view(a.dtype), quotient).astype(a.dtype)
    return np.where(b == 0, 0, quotient).astype(a.dtype)


def shifted(a, b, left):
    bits = a.dtype.itemsize * 8
    inside = unsigned(b) < bits
    amount = np.where(inside, b, 0).astype(a.dtype)
    return np.where(inside, np.left_shift(a, amount) if left else np.right_shift(unsigned(a), unsigned(amount)).view(a.dtype), 0)


INTEGER = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor,
    "minsi": np.minimum, "maxsi": np.maximum, "divsi": divide, "remsi": lambda a, b: a - divide(a, b) * b,
    "minui": lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype),
    "maxui": lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype),
    "divui": lambda a, b: np.where(b == 0, 0, unsigned(a) // np.where(b == 0, 1, unsigned(b))).astype(unsigned(a).dtype).view(a.dtype),
    "remui": lambda a, b: np.where(b == 0, unsigned(a), unsigned(a) % np.where(b == 0, 1, unsigned(b))).astype(unsigned(a).dtype).view(a.dtype),
    "shli": lambda a, b: shifted(a, b, True), "shrui": lambda a, b: shifted(a, b, False),
}  # fmt: skip
FLOAT = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "maximumf": np.maximum, "minimumf": np.minimum,
    "maxnumf": np.fmax, "minnumf": np.fmin,
}  # fmt: skip


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", INTEGER)
@OPTIONS
@given(data=st.data())
def test_integer_arithmetic_wraps_like_numpys(build, name, kind, data):
    a, b = data.draw(pair(kind))
    found = build.apply(f"%r = arith.{name} %a0, %a1 : tensor<64x{kind}>", [kind, kind], kind, a, b)
    np.testing.assert_array_equal(found, wrapped(INTEGER[name])(a, b))


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", FLOAT)
@OPTIONS
@given(data=st.data())
def test_float_arithmetic_is_rounded_after_each_operation(build, name, kind, data):
    a, b = data.draw(pair(kind))
    found = build.apply(f"%r = arith.{name} %a0, %a1 : tensor<64x{kind}>", [kind, kind], kind, a, b)
    np.testing.assert_array_equal(found, wrapped(FLOAT[name])(a, b))


def to_bf16(x):
    """The bits of float32 numbers rounded to bfloat16, ties to even; by arithmetic on exact numbers."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(x)[1], -125) - 8
        rounded = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        narrow = np.where(np.isfinite(x), rounded, x).astype(np.float32)
    return (narrow.view(np.uint32) >> 16).astype(np.uint16)


@OPTIONS
@given(x=hnp.arrays(np.float32, 16, elements=st.floats(width=32, allow_nan=False)))
def test_float32_becomes_bfloat16_and_float16_by_rounding_to_even(build, x):
    found = build.apply("%r = arith.truncf %a0 : tensor<64xf32> to tensor<64xbf16>", ["f32"], "bf16", x)
    np.testing.assert_array_equal(found, to_bf16(x))
    found = build.apply("%r = arith.truncf %a0 : tensor<64xf32> to tensor<64xf16>", ["f32"], "f16", x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found.view(np.uint16), x.astype(np.float16).view(np.uint16))


def test_every_float16_and_bfloat16_is_read_exactly(build):
    bits = np.arange(1 << 16, dtype=np.uint16)
    for kind, expected in (("f16", bits.view(np.float16).astype(np.float32)), ("bf16", (bits.astype(np.uint32) << 16).view(np.float32))):
        kernel = build.elementwise(f"%r = arith.extf %a0 : tensor<65536x{kind}> to tensor<65536xf32>", (kind,), "f32", 1 << 16)
        out = np.zeros(1 << 16, np.float32)
        from .support import run

        run(kernel, bits, out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("kind", "low", "high"), [("i8", -128, 127), ("i16", -(1 << 15), (1 << 15) - 1), ("i32", -(1 << 31), (1 << 31) - 1),
                                                    ("i64", -(1 << 63), (1 << 63) - 1)])  # fmt: skip
def test_floats_become_integers_as_on_a_gpu(build, kind, low, high):
    x = np.array([0.9, -0.9, 2.5, -2.5, np.nan, np.inf, -np.inf, 1e30, -1e30, 100.7], np.float32)
    found = build.apply(f"%r = arith.fptosi %a0 : tensor<64xf32> to tensor<64x{kind}>", ["f32"], kind, x)
    assert found.tolist() == [0, 0, 2, -2, 0, high, low, high, low, 100]
    found = build.apply(f"%r = arith.fptoui %a0 : tensor<64xf32> to tensor<64x{kind}>", ["f32"], kind, x)
    assert unsigned(found).tolist() == [0, 0, 2, 0, 0, high - low, 0, high - low, 0, 100]


PREDICATES = {
    "oeq": lambda a, b: a == b, "ogt": lambda a, b: a > b, "oge": lambda a, b: a >= b, "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b, "one": lambda a, b: (a < b) | (a > b), "ord": lambda a, b: (a == a) & (b == b),
    "ueq": lambda a, b: ~((a < b) | (a > b)), "ugt": lambda a, b: ~(a <= b), "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b), "ule": lambda a, b: ~(a > b), "une": lambda a, b: a != b, "uno": lambda a, b: (a != a) | (b != b),
}  # fmt: skip


@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons_know_not_a_number(build, predicate):
    values = np.array([0.0, 1.0, -1.0, np.nan], np.float32)
    a, b = np.repeat(values, 4), np.tile(values, 4)
    found = build.apply(f"%r = arith.cmpf {predicate}, %a0, %a1 : tensor<64xf32>", ["f32", "f32"], "i1", a, b)
    np.testing.assert_array_equal(found, PREDICATES[predicate](a, b))


@pytest.mark.parametrize(
    ("name", "function"),
    [("exp", np.exp), ("exp2", np.exp2), ("log", np.log), ("log2", np.log2), ("sin", np.sin), ("cos", np.cos), ("sqrt", np.sqrt),
     ("floor", np.floor), ("ceil", np.ceil), ("absf", np.abs), ("tanh", np.tanh), ("rsqrt", lambda x: 1 / np.sqrt(x))],
)  # fmt: skip
def test_functions_agree_with_float64_to_a_few_units(build, name, function):
    x = np.concatenate([np.linspace(0.01, 8, 60), [np.inf, 100, 1e-30, 0.5]]).astype(np.float32)
    found = build.apply(f"%r = math.{name} %a0 : tensor<64xf32>", ["f32"], "f32", x)
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64))
    np.testing.assert_allclose(found, expected.astype(np.float32), rtol=1e-6, atol=1e-6 if name in ("sin", "cos") else 0)


def test_a_wrong_constant_would_be_noticed(build):
    """The comparison itself: a kernel that adds something else does not pass as an addition."""
    a, b = np.arange(16, dtype=np.int32), np.arange(16, dtype=np.int32)
    found = build.apply("%r = arith.subi %a0, %a1 : tensor<64xi32>", ["i32", "i32"], "i32", a, b)
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(found, a + b)
