"""Reduce, Softmax and Cum against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from mudnn_device import NUMPY, Device, Failure

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 7, 600))
TOLERANCE = {"double": 1e-12, "float": 1e-6, "half": 2e-3, "bfloat16": 1.6e-2}
MODES = {
    "ADD": np.sum, "MEAN": np.mean, "MAX": np.max, "MIN": np.min, "PROD": np.prod,
    "NORM": lambda x, axis: (np.abs(x) ** 3).sum(axis) ** (1 / 3),
    "VARIANCE": lambda x, axis: x.var(axis, ddof=1), "STD": lambda x, axis: x.std(axis, ddof=1),
}  # fmt: skip


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (0, 2), (2, 1), (0, 1, 2)])
def test_every_mode_over_any_dimensions(device: Device, dims: tuple[int, ...]) -> None:
    x = np.sign(X) * np.exp(X / 100)  # products stay within the type
    tensor = device.put(x, "double")
    for keep in (True, False):
        sizes = (
            tuple(1 if d in dims else n for d, n in enumerate(x.shape))
            if keep
            else tuple(n for d, n in enumerate(x.shape) if d not in dims) or (1,)
        )
        for mode, function in MODES.items():
            out = device.empty(sizes, "double")
            device.run("reduce", mode, out, tensor, ints=dims, real=(3.0,), integer=(1,))
            np.testing.assert_allclose(device.get(out), function(x, axis=dims).reshape(sizes), rtol=1e-11, err_msg=mode)


@pytest.mark.parametrize("type", TOLERANCE)
def test_short_types_are_added_up_in_more_digits(device: Device, type: str) -> None:
    x = np.full((3, 20000), 1 / 8)
    for tensor, dims in ((device.put(x, type), (1,)), (device.put(x.T, type), (0,))):
        out = device.empty((3,), type)
        device.run("reduce", "ADD", out, tensor, ints=dims)
        assert device.get(out).tolist() == [2500.0 if type != "bfloat16" else 2496.0] * 3


def test_integers_are_exact_and_wrap(device: Device) -> None:
    x = RNG.integers(-(2**62), 2**62, (4, 300))
    out = device.empty((4,), "int64")
    for mode, function in (("ADD", np.sum), ("MAX", np.max), ("MIN", np.min), ("PROD", np.prod)):
        device.run("reduce", mode, out, device.put(x, "int64"), ints=(1,))
        np.testing.assert_array_equal(device.get(out), function(x, axis=1), err_msg=mode)


def test_norms_of_special_orders(device: Device) -> None:
    x = np.array([[0.0, -3, 4], [1, 0, 0]])
    for order, wanted in ((0.0, [2, 1]), (1.0, [7, 1]), (2.0, [5, 1]), (np.inf, [4, 1]), (-np.inf, [0, 0])):
        out = device.empty((2,), "float")
        device.run("reduce", "NORM", out, device.put(x, "float"), ints=(1,), real=(order,))
        assert device.get(out).tolist() == wanted


def test_logic_takes_any_number_and_gives_bool(device: Device) -> None:
    x = np.array([[0.0, 0.5], [1, 1], [0, 0]])
    for type in ("float", "bool", "int32"):
        out, tensor = device.empty((3,), "bool"), device.put(x if type == "float" else x != 0, type)
        device.run("reduce", "AND", out, tensor, ints=(1,))
        assert device.get(out).tolist() == [False, True, False]
        device.run("reduce", "OR", out, tensor, ints=(1,))
        assert device.get(out).tolist() == [True, True, False]


@pytest.mark.parametrize("type", ["float", "int64", "half"])
@pytest.mark.parametrize("dim", [0, 1])
def test_indices_are_those_of_the_first_extremum(device: Device, type: str, dim: int) -> None:
    x = RNG.integers(0, 9, (40, 50)).astype(NUMPY[type])
    tensor, sizes = device.put(x, type), (50,) if dim == 0 else (40,)
    for mode, place in (("MAX", np.argmax), ("MIN", np.argmin)):
        values, indices = device.empty(sizes, type), device.empty(sizes, "int64")
        device.run("reduce_with_indices", mode, values, indices, tensor, ints=(dim,))
        np.testing.assert_array_equal(device.get(indices), place(x, axis=dim))
        np.testing.assert_array_equal(
            device.get(values), np.take_along_axis(x, np.expand_dims(place(x, axis=dim), dim), dim).reshape(sizes)
        )
        alone = device.empty(sizes, "int32")
        device.run("reduce_indices", mode, alone, tensor, ints=(dim,))
        np.testing.assert_array_equal(device.get(alone), place(x, axis=dim))


def test_nan_is_the_extremum(device: Device) -> None:
    values, indices = device.empty((2,), "float"), device.empty((2,), "int64")
    tensor = device.put([[1, np.nan, 3, np.nan], [np.inf, 1, 2, 3]], "float")
    for mode in ("MAX", "MIN"):
        device.run("reduce_with_indices", mode, values, indices, tensor, ints=(1,))
        assert np.isnan(device.get(values)[0]) and device.get(indices)[0] == 1


def test_reduction_of_a_transposed_and_a_partly_broadcast_tensor(device: Device) -> None:
    x = X[0].astype(np.float32)
    out = device.empty((7,), "float")
    device.run("reduce", "ADD", out, device.put(x.T, "float").transposed(1, 0), ints=(1,))
    np.testing.assert_allclose(device.get(out), x.sum(1, dtype=np.float64), rtol=1e-5)
    device.run("reduce", "ADD", out, device.put(x[:, :1], "float").expanded(7, 30), ints=(1,))
    np.testing.assert_allclose(device.get(out), x[:, 0] * 30, rtol=1e-6)


def test_variance_of_too_few_numbers_is_not_a_number(device: Device) -> None:
    out = device.empty((2,), "float")
    device.run("reduce", "VARIANCE", out, device.put([[1.0], [2.0]], "float"), ints=(1,), integer=(1,))
    assert np.isnan(device.get(out)).all()


def test_wrong_reductions_are_refused(device: Device) -> None:
    x, out = device.put(np.zeros((2, 3)), "float"), device.empty((2,), "float")
    for dims, status in (
        ((2,), "INVALID_PARAMETER"),
        ((-1,), "INVALID_PARAMETER"),
        ((1, 1), "INVALID_PARAMETER"),
        ((0,), "INVALID_PARAMETER"),
    ):
        with pytest.raises(Failure, match=status):
            device.run("reduce", "ADD", out, x, ints=dims)
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run("reduce", "ADD", device.empty((2,), "bool"), device.put(np.zeros((2, 3)), "bool"), ints=(1,))
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run("reduce", "MEAN", device.empty((2,), "int64"), device.put(np.zeros((2, 3)), "int64"), ints=(1,))


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("type", TOLERANCE)
def test_softmax_and_its_gradient(device: Device, type: str, dim: int) -> None:
    x = X[:, :, :20] * 3
    g = np.cos(np.arange(x.size)).reshape(x.shape)
    e = np.exp(x - x.max(dim, keepdims=True))
    p = e / e.sum(dim, keepdims=True)
    tensor, out, gradient = device.put(x, type), device.empty(x.shape, type), device.empty(x.shape, type)
    close = {"rtol": TOLERANCE[type], "atol": TOLERANCE[type] * 10}
    device.run("softmax", "SOFTMAX", out, tensor, ints=(dim,))
    np.testing.assert_allclose(device.get(out), p, **close)
    device.run("softmax_backward", "SOFTMAX", gradient, out, device.put(g, type), ints=(dim,))
    np.testing.assert_allclose(device.get(gradient), p * (g - (g * p).sum(dim, keepdims=True)), **close)
    device.run("softmax", "LOGSOFTMAX", out, tensor, ints=(dim,))
    np.testing.assert_allclose(device.get(out), np.log(p), **close)
    device.run("softmax_backward", "LOGSOFTMAX", gradient, out, device.put(g, type), ints=(dim,))
    np.testing.assert_allclose(
        device.get(gradient), g - p * g.sum(dim, keepdims=True), rtol=close["rtol"], atol=close["atol"] * 4
    )
    sums = device.empty(tuple(n for d, n in enumerate(x.shape) if d != dim), type)
    device.run("softmax", "LOGSUMEXP", sums, tensor, ints=(dim,))
    np.testing.assert_allclose(device.get(sums), np.log(np.exp(x).sum(dim)), **close)


def test_softmax_of_infinities(device: Device) -> None:
    out = device.empty((3, 2), "float")
    device.run(
        "softmax", "SOFTMAX", out, device.put([[-np.inf, 0], [-np.inf, -np.inf], [800.0, 800.0]], "float"), ints=(1,)
    )
    np.testing.assert_array_equal(device.get(out), np.array([[0, 1], [np.nan, np.nan], [0.5, 0.5]], np.float32))


@pytest.mark.parametrize("type", ["double", "float", "int64", "int16"])
def test_cumulative_sums_and_products(device: Device, type: str) -> None:
    x = (RNG.integers(-3, 4, (6, 9)) if type.startswith("int") else RNG.standard_normal((6, 9))).astype(NUMPY[type])
    for dim in (0, 1):
        for mode, function in (("ADD", np.cumsum), ("MUL", np.cumprod)):
            tensor = device.put(x, type)
            device.run("cum", mode, tensor, tensor, ints=(dim,))  # in place
            np.testing.assert_allclose(
                device.get(tensor), function(x, axis=dim, dtype=NUMPY[type]), rtol=1e-5, atol=1e-6
            )
