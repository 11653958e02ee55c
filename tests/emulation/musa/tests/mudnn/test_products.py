"""MatMul and BatchMatMul against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from mudnn_device import NONE, NUMPY, Device, Failure

RNG = np.random.default_rng(0)
SHAPES = [(1, 1, 1), (3, 5, 2), (4, 16, 300), (67, 35, 129), (130, 1, 520)]


@pytest.mark.parametrize(
    ("type", "tolerance"), [("double", 1e-12), ("float", 1e-5), ("half", 2e-3), ("bfloat16", 1.6e-2)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_all_transpositions(
    device: Device, shape: tuple[int, int, int], type: str, tolerance: float
) -> None:
    m, n, k = shape
    a, b = RNG.integers(-8, 9, (m, k)) / 8, RNG.integers(-8, 9, (k, n)) / 8  # exact in all types
    for left, right in ((0, 0), (1, 0), (0, 1), (1, 1)):
        out = device.empty((m, n), type)
        device.run(
            "matmul",
            "RUN",
            out,
            device.put(a.T if left else a, type),
            device.put(b.T if right else b, type),
            real=(1, 0, 0),
            ints=(left, right),
        )
        np.testing.assert_allclose(device.get(out), a @ b, rtol=tolerance, atol=tolerance)


def test_float_products_are_accurate(device: Device) -> None:
    a, b = RNG.standard_normal((64, 64)).astype(np.float32), RNG.standard_normal((64, 64)).astype(np.float32)
    out = device.empty((64, 64), "float")
    device.run("matmul", "RUN", out, device.put(a, "float"), device.put(b, "float"), real=(1, 0, 0), ints=(0, 0))
    assert np.abs(device.get(out) - a.astype(np.float64) @ b).max() < 1e-5


@pytest.mark.parametrize("type", ["int64", "int32", "uint8"])
def test_integer_products_are_exact_and_wrap(device: Device, type: str) -> None:
    a, b = (RNG.integers(0, np.iinfo(NUMPY[type]).max, shape).astype(NUMPY[type]) for shape in ((9, 31), (31, 5)))
    out = device.empty((9, 5), type)
    device.run("matmul", "RUN", out, device.put(a, type), device.put(b, type), real=(1, 0, 0), ints=(0, 0))
    np.testing.assert_array_equal(device.get(out), a @ b)


@pytest.mark.parametrize("mode", ["BIAS", "LT"])
def test_the_scaled_sum_of_product_addend_and_bias(device: Device, mode: str) -> None:
    a, b, c, bias = (RNG.standard_normal(shape) for shape in ((6, 7), (7, 5), (6, 5), (5,)))
    tensors = [device.put(x, "double") for x in (a, b, c, bias)]
    out = device.empty((6, 5), "double")
    device.run("matmul", mode, out, *tensors, real=(2.0, 3.0, -0.5), ints=(0, 0))
    np.testing.assert_allclose(device.get(out), 2 * a @ b + 3 * c - 0.5 * bias, rtol=1e-12)
    device.run("matmul", mode, out, *tensors[:2], NONE, tensors[3], real=(2.0, 3.0, -0.5), ints=(0, 0))
    np.testing.assert_allclose(device.get(out), 2 * a @ b - 0.5 * bias, rtol=1e-12)
    device.run("matmul", "RUN", out, *tensors[:2], real=(1.0, 1.0, 0), ints=(0, 0))  # beta scales what is there
    np.testing.assert_allclose(device.get(out), 3 * a @ b - 0.5 * bias, rtol=1e-12)


def test_beta_0_does_not_read_what_is_there(device: Device) -> None:
    out = device.put([[np.nan]], "float")
    device.run(
        "matmul", "RUN", out, device.put([[2.0]], "float"), device.put([[3.0]], "float"), real=(1, 0, 0), ints=(0, 0)
    )
    assert device.get(out).tolist() == [[6.0]]


def test_batches_with_strides_of_any_kind(device: Device) -> None:
    a, b, bias = RNG.standard_normal((3, 5, 4)), RNG.standard_normal((4, 6)), RNG.standard_normal((6,))
    left = device.put(a.transpose(2, 0, 1), "double").transposed(1, 2, 0)
    right = device.put(b, "double").expanded(3, 4, 6)
    out = device.empty((3, 5, 6), "double")
    device.run("batch_matmul", "RUN", out, left, right, real=(1, 0, 0), ints=(0, 0))
    np.testing.assert_allclose(device.get(out), a @ b, rtol=1e-12)
    device.run("batch_matmul", "BIAS", out, left, right, device.put(bias, "double"), real=(1, 0, 1), ints=(0, 0))
    np.testing.assert_allclose(device.get(out), a @ b + bias, rtol=1e-12)


def test_an_empty_inner_dimension_gives_zeros(device: Device) -> None:
    out = device.empty((2, 3), "float")
    device.run(
        "matmul", "RUN", out, device.empty((2, 0), "float"), device.empty((0, 3), "float"), real=(1, 0, 0), ints=(0, 0)
    )
    assert (device.get(out) == 0).all()


def test_wrong_products_are_refused(device: Device) -> None:
    def product(*arguments: tuple[tuple[int, ...], str]) -> None:
        device.run(
            "matmul", "RUN", *(device.empty(sizes, type) for sizes, type in arguments), real=(1, 0, 0), ints=(0, 0)
        )

    for arguments, status in (
        ([((2, 2), "float"), ((2, 3), "float"), ((2, 2), "float")], "INVALID_PARAMETER"),
        ([((2, 2), "float"), ((2, 2), "float"), ((2, 2), "half")], "NOT_SUPPORTED"),
        ([((2, 2), "bool"), ((2, 2), "bool"), ((2, 2), "bool")], "NOT_SUPPORTED"),
        ([((1, 2, 2), "float"), ((1, 2, 2), "float"), ((1, 2, 2), "float")], "INVALID_PARAMETER"),
    ):
        with pytest.raises(Failure, match=status):
            product(*arguments)


def tf32(x: np.ndarray) -> np.ndarray:
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & ~np.uint64(0x1FFF)).astype(np.uint32).view(np.float32)


def test_tf32_is_on_in_a_new_handle_and_rounds_the_operands(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = RNG.standard_normal((64, 64)).astype(np.float32), RNG.standard_normal((64, 64)).astype(np.float32)

    def error(handle: int | None, against: np.ndarray) -> float:
        out = device.empty((64, 64), "float")
        device.run(
            "matmul",
            "RUN",
            out,
            device.put(a, "float"),
            device.put(b, "float"),
            real=(1, 0, 0),
            ints=(0, 0),
            handle=handle,
        )
        return float(np.abs(device.get(out) - against).max())

    exact, rounded = a.astype(np.float64) @ b, tf32(a).astype(np.float64) @ tf32(b)
    fresh = device.new_handle(0)
    assert error(fresh, exact) > 1e-3 and error(fresh, rounded) < 1e-5
    assert error(None, exact) < 1e-5  # the fixture's handle has had SetAllowTF32(false)
    device.free_handle(fresh)
    monkeypatch.setenv("FLAGOS_EMULATION_QUIRKS_OFF", "tf32")
    fresh = device.new_handle(0)
    assert error(fresh, exact) < 1e-5
    device.free_handle(fresh)


def test_tf32_leaves_other_types_alone(device: Device) -> None:
    fresh, out = device.new_handle(0), device.empty((1, 1), "double")
    device.run(
        "matmul",
        "RUN",
        out,
        device.put([[1 + 2**-20]], "double"),
        device.put([[1.0]], "double"),
        real=(1, 0, 0),
        ints=(0, 0),
        handle=fresh,
    )
    assert device.get(out)[0, 0] == 1 + 2**-20
    device.free_handle(fresh)
