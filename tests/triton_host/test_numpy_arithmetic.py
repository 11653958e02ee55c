"""The numpy executor's arithmetic, against Python's exact integers and fractions, and against PyTorch's rounding."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_fl_triton_host.numpy_executor.elements import HELD, from_bits, held, stored, to_bits

from .programs import operate

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
FP8 = {"f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}


def signed(value, bits):
    """The signed number of these low bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def toward_zero(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


EXACT = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "minsi": lambda a, b, n: min(a, b),
    "maxsi": lambda a, b, n: max(a, b),
    "minui": lambda a, b, n: min(a % 2**n, b % 2**n),
    "maxui": lambda a, b, n: max(a % 2**n, b % 2**n),
    "divsi": lambda a, b, n: toward_zero(a, b) if b else 0,
    "remsi": lambda a, b, n: a - toward_zero(a, b) * b if b else a,
    "floordivsi": lambda a, b, n: a // b if b else 0,
    "ceildivsi": lambda a, b, n: -(-a // b) if b else 0,
    "divui": lambda a, b, n: (a % 2**n) // (b % 2**n) if b else 0,
    "remui": lambda a, b, n: (a % 2**n) % (b % 2**n) if b else a,
    "shli": lambda a, b, n: a << b % 2**n if b % 2**n < n else 0,
    "shrsi": lambda a, b, n: a >> min(b % 2**n, n - 1),
    "shrui": lambda a, b, n: a % 2**n >> b % 2**n if b % 2**n < n else 0,
}


@st.composite
def integer_pairs(draw):
    element = draw(st.sampled_from(sorted(WIDTHS)))
    bits = WIDTHS[element]
    ends = st.sampled_from([0, 1, -1, 2, bits - 1, bits, -(1 << bits - 1), (1 << bits - 1) - 1])
    number = ends | st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    pairs = draw(st.lists(st.tuples(number, number), min_size=1, max_size=16))
    return element, [signed(a, bits) for a, _ in pairs], [signed(b, bits) for _, b in pairs]


@pytest.mark.parametrize("name", sorted(EXACT))
@settings(max_examples=25, deadline=None)
@given(case=integer_pairs())
def test_integers_wrap_as_twos_complement_does(name, case):
    element, a, b = case
    bits = WIDTHS[element]
    found = operate(f"arith.{name} %0, %1 : T", a, b, element=element)
    assert found.tolist() == [signed(EXACT[name](x, y, bits), bits) for x, y in zip(a, b, strict=True)]


ORDER = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("predicate", ["eq", "ne", *(s + p for s in "su" for p in ("lt", "le", "gt", "ge"))])
@settings(max_examples=15, deadline=None)
@given(case=integer_pairs())
def test_integers_compare_signed_or_unsigned(predicate, case):
    element, a, b = case
    size = 2 ** WIDTHS[element]
    found = operate(f"arith.cmpi {predicate}, %0, %1 : T", a, b, element=element, result="i1")
    order = ORDER[predicate[-2:]]
    wrap = (lambda x: x % size) if predicate[0] == "u" else (lambda x: x)
    assert found.tolist() == [order(wrap(x), wrap(y)) for x, y in zip(a, b, strict=True)]


@settings(max_examples=25, deadline=None)
@given(case=integer_pairs())
def test_the_high_half_of_a_product(case):
    element, a, b = case
    bits = WIDTHS[element]
    if bits < 32:
        return
    found = operate("tt.mulhiui %0, %1 : T", a, b, element=element)
    exact = [((x % 2**bits) * (y % 2**bits)) >> bits for x, y in zip(a, b, strict=True)]
    assert found.tolist() == [signed(x, bits) for x in exact]


@pytest.mark.parametrize(
    "symbol, bits, is_signed",
    [("mulhi", 32, True), ("umulhi", 32, False), ("mul64hi", 64, True), ("umul64hi", 64, False)],
)
def test_libdevice_has_the_high_half_too(symbol, bits, is_signed):
    numbers = [0, 1, -1, 3, 1 << bits - 2, -(1 << bits - 1), (1 << bits - 1) - 1]
    a, b = zip(*[(x, y) for x in numbers for y in numbers], strict=True)
    line = f'tt.extern_elementwise %0, %1 {{libname = "", libpath = "", pure = true, symbol = "__nv_{symbol}"}} : ( T , T ) -> T'
    found = operate(line, a, b, element=f"i{bits}")
    wrap = (lambda x: x) if is_signed else (lambda x: x % 2**bits)
    assert found.tolist() == [signed(wrap(x) * wrap(y) >> bits, bits) for x, y in zip(a, b, strict=True)]


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 1e-8, 65504.0, 3e38, math.inf, -math.inf, math.nan]


@st.composite
def float_pairs(draw):
    element = draw(st.sampled_from(sorted(FLOATS)))
    number = st.sampled_from(SPECIAL) | st.floats(width=32)
    pairs = draw(st.lists(st.tuples(number, number), min_size=1, max_size=16))
    a, b = (torch.tensor(column, dtype=torch.float64).to(FLOATS[element]) for column in zip(*pairs, strict=True))
    return element, a, b


def as_held(tensor):
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


FLOAT_OPERATIONS = {
    "addf": torch.add, "subf": torch.sub, "mulf": torch.mul, "divf": torch.div, "maximumf": torch.maximum,
    "minimumf": torch.minimum, "maxnumf": torch.fmax, "minnumf": torch.fmin, "remf": torch.fmod,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FLOAT_OPERATIONS))
@settings(max_examples=25, deadline=None)
@given(case=float_pairs())
def test_floats_are_rounded_after_each_operation(name, case):
    element, a, b = case
    found = operate(f"arith.{name} %0, %1 : T", as_held(a), as_held(b), element=element)
    if name == "remf":  # exact in double precision; torch.fmod of float32 overflows where the quotient does
        wanted = torch.fmod(a.double(), b.double()).to(FLOATS[element])
    else:
        wanted = FLOAT_OPERATIONS[name](a, b)
    np.testing.assert_array_equal(found, as_held(wanted))


@pytest.mark.parametrize(
    "predicate", [s + p for s in "ou" for p in ("eq", "ne", "lt", "le", "gt", "ge")] + ["ord", "uno"]
)
@settings(max_examples=15, deadline=None)
@given(case=float_pairs())
def test_ordered_predicates_are_false_of_nan_and_unordered_ones_true(predicate, case):
    element, a, b = case
    predicate = {"une": "une", "one": "one"}.get(predicate, predicate)
    found = operate(f"arith.cmpf {predicate}, %0, %1 : T", as_held(a), as_held(b), element=element, result="i1")
    unordered = a.isnan() | b.isnan()
    if predicate in ("ord", "uno"):
        wanted = unordered == (predicate == "uno")
    else:
        wanted = torch.where(unordered, predicate[0] == "u", ORDER[predicate[1:]](a, b))
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("source", sorted(FLOATS))
@pytest.mark.parametrize("target", sorted({**FLOATS, **FP8}))
def test_conversions_round_to_nearest_even(source, target):
    torch.manual_seed(0)
    values = torch.cat([torch.tensor(SPECIAL), torch.randn(200), torch.randn(50) * 1e-3, torch.randn(50) * 300])
    values = values.to(FLOATS[source])
    found = operate("tt.fp_to_fp %0, rounding = rtne : T -> R", as_held(values), element=source, result=target)
    if target in FLOATS:
        wanted = values.to(FLOATS[target])
    else:  # what is too large becomes the largest finite number, as a GPU's saturating conversion gives
        largest = torch.finfo(FP8[target]).max
        wanted = values.float().clamp(-largest, largest).to(FP8[target]).float()
    np.testing.assert_array_equal(found, as_held(wanted))


@pytest.mark.parametrize("target", ["bf16", "f16", "f8E4M3FN", "f8E5M2"])
def test_conversions_toward_zero_never_grow(target):
    torch.manual_seed(0)
    values = torch.randn(500).numpy() * 20
    found = operate("tt.fp_to_fp %0, rounding = rtz : T -> R", values, element="f32", result=target).astype(np.float64)
    nearest = held(values, target).astype(np.float64)
    assert (np.abs(found) <= np.abs(values)).all() and (found != nearest).any()
    if target == "f16":
        bigger = np.nextafter(found.astype(np.float16), np.copysign(np.float16(np.inf), found.astype(np.float16)))
    else:
        bits = to_bits(held(found, target), target)
        bigger = from_bits(bits + bits.dtype.type(1), target)
    bigger = bigger.astype(np.float64)
    assert (np.abs(bigger) > np.abs(values)).all()


@pytest.mark.parametrize("element", ["bf16", *FP8])
def test_every_pattern_of_bits_survives_being_held(element):
    raw = np.arange(1 << 8 * stored(element).itemsize).astype(stored(element))
    values = from_bits(raw, element)
    number = ~np.isnan(values)
    assert np.array_equal(to_bits(values, element)[number], raw[number])
    assert np.isnan(from_bits(to_bits(values[~number], element), element)).all()


@pytest.mark.parametrize("element, bits", WIDTHS.items())
@pytest.mark.parametrize("kind", ["si", "ui"])
def test_floats_become_the_nearest_integer_that_exists_and_nan_zero(element, bits, kind):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "si" else (0, (1 << bits) - 1)
    values = [0.0, 1.9, -1.9, 100.5, -100.5, 1e30, -1e30, math.inf, -math.inf, math.nan, float(2**bits), -0.5]
    found = operate(f"arith.fpto{kind} %0 : T to R", values, element="f64", result=element)
    wanted = [
        0 if math.isnan(v) else min(max(math.trunc(v) if math.isfinite(v) else (high if v > 0 else low), low), high)
        for v in values
    ]
    assert found.tolist() == [signed(w, bits) for w in wanted]


@pytest.mark.parametrize("source", ["i1", *WIDTHS])
@pytest.mark.parametrize("target", ["f32", "f64", "bf16"])
def test_integers_become_floats_with_their_sign_or_without(source, target):
    values = [0, 1] if source == "i1" else [0, 1, -1, 100, -(1 << WIDTHS[source] - 1), (1 << WIDTHS[source] - 1) - 1]
    bits = 1 if source == "i1" else WIDTHS[source]
    for name, meant in (("sitofp", [signed(v, bits) for v in values]), ("uitofp", [v % 2**bits for v in values])):
        found = operate(
            f"arith.{name} %0 : T to R", np.array(values).astype(HELD[source]), element=source, result=target
        )
        assert found.tolist() == [float(held(np.float64(m), target)) for m in meant], name


def test_bits_can_be_read_as_another_type():
    values = np.array([0.0, -1.5, 3e38, np.inf], np.float32)
    found = operate("tt.bitcast %0 : T -> R", values, element="f32", result="i32")
    assert found.tolist() == values.view(np.int32).tolist()
    halves = held(np.array([0.5, -2.0]), "bf16")
    assert operate("tt.bitcast %0 : T -> R", halves, element="bf16", result="i16").tolist() == [0x3F00, -0x4000]


@pytest.mark.parametrize(
    "name, count",
    [
        ("ctpop", lambda x, n: bin(x).count("1")),
        ("ctlz", lambda x, n: n - x.bit_length()),
        ("cttz", lambda x, n: (x & -x).bit_length() - 1 if x else n),
    ],
)
@pytest.mark.parametrize("element, bits", WIDTHS.items())
def test_bits_are_counted(name, count, element, bits):
    values = [0, 1, -1, 5, 64, -(1 << bits - 1)]
    found = operate(f"math.{name} %0 : T", values, element=element)
    assert found.tolist() == [count(v % 2**bits, bits) for v in values]
