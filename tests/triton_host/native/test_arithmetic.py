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
    """Two arrays of one type: any bits, with the values at which arithmetic goes wrong among them."""
    dtype = np.dtype({"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8"}[kind])
    integer = np.dtype(f"i{dtype.itemsize}")
    low, high = np.iinfo(integer).min, np.iinfo(integer).max
    if dtype.kind == "i":
        edges = [0, 1, -1, 2, 3, -7, low, high, dtype.itemsize * 8]
    else:
        edges = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3.0], dtype).view(integer).tolist()
    array = hnp.arrays(integer, 16, elements=st.one_of(st.sampled_from(edges), st.integers(low, high)))
    return st.tuples(array, array).map(lambda arrays: tuple(a.view(dtype) for a in arrays))


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
    return np.where(
        inside, np.left_shift(a, amount) if left else np.right_shift(unsigned(a), unsigned(amount)).view(a.dtype), 0
    )


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


def binary(names, kind):
    return [(kind, f"%r = arith.{name} %a0, %a1 : tensor<64x{kind}>") for name in names]


@pytest.mark.parametrize("kind", INTEGERS)
@OPTIONS
@given(data=st.data())
def test_integer_arithmetic_wraps_like_numpys(build, kind, data):
    a, b = data.draw(pair(kind))
    found = build.apply(binary(INTEGER, kind), [kind, kind], a, b)
    for name, result in zip(INTEGER, found, strict=False):
        np.testing.assert_array_equal(result, wrapped(INTEGER[name])(a, b), err_msg=name)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@OPTIONS
@given(data=st.data())
def test_float_arithmetic_is_rounded_after_each_operation(build, kind, data):
    a, b = data.draw(pair(kind))
    found = build.apply(binary(FLOAT, kind), [kind, kind], a, b)
    for name, result in zip(FLOAT, found, strict=False):
        np.testing.assert_array_equal(result, wrapped(FLOAT[name])(a, b), err_msg=name)


def to_bf16(x):
    """The bits of float32 numbers rounded to bfloat16, ties to even; by arithmetic on exact numbers."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(x)[1], -125) - 8
        rounded = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        narrow = np.where(np.isfinite(x), rounded, x).astype(np.float32)
    return (narrow.view(np.uint32) >> 16).astype(np.uint16)


@OPTIONS
@given(bits=hnp.arrays(np.uint32, 16, elements=st.integers(0, (1 << 32) - 1)))
def test_float32_becomes_bfloat16_and_float16_by_rounding_to_even(build, bits):
    x = bits.view(np.float32)
    x = np.where(np.isnan(x), np.float32(1.2345), x)
    narrow = [(kind, f"%r = arith.truncf %a0 : tensor<64xf32> to tensor<64x{kind}>") for kind in ("bf16", "f16")]
    brain, half = build.apply(narrow, ["f32"], x)
    np.testing.assert_array_equal(brain, to_bf16(x))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(half.view(np.uint16), x.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_every_number_of_16_bits_is_read_exactly_and_written_back(build, kind):
    bits = np.arange(1 << 16, dtype=np.uint16)
    expected = (
        bits.view(np.float16).astype(np.float32) if kind == "f16" else (bits.astype(np.uint32) << 16).view(np.float32)
    )
    size = 1 << 16
    forms = [
        ("f32", f"%r = arith.extf %a0 : tensor<{size}x{kind}> to tensor<{size}xf32>"),
        (kind, f"%r = arith.addf %a0, %a0 : tensor<{size}x{kind}>"),
    ]
    wide, double = build.apply(forms, [kind], bits.view(np.float16) if kind == "f16" else bits, size=size)
    np.testing.assert_array_equal(wide, expected)
    with np.errstate(all="ignore"):
        twice = (expected * 2).astype(np.float16) if kind == "f16" else to_bf16(expected * 2)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(double[number], twice[number])


def test_formats_of_8_bits_are_read_and_rounded(build):
    x = np.array([0.0, 1.0, -1.0625, 448.0, 1e9, -1e9, 0.001953125, 0.0009765625, 1.9, 57344.0, 2.0**-16], np.float32)
    forms = [
        (kind, f"%r = tt.fp_to_fp %a0, rounding = rtne : tensor<64xf32> -> tensor<64x{kind}>")
        for kind in ("f8E4M3FN", "f8E5M2")
    ]
    small, wide = build.apply(forms, ["f32"], x)
    assert small.tolist() == [0x00, 0x38, 0xB8, 0x7E, 0x7E, 0xFE, 0x01, 0x00, 0x3F, 0x7E, 0x00]
    assert wide.tolist() == [0x00, 0x3C, 0xBC, 0x5F, 0x7B, 0xFB, 0x18, 0x14, 0x40, 0x7B, 0x01]
    back = build.apply([("f32", "%r = tt.fp_to_fp %a0 : tensor<64xf8E4M3FN> -> tensor<64xf32>")], ["f8E4M3FN"], small)[
        0
    ]
    assert back.tolist() == [0, 1, -1, 448, 448, -448, 0.001953125, 0, 1.875, 448, 0]


def test_floats_become_integers_as_on_a_gpu(build):
    x = np.array([0.9, -0.9, 2.5, -2.5, np.nan, np.inf, -np.inf, 1e30, -1e30, 100.7], np.float32)
    signed = [(kind, f"%r = arith.fptosi %a0 : tensor<64xf32> to tensor<64x{kind}>") for kind in INTEGERS]
    for found in build.apply(signed, ["f32"], x):
        low, high = np.iinfo(found.dtype).min, np.iinfo(found.dtype).max
        assert found.tolist() == [0, 0, 2, -2, 0, high, low, high, low, 100]
    other = [(kind, f"%r = arith.fptoui %a0 : tensor<64xf32> to tensor<64x{kind}>") for kind in INTEGERS]
    for found in build.apply(other, ["f32"], x):
        high = np.iinfo(unsigned(found).dtype).max
        assert unsigned(found).tolist() == [0, 0, 2, 0, 0, high, 0, high, 0, 100]


PREDICATES = {
    "oeq": lambda a, b: a == b, "ogt": lambda a, b: a > b, "oge": lambda a, b: a >= b, "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b, "one": lambda a, b: (a < b) | (a > b), "ord": lambda a, b: ~np.isnan(a + b),
    "ueq": lambda a, b: ~((a < b) | (a > b)), "ugt": lambda a, b: ~(a <= b), "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b), "ule": lambda a, b: ~(a > b), "une": lambda a, b: a != b, "uno": lambda a, b: np.isnan(a + b),
}  # fmt: skip


def test_comparisons_know_not_a_number(build):
    values = np.array([0.0, 1.0, -1.0, np.nan], np.float32)
    a, b = np.repeat(values, 4), np.tile(values, 4)
    forms = [("i1", f"%r = arith.cmpf {predicate}, %a0, %a1 : tensor<64xf32>") for predicate in PREDICATES]
    for predicate, found in zip(PREDICATES, build.apply(forms, ["f32", "f32"], a, b), strict=False):
        np.testing.assert_array_equal(found, PREDICATES[predicate](a, b), err_msg=predicate)


def test_comparisons_of_integers_are_signed_or_not(build):
    values = np.array([0, 1, -1, 127, -128], np.int8)
    a, b = np.repeat(values, 5), np.tile(values, 5)
    compare = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    forms = [("i1", f"%r = arith.cmpi {sign}{name}, %a0, %a1 : tensor<64xi8>") for sign in "su" for name in compare]
    expected = [
        function(*(x if sign == "s" else unsigned(x) for x in (a, b))) for sign in "su" for function in compare.values()
    ]
    for form, found, wanted in zip(forms, build.apply(forms, ["i8", "i8"], a, b), expected, strict=False):
        np.testing.assert_array_equal(found, wanted, err_msg=form[1])


FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "floor": np.floor,
    "ceil": np.ceil, "absf": np.abs, "tanh": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_functions_agree_with_float64_to_a_few_units(build, kind):
    x = np.concatenate([np.linspace(0.01, 8, 60), [np.inf, 80, 1e-30, 0.5]]).astype(
        np.float32 if kind == "f32" else np.float64
    )
    forms = [(kind, f"%r = math.{name} %a0 : tensor<64x{kind}>") for name in FUNCTIONS]
    for name, found in zip(FUNCTIONS, build.apply(forms, [kind], x), strict=False):
        with np.errstate(all="ignore"):
            expected = FUNCTIONS[name](x.astype(np.float64))
        epsilon = np.finfo(x.dtype).eps
        tolerance = {"rtol": 8 * epsilon, "atol": 8 * epsilon if name in ("sin", "cos") else 0}
        np.testing.assert_allclose(found, expected.astype(x.dtype), err_msg=name, **tolerance)


def test_a_planted_error_is_noticed(build):
    """The comparison itself: a kernel that subtracts does not pass as one that adds."""
    a, b = np.arange(1, 17, dtype=np.int32), np.arange(1, 17, dtype=np.int32)
    (found,) = build.apply(binary(["subi"], "i32"), ["i32", "i32"], a, b)
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(found, a + b)
