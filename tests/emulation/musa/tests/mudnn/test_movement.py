"""Operators that move elements: Permute, Concat, GatherX, Scatter, Sort, TopK, Dropout."""

from __future__ import annotations

import numpy as np
import pytest
from mudnn_device import NUMPY, Device, Failure

RNG = np.random.default_rng(0)
TYPES = ["float", "double", "half", "int64", "int32", "int16", "int8", "uint8", "uint64", "bool"]


@pytest.mark.parametrize("type", TYPES)
def test_permute_and_concat_move_every_type(device: Device, type: str) -> None:
    x, y = (
        RNG.integers(0, 2 if type == "bool" else 100, shape).astype(NUMPY[type]) for shape in ((3, 4, 5), (3, 2, 5))
    )
    out = device.empty((5, 3, 4), type)
    device.run("permute", "", out, device.put(x, type).transposed(2, 0, 1))
    np.testing.assert_array_equal(device.get(out), x.transpose(2, 0, 1))
    joined = device.empty((3, 6, 5), type)
    device.run("concat", "", joined, device.put(x, type), device.put(y, type), ints=(1, 2))
    np.testing.assert_array_equal(device.get(joined), np.concatenate([x, y], 1))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("index_type", ["int64", "int32"])
def test_gather_in_both_modes(device: Device, type: str, index_type: str) -> None:
    x = RNG.integers(0, 2 if type == "bool" else 100, (6, 4, 5)).astype(NUMPY[type])
    tensor = device.put(x, type)
    for axis in range(3):
        index = RNG.integers(0, x.shape[axis], (2, 3))
        sizes = (*x.shape[:axis], 2, 3, *x.shape[axis + 1 :])
        out = device.empty(sizes, type)
        device.run("gather", "GATHER", out, device.put(index, index_type), tensor, ints=(axis,))
        np.testing.assert_array_equal(device.get(out), np.take(x, index, axis))
        sizes = tuple(7 if d == axis else n - 1 for d, n in enumerate(x.shape))
        places = RNG.integers(0, x.shape[axis], sizes)
        out = device.empty(sizes, type)
        device.run("gather", "GATHER_ELEMENTS", out, device.put(places, index_type), tensor, ints=(axis,))
        part = x[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(sizes))]
        np.testing.assert_array_equal(device.get(out), np.take_along_axis(part, places, axis))


@pytest.mark.parametrize("type", ["float", "half", "int64", "uint8"])
def test_scatter_in_both_modes(device: Device, type: str) -> None:
    index, src = RNG.integers(0, 4, (5, 6)), RNG.integers(0, 9, (5, 6)).astype(NUMPY[type])
    for dim in (0, 1):
        shape = (4, 6) if dim == 0 else (5, 4)
        for mode in ("ADD", "UPDATE_ONLY"):
            wanted = np.ones(shape, NUMPY[type])
            for i in range(5):
                for j in range(6):
                    at = (index[i, j], j) if dim == 0 else (i, index[i, j])
                    wanted[at] = src[i, j] + (wanted[at] if mode == "ADD" else 0)
            out = device.put(np.ones(shape), type)
            device.run("scatter", mode, out, device.put(index, "int64"), device.put(src, type), ints=(dim,))
            np.testing.assert_array_equal(device.get(out), wanted)


@pytest.mark.parametrize("type", ["float", "bfloat16", "int64", "uint8", "bool"])
def test_sort_and_topk_are_stable_and_put_nan_last(device: Device, type: str) -> None:
    x = RNG.integers(0, 2 if type == "bool" else 9, (7, 30)).astype(np.float64)
    if type in ("float", "bfloat16"):
        x[:, 3] = np.nan
    key = np.where(np.isnan(x), 1e9, x)
    for dim in (0, 1):
        tensor = device.put(x, type)
        for descending in (False, True):
            order = np.argsort(-key if descending else key, dim, kind="stable")
            values, indices = device.empty(x.shape, type), device.empty(x.shape, "int64")
            device.run("sort", "", values, indices, tensor, ints=(dim, descending))
            np.testing.assert_array_equal(device.get(indices), order)
            np.testing.assert_array_equal(device.get(values), np.take_along_axis(x, order, dim))
            top = (4, 30) if dim == 0 else (7, 4)
            values, indices = device.empty(top, type), device.empty(top, "int64")
            device.run("topk", "", values, indices, tensor, ints=(dim, 4, descending))
            np.testing.assert_array_equal(device.get(indices), order[:4] if dim == 0 else order[:, :4])


def test_dropout_keeps_its_share_and_repeats_with_its_seed(device: Device) -> None:
    x = np.ones((100, 100), np.float32)
    tensor = device.put(x, "float")

    def draw(seed: int, offset: int) -> np.ndarray:
        out, mask = device.empty(x.shape, "float"), device.empty(x.shape, "bool")
        device.run("dropout", "RUN", out, tensor, mask, real=(0.3, 2.0), integer=(seed, offset))
        kept = device.get(mask)
        np.testing.assert_array_equal(device.get(out), np.where(kept, 2, 0))
        gradient = device.empty(x.shape, "float")
        device.run("dropout", "BACKWARD", gradient, tensor, mask, real=(0.3, 2.0))
        np.testing.assert_array_equal(device.get(gradient), np.where(kept, 2, 0))
        return kept

    kept = draw(1, 0)
    assert 0.68 < kept.mean() < 0.72
    np.testing.assert_array_equal(draw(1, 0), kept)
    assert (draw(2, 0) != kept).any()
    np.testing.assert_array_equal(draw(1, 100).ravel()[:-100], kept.ravel()[100:])  # the offset counts elements


@pytest.mark.parametrize(
    ("op", "mode", "tensors", "ints"),
    [
        ("permute", "", [((2, 3), "float"), ((3, 2), "float")], ()),
        ("concat", "", [((2, 3), "float"), ((2, 2), "float"), ((2, 2), "float")], (1, 2)),
        ("gather", "GATHER", [((2,), "float"), ((2,), "float"), ((5,), "float")], (0,)),
        ("gather", "GATHER_ELEMENTS", [((2,), "float"), ((3,), "int64"), ((5,), "float")], (0,)),
        ("scatter", "ADD", [((2, 2), "float"), ((3, 3), "int64"), ((2, 3), "float")], (0,)),
        ("sort", "", [((3,), "float"), ((3,), "int64"), ((4,), "float")], (0, 0)),
        ("topk", "", [((3,), "float"), ((3,), "int64"), ((2,), "float")], (0, 3, 1)),
    ],
)
def test_sizes_and_types_that_do_not_fit_are_refused(
    device: Device, op: str, mode: str, tensors: list, ints: tuple[int, ...]
) -> None:
    with pytest.raises(Failure, match="INVALID_PARAMETER|NOT_SUPPORTED"):
        device.run(op, mode, *(device.empty(sizes, type) for sizes, type in tensors), ints=ints)
