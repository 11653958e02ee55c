"""Unary, Binary, Ternary and Fill against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mudnn_device import NUMPY, TYPES, Device, Failure, from_bfloat16, to_bfloat16

erf = np.vectorize(math.erf, otypes=[np.float64])
OF_CASTS = TYPES[: TYPES.index("bool") + 1]  # without the quantized and 8-bit floating ones
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
FLOATS = {"double": 1e-12, "float": 2e-6, "half": 2e-3, "bfloat16": 1.6e-2}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


UNARY = {
    "ABS": np.abs,
    "ACOS": lambda x: np.arccos(x / 8),
    "ATAN": np.arctan,
    "CEIL": np.ceil,
    "COS": np.cos,
    "ELU": lambda x: np.where(x > 0, x, 1.5 * np.expm1(x)),
    "ERF": erf,
    "EXP": np.exp,
    "FLOOR": np.floor,
    "GELU": gelu,
    "GELU_TANH": gelu_tanh,
    "HARDSIGMOID": lambda x: np.clip(x + 3, 0, 6) / 6,
    "HARDSWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "LEAKY_RELU": lambda x: np.where(x > 0, x, 1.5 * x),
    "LOG": lambda x: np.log(np.abs(x)),
    "LOG10": lambda x: np.log10(np.abs(x)),
    "LOG1P": lambda x: np.log1p(np.abs(x)),
    "LOG2": lambda x: np.log2(np.abs(x)),
    "MISH": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "RECIPROCAL": lambda x: 1 / x,
    "RELU": lambda x: np.maximum(x, 0),
    "ROUND": np.rint,
    "RSQRT": lambda x: 1 / np.sqrt(np.abs(x)),
    "SIGMOID": sigmoid,
    "SIGN": np.sign,
    "SILU": lambda x: x * sigmoid(x),
    "SIN": np.sin,
    "SOFTPLUS": lambda x: np.where(1.5 * x > 2.5, x, np.log1p(np.exp(1.5 * x)) / 1.5),
    "SQRT": lambda x: np.sqrt(np.abs(x)),
    "TAN": np.tan,
    "TANH": np.tanh,
    "ADD": lambda x: x + 1.5,
    "SUB": lambda x: x - 1.5,
    "MUL": lambda x: x * 1.5,
    "TRUEDIV": lambda x: x / 1.5,
    "POW": lambda x: np.abs(x) ** 1.5,
    "FLOORMOD": lambda x: np.mod(x, 1.5),
    "TRUNCATEMOD": lambda x: np.fmod(x, 1.5),
    "TRUNCATEDIV": lambda x: np.trunc(x / 1.5),
    "CLIP": lambda x: np.clip(x, 1.5, 2.5),
    "IDENTITY": lambda x: x,
}
POSITIVE = {"LOG", "LOG10", "LOG1P", "LOG2", "RSQRT", "SQRT", "POW"}


def numbers(type: str, seed: int = 0, shape: tuple[int, ...] = (7, 43)) -> np.ndarray:
    """Exact in the type, none of them where a function jumps."""
    values = np.random.default_rng(seed).integers(-40, 40, shape) / 8 + 1 / 16
    return from_bfloat16(to_bfloat16(values)) if type == "bfloat16" else values.astype(NUMPY[type])


@pytest.mark.parametrize("type", FLOATS)
def test_every_unary_mode_agrees_with_numpy(device: Device, type: str) -> None:
    for mode, expected in UNARY.items():
        x = numbers(type)
        if mode in POSITIVE:
            x = np.abs(x)
        if mode == "ACOS":
            x = x / 8
        wanted = np.arccos(x.astype(np.float64)) if mode == "ACOS" else expected(x.astype(np.float64))
        out = device.empty(x.shape, type)
        device.run("unary", mode, out, device.put(x, type), real=(1.5, 2.5))
        np.testing.assert_allclose(device.get(out), wanted, rtol=FLOATS[type], atol=FLOATS[type], err_msg=mode)


@pytest.mark.parametrize("type", INTEGERS)
def test_integer_modes_wrap_and_divide_as_python_does(device: Device, type: str) -> None:
    x = np.random.default_rng(1).integers(-100 if type != "uint8" else 0, 100, (5, 60)).astype(NUMPY[type])
    for mode, expected in {
        "ADD": x + NUMPY[type](7), "SUB": x - NUMPY[type](7), "MUL": x * NUMPY[type](7), "ABS": np.abs(x), "SIGN": np.sign(x),
        "FLOORMOD": np.mod(x, 7), "TRUNCATEMOD": np.fmod(x, 7), "TRUNCATEDIV": np.trunc(x / 7), "CLIP": np.clip(x, 7, 9),
        "RELU": np.maximum(x, 0),
    }.items():  # fmt: skip
        out = device.empty(x.shape, type)
        device.run("unary", mode, out, device.put(x, type), integer=(7, 9), use_integer=True)
        np.testing.assert_array_equal(device.get(out), expected.astype(NUMPY[type]), err_msg=mode)
    y = np.where(np.arange(x.size).reshape(x.shape) % 2, 5, 3 if type == "uint8" else -3).astype(NUMPY[type])
    for mode, expected in {
        "ADD": x + y,
        "MUL": x * y,
        "FLOORDIV": np.floor_divide(x, y),
        "FLOORMOD": np.mod(x, y),
        "TRUNCATEMOD": np.fmod(x, y),
        "MAX": np.maximum(x, y),
        "MIN": np.minimum(x, y),
        "ADD_ALPHA": x + NUMPY[type](2) * y,
        "SUB_ALPHA": x - NUMPY[type](2) * y,
    }.items():
        out = device.empty(x.shape, type)
        device.run("binary", mode, out, device.put(x, type), device.put(y, type), integer=(2,), use_integer=True)
        np.testing.assert_array_equal(device.get(out), expected.astype(NUMPY[type]), err_msg=mode)


def test_int64_scalars_keep_all_their_bits(device: Device) -> None:
    big = 2**62 + 1
    out = device.empty((2,), "int64")
    device.run("unary", "ADD", out, device.put([0, 1], "int64"), integer=(big,), use_integer=True)
    assert device.get(out).tolist() == [big, big + 1]
    equal = device.empty((2,), "bool")
    device.run("unary", "EQ", equal, out, integer=(big,), use_integer=True)
    assert device.get(equal).tolist() == [True, False]
    power = device.empty((3,), "int64")
    device.run("binary", "POW", power, device.put([3, -1, 2], "int64"), device.put([39, -3, -1], "int64"))
    assert device.get(power).tolist() == [3**39, -1, 0]


def test_an_integer_division_by_zero_does_not_trap(device: Device) -> None:
    out = device.empty((2,), "int64")
    least = np.iinfo(np.int64).min
    device.run("binary", "FLOORDIV", out, device.put([5, least], "int64"), device.put([0, -1], "int64"))
    assert device.get(out)[1] == least
    device.run("binary", "FLOORMOD", out, device.put([5, least], "int64"), device.put([0, -1], "int64"))
    assert device.get(out)[1] == 0


BACKWARD = {  # gradient 1, so that they are derivatives; compared with differences
    "GELU_NONE_BW": gelu, "GELU_TANH_BW": gelu_tanh, "SILU_BW": lambda x: x * sigmoid(x),
    "LEAKY_RELU_BW": lambda x: np.where(x > 0, x, 1.5 * x), "THRESHOLD_BW": lambda x: np.where(x > 1.5, x, 0),
}  # fmt: skip


def test_backward_modes_are_derivatives(device: Device) -> None:
    x = numbers("double")
    g = np.linspace(-1, 1, x.size).reshape(x.shape)
    for mode, function in BACKWARD.items():
        out = device.empty(x.shape, "double")
        device.run("binary", mode, out, device.put(g, "double"), device.put(x, "double"), real=(1.5,))
        slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(device.get(out), g * slope, rtol=1e-6, atol=1e-8, err_msg=mode)
    for mode, slope in {"SIGMOID_BW": lambda y: y * (1 - y), "TANH_BW": lambda y: 1 - y * y}.items():
        out = device.empty(x.shape, "double")
        device.run("binary", mode, out, device.put(g, "double"), device.put(x, "double"))
        np.testing.assert_allclose(device.get(out), g * slope(x), rtol=1e-12, err_msg=mode)


@pytest.mark.parametrize("type", [*FLOATS, "int64", "uint8", "uint64"])
def test_comparisons_give_bool(device: Device, type: str) -> None:
    x = np.arange(300).reshape(3, 100) % 7
    y = np.arange(300).reshape(3, 100) % 5
    a, b, out = device.put(x, type), device.put(y, type), device.empty(x.shape, "bool")
    for mode, test in {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }.items():
        device.run("binary", mode, out, a, b)
        np.testing.assert_array_equal(device.get(out), test(x, y), err_msg=mode)
        device.run("unary", mode, out, a, real=(3.0,))
        np.testing.assert_array_equal(device.get(out), test(x, 3), err_msg=mode)
    for mode, test in {
        "LOGICAL_AND": np.logical_and,
        "LOGICAL_OR": np.logical_or,
        "LOGICAL_XOR": np.logical_xor,
    }.items():
        device.run("binary", mode, out, a, b)
        np.testing.assert_array_equal(device.get(out), test(x, y), err_msg=mode)


def test_nan_and_infinity_go_through_as_in_pytorch(device: Device) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    out, test = device.empty((4,), "float"), device.empty((4,), "bool")
    device.run("unary", "IS_NAN", test, device.put(x, "float"))
    assert device.get(test).tolist() == [True, False, False, False]
    device.run("unary", "IS_INF", test, device.put(x, "float"))
    assert device.get(test).tolist() == [False, True, True, False]
    for op, mode, other, wanted in [
        ("unary", "RELU", None, [np.nan, np.inf, 0, 1]),
        ("unary", "CLIP", None, [np.nan, 0.5, -0.5, 0.5]),
        ("binary", "MAX", [0, 0, np.nan, 0], [np.nan, np.inf, np.nan, 1]),
        ("binary", "MIN", [0, 0, np.nan, 0], [np.nan, 0, np.nan, 0]),
    ]:
        operands = [device.put(x, "float")] + ([device.put(other, "float")] if other else [])
        device.run(op, mode, out, *operands, real=(-0.5, 0.5))
        np.testing.assert_array_equal(device.get(out), np.array(wanted, np.float32), err_msg=mode)


def test_floor_division_of_floats_is_pythons(device: Device) -> None:
    a = np.array([7.0, -7.0, 7.0, -7.0, 1.0, 0.0], np.float64)
    b = np.array([2.0, 2.0, -2.0, -2.0, 0.1, -3.0], np.float64)
    for mode, python in {"FLOORDIV": lambda x, y: x // y, "FLOORMOD": lambda x, y: x % y}.items():
        out = device.empty((6,), "double")
        device.run("binary", mode, out, device.put(a, "double"), device.put(b, "double"))
        assert device.get(out).tolist() == [python(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def test_strides_are_followed(device: Device) -> None:
    x, y = numbers("float", 2, (6, 5, 4)), numbers("float", 3, (5, 1))
    a, b = device.put(x, "float").transposed(2, 1, 0), device.put(y, "float").expanded(5, 6)
    flat = device.empty((4 * 5 * 6 * 2,), "float")
    out = flat.as_strided((4, 5, 6), (2 * 30, 2 * 6, 2))  # every second element
    device.run("binary", "MUL", out, a, b.as_strided((4, 5, 6), (0, 1, 0)))
    result = device.get(flat).reshape(4, 5, 6, 2)
    np.testing.assert_array_equal(result[..., 0], x.transpose(2, 1, 0) * y)
    assert np.isnan(result[..., 1]).all()  # between the elements: untouched


def test_in_place_and_long_enough_for_several_strips(device: Device) -> None:
    x = np.arange(1000, dtype=np.float32)
    tensor = device.put(x, "half")
    device.run("binary", "ADD", tensor, tensor, tensor)
    np.testing.assert_array_equal(device.get(tensor), (x.astype(np.float16) * 2).astype(np.float16))


def test_casts_between_all_types(device: Device) -> None:
    for source in NUMPY:
        if source not in OF_CASTS:
            continue
        values = np.array([0, 1, 3, 100], np.float64)
        if source == "bool":
            values = values != 0
        tensor = device.put(values, source)
        for target in OF_CASTS:
            out = device.empty((4,), target)
            device.run("unary", "CAST", out, tensor)
            got = device.get(out)
            wanted = values != 0 if target == "bool" else values.astype(np.float64)
            np.testing.assert_array_equal(
                got.astype(np.float64), np.asarray(wanted, np.float64), err_msg=f"{source} -> {target}"
            )


def test_half_conversions_are_those_of_ieee(device: Device) -> None:
    values = np.concatenate([
        np.random.default_rng(4).standard_normal(2000).astype(np.float32) * np.float32(10.0) ** (np.arange(-1000, 1000) // 100),
        np.array([65504, 65519.99, 65520, 1e9, -1e9, 6e-8, 2.9e-8, 2.99e-8, 0.0, -0.0, np.inf, -np.inf], np.float32),
    ])  # fmt: skip
    out = device.empty(values.shape, "half")
    device.run("unary", "CAST", out, device.put(values, "float"))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(device.get(out).view(np.uint16), values.astype(np.float16).view(np.uint16))
    back = device.empty((65536,), "float")
    bits = np.arange(65536, dtype=np.uint16).view(np.float16)
    device.run("unary", "CAST", back, device.put(bits, "half"))
    np.testing.assert_array_equal(device.get(back), bits.astype(np.float32))


def test_ternary_modes(device: Device) -> None:
    a, b, c = (numbers("float", seed) for seed in (5, 6, 7))
    x, y, z, out = (
        device.put(a, "float"),
        device.put(b, "float"),
        device.put(c, "float"),
        device.empty(a.shape, "float"),
    )
    device.run("ternary", "ADDCMUL_ALPHA", out, x, y, z, real=(0.5,))
    np.testing.assert_allclose(device.get(out), a + 0.5 * b * c, rtol=1e-5)
    device.run("ternary", "ADDCDIV_ALPHA", out, x, y, z, real=(0.5,))
    np.testing.assert_allclose(device.get(out), a + 0.5 * b / c, rtol=1e-4)
    for type in ("float", "int64", "bfloat16", "bool"):
        p, q = device.put(b > 0, type), device.put(c > 0, type)
        chosen = device.empty(a.shape, type)
        device.run("ternary", "SELECT", chosen, device.put(a > 0, "bool"), p, q)
        np.testing.assert_array_equal(device.get(chosen) != 0, np.where(a > 0, b > 0, c > 0))


def test_fill_with_and_without_a_mask(device: Device) -> None:
    for type, value in (("float", 2.5), ("half", -1.0), ("bool", 0.5), ("int32", 7.0)):
        tensor = device.empty((3, 5), type)
        device.run("fill", "RUN", tensor, real=(value,))
        assert (device.get(tensor) == NUMPY[type](value)).all()
    tensor, mask = device.put(np.zeros((3, 5)), "int64"), np.arange(15).reshape(3, 5) % 2 == 0
    device.run("fill", "MASK", tensor, device.put(mask, "bool"), integer=(2**62 + 1,), use_integer=True)
    np.testing.assert_array_equal(device.get(tensor), np.where(mask, 2**62 + 1, 0))


@pytest.mark.parametrize(
    ("op", "mode", "types"),
    [
        ("unary", "ADD", ("bool", "bool")), ("unary", "SQRT", ("int64", "int64")), ("unary", "ADD", ("qint8", "qint8")),
        ("unary", "EQ", ("float", "float")), ("unary", "ABS", ("fp8_e4m3", "fp8_e4m3")), ("unary", "ADD", ("float", "int64")),
        ("unary", "IDENTITY", ("float", "half")), ("binary", "ADD", ("bool", "bool", "bool")),
        ("binary", "TRUEDIV", ("int64", "int64", "int64")), ("binary", "ADD", ("float", "float", "half")),
        ("ternary", "SELECT", ("float", "float", "float", "float")),
    ],
)  # fmt: skip
def test_what_mudnn_has_no_kernel_for_is_not_supported(
    device: Device, op: str, mode: str, types: tuple[str, ...]
) -> None:
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run(op, mode, *(device.empty((4,), type) for type in types))


def test_bool_is_accepted_by_logic_comparison_and_copies(device: Device) -> None:
    out, x = device.empty((3,), "bool"), device.put([True, False, True], "bool")
    for op, mode, operands in (
        ("binary", "LOGICAL_XOR", (x, x)),
        ("unary", "NE", (x,)),
        ("unary", "IDENTITY", (x,)),
        ("unary", "CAST", (x,)),
    ):
        device.run(op, mode, out, *operands)
    assert device.get(out).tolist() == [True, False, True]


def test_nothing_is_nothing(device: Device) -> None:
    empty = device.empty((0, 3), "float")
    device.run("unary", "EXP", empty, empty)
    device.run("binary", "ADD", empty, empty, empty)
    device.run("fill", "RUN", empty)
