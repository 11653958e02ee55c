"""Convolution, pooling, normalisations and attention against plain formulas in numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mudnn_device import NONE, Device, Failure, Tensor

RNG = np.random.default_rng(0)
IMPLICIT_GEMM, GEMM, DIRECT, WINOGRAD = range(4)


def convolve(x: np.ndarray, w: np.ndarray, pad: tuple, stride: tuple, dilation: tuple, groups: int) -> np.ndarray:
    n, _, h, width = x.shape
    o, c, kh, kw = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    oh = (h + 2 * pad[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width + 2 * pad[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((n, o, oh, ow))
    for k, i, j in itertools.product(range(o), range(kh), range(kw)):
        first = k // (o // groups) * c
        rows, columns = i * dilation[0], j * dilation[1]
        seen = padded[
            :,
            first : first + c,
            rows : rows + (oh - 1) * stride[0] + 1 : stride[0],
            columns : columns + (ow - 1) * stride[1] + 1 : stride[1],
        ]
        out[:, k] += np.einsum("nchw,c->nhw", seen, w[k, :, i, j])
    return out


CASES = [  # input, weight, pad, stride, dilation, groups
    ((2, 3, 7, 8), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 4, 9, 6), (6, 2, 3, 2), (2, 1), (2, 1), (1, 2), 2),
    ((1, 4, 5, 5), (4, 1, 3, 3), (0, 0), (1, 1), (1, 1), 4),
    ((3, 5, 1, 11), (2, 5, 1, 4), (0, 3), (1, 3), (1, 1), 1),
]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("type", "tolerance"), [("double", 1e-11), ("float", 1e-5), ("half", 1e-2)])
@pytest.mark.parametrize("case", CASES)
def test_convolution_and_its_gradients(device: Device, case: tuple, type: str, tolerance: float, layout: str) -> None:
    x_sizes, w_sizes, pad, stride, dilation, groups = case
    x, w = RNG.integers(-4, 5, x_sizes) / 4, RNG.integers(-4, 5, w_sizes) / 4
    y = convolve(x, w, pad, stride, dilation, groups)
    g = RNG.integers(-4, 5, y.shape) / 4
    ints = (*pad, *stride, *dilation, groups, GEMM)

    def put(values: np.ndarray) -> Tensor:
        return device.put(values.transpose(0, 2, 3, 1), type, "NHWC") if layout == "NHWC" else device.put(values, type)

    def get(tensor: Tensor) -> np.ndarray:
        return device.get(tensor).transpose(0, 3, 1, 2) if layout == "NHWC" else device.get(tensor)

    def blank(values: np.ndarray) -> Tensor:
        return put(np.full(values.shape, np.nan))

    out, grad_x, grad_w = blank(y), blank(x), blank(w)
    device.run("convolution", "RUN", out, put(x), put(w), ints=ints)
    np.testing.assert_allclose(get(out), y, rtol=tolerance, atol=tolerance)
    device.run("convolution", "DATA", grad_x, put(g), put(w), ints=ints)
    device.run("convolution", "FILTER", grad_w, put(x), put(g), ints=ints)
    # The convolution is linear in each operand, so that <g, conv(x, w)> is <grad, operand>; and so for single entries.
    for operand, gradient, entry in ((x, get(grad_x), (0, 0, 0, 1)), (w, get(grad_w), (1, 0, 0, 1))):
        np.testing.assert_allclose((gradient * operand).sum(), (g * y).sum(), rtol=tolerance * 10, atol=tolerance * 100)
        one = np.zeros_like(operand)
        one[entry] = 1
        alone = (
            convolve(one, w, pad, stride, dilation, groups)
            if operand is x
            else convolve(x, one, pad, stride, dilation, groups)
        )
        np.testing.assert_allclose(gradient[entry], (g * alone).sum(), rtol=tolerance * 10, atol=tolerance * 10)


def test_fused_bias_addend_and_activation(device: Device) -> None:
    x, w, bias, add = (
        RNG.standard_normal((2, 3, 5, 5)),
        RNG.standard_normal((4, 3, 3, 3)),
        RNG.standard_normal(4),
        RNG.standard_normal((2, 4, 5, 5)),
    )
    y = convolve(x, w, (1, 1), (1, 1), (1, 1), 1) + bias[:, None, None]
    out = device.empty(y.shape, "double")
    operands = [device.put(v, "double") for v in (x, w, bias)]
    ints = (1, 1, 1, 1, 1, 1, 1, IMPLICIT_GEMM)
    device.run("convolution", "FUSION", out, *operands, NONE, ints=ints)
    np.testing.assert_allclose(device.get(out), y, rtol=1e-10)
    device.run("convolution", "FUSION_RELU", out, *operands, device.put(add, "double"), ints=ints)
    np.testing.assert_allclose(device.get(out), np.maximum(y + add, 0), rtol=1e-10)


def test_a_recommended_algorithm_may_be_refused(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def recommendations(x: tuple, w: tuple, y: tuple, *settings: int) -> tuple[list[int], list[bool]]:
        tensors = {"RECOMMEND": (y, x, w), "RECOMMEND_DATA": (x, y, w), "RECOMMEND_FILTER": (w, x, y)}
        named, accepted = [], []
        for mode, run in zip(tensors, ("RUN", "DATA", "FILTER"), strict=True):
            made = [device.put(np.zeros(sizes), "float") for sizes in tensors[mode]]
            named.append(device.run("convolution", mode, *made, ints=(*settings, 0)))
            try:
                device.run("convolution", run, *made, ints=(*settings, named[-1]))
                accepted.append(True)
            except Failure as failure:
                assert str(failure) == "NOT_SUPPORTED"
                accepted.append(False)
            device.run("convolution", run, *made, ints=(*settings, IMPLICIT_GEMM))  # one always works
        return named, accepted

    grouped = ((2, 8, 12, 12), (4, 2, 3, 3), (2, 4, 12, 12), 1, 1, 1, 1, 1, 1, 4)
    strided = ((2, 3, 12, 12), (4, 3, 3, 3), (2, 4, 6, 6), 1, 1, 2, 2, 1, 1, 1)
    plain = ((2, 3, 12, 12), (4, 3, 3, 3), (2, 4, 12, 12), 1, 1, 1, 1, 1, 1, 1)
    assert recommendations(*grouped) == ([DIRECT] * 3, [False] * 3)
    assert recommendations(*strided) == ([WINOGRAD] * 3, [False] * 3)
    assert recommendations(*plain) == ([WINOGRAD] * 3, [True] * 3)
    monkeypatch.setenv("FLAGOS_EMULATION_QUIRKS_OFF", "convolution_algorithm")
    assert recommendations(*grouped) == ([IMPLICIT_GEMM] * 3, [True] * 3)


def test_convolution_has_two_spatial_dimensions(device: Device) -> None:
    ints = (0, 0, 1, 1, 1, 1, 1, IMPLICIT_GEMM)
    for format, sizes in (("NCW", (1, 1, 3)), ("NCDHW", (1, 1, 3, 3, 3))):
        x = device.put(np.zeros(sizes), "float", format)
        with pytest.raises(Failure, match="NOT_SUPPORTED"):
            device.run("convolution", "RUN", x, x, device.put(np.zeros((1,) * len(sizes)), "float", format), ints=ints)


def test_a_fused_convolution_has_one_group(device: Device) -> None:
    x, w, bias = (device.put(np.zeros(sizes), "float") for sizes in ((1, 2, 3, 3), (2, 1, 1, 1), (2,)))
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run("convolution", "FUSION", x, x, w, bias, NONE, ints=(0, 0, 1, 1, 1, 1, 2, IMPLICIT_GEMM))


def test_tf32_reaches_convolutions(device: Device) -> None:
    x, w, out = (
        device.put(np.full((1, 1, 1, 1), 1 + 2**-12), "float"),
        device.put(np.ones((1, 1, 1, 1)), "float"),
        device.empty((1, 1, 1, 1), "float"),
    )
    fresh = device.new_handle(0)
    device.run("convolution", "RUN", out, x, w, ints=(0, 0, 1, 1, 1, 1, 1, IMPLICIT_GEMM), handle=fresh)
    assert device.get(out).item() == 1
    device.run("convolution", "RUN", out, x, w, ints=(0, 0, 1, 1, 1, 1, 1, IMPLICIT_GEMM))
    assert device.get(out).item() == 1 + 2**-12
    device.free_handle(fresh)


def windows(size: int, kernel: int, pad: int, stride: int, dilation: int) -> list[tuple[list[int], int]]:
    """For each output place: positions inside the input, and how many positions count the padding too."""
    count = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    starts = [i * stride - pad for i in range(count)]
    return [
        ([p for p in range(s, s + kernel * dilation, dilation) if 0 <= p < size], min(s + kernel, size + pad) - s)
        for s in starts
    ]


@pytest.mark.parametrize("mode", ["MAXPOOL", "AVGPOOL_COUNT_PAD", "AVGPOOL_COUNT_WITHOUT_PAD"])
@pytest.mark.parametrize("divisor", [0, 5])
def test_pooling_and_its_gradient(device: Device, mode: str, divisor: int) -> None:
    dilation = 2 if mode == "MAXPOOL" else 1
    x = RNG.standard_normal((2, 3, 9, 8))
    rows, columns = windows(9, 3, 1, 2, dilation), windows(8, 2, 1, 3, 1)
    y, grad = np.zeros((2, 3, len(rows), len(columns))), np.zeros_like(x)
    places = np.zeros(y.shape, np.int64)
    g = RNG.standard_normal(y.shape)
    for n, c, i, j in np.ndindex(y.shape):
        seen = [(r, q) for r in rows[i][0] for q in columns[j][0]]
        if mode == "MAXPOOL":
            best = max(seen, key=lambda at: x[n, c, at[0], at[1]])
            y[n, c, i, j], places[n, c, i, j] = x[n, c, best[0], best[1]], best[0] * 8 + best[1]
            grad[n, c, best[0], best[1]] += g[n, c, i, j]
            continue
        share = divisor or (rows[i][1] * columns[j][1] if mode == "AVGPOOL_COUNT_PAD" else len(seen))
        for r, q in seen:
            y[n, c, i, j] += x[n, c, r, q] / share
            grad[n, c, r, q] += g[n, c, i, j] / share
    ints = (3, 2, 1, 1, 2, 3, dilation, 1, 0 if mode == "MAXPOOL" else divisor)
    out, grad_in = device.empty(y.shape, "double"), device.empty(x.shape, "double")
    indices = device.empty(y.shape, "int64") if mode == "MAXPOOL" else NONE
    device.run("pooling", mode, out, device.put(x, "double"), indices, ints=ints)
    np.testing.assert_allclose(device.get(out), y, rtol=1e-12)
    if mode == "MAXPOOL":
        np.testing.assert_array_equal(device.get(indices), places)
    device.run("pooling", "BW_" + mode, grad_in, device.put(g, "double"), indices, ints=ints)
    np.testing.assert_allclose(device.get(grad_in), grad, rtol=1e-12)


def test_adaptive_and_global_pooling(device: Device) -> None:
    x = RNG.standard_normal((2, 3, 7, 5))
    cuts = lambda size, parts: [(i * size // parts, -(-(i + 1) * size // parts)) for i in range(parts)]
    tensor, ints = device.put(x, "double"), (1, 1, 0, 0, 1, 1, 1, 1, 0)
    for mode, function, shape in (
        ("ADAPTIVE_AVGPOOL", np.mean, (3, 2)),
        ("ADAPTIVE_MAXPOOL", np.max, (3, 2)),
        ("GLOBAL_AVGPOOL", np.mean, (1, 1)),
    ):
        out = device.empty((2, 3, *shape), "double")
        device.run("pooling", mode, out, tensor, NONE, ints=ints)
        wanted = [
            [function(x[:, :, a:b, c:d], axis=(2, 3)) for c, d in cuts(5, shape[1])] for a, b in cuts(7, shape[0])
        ]
        np.testing.assert_allclose(device.get(out), np.array(wanted).transpose(2, 3, 0, 1), rtol=1e-10)


@pytest.mark.parametrize("axes", [(2,), (1, 2)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm_and_its_gradient(device: Device, axes: tuple[int, ...], affine: bool) -> None:
    x, g = RNG.standard_normal((3, 4, 5)), RNG.standard_normal((3, 4, 5))
    inner = x.shape[axes[0] :]
    w, b = (RNG.standard_normal(inner), RNG.standard_normal(inner)) if affine else (np.ones(inner), np.zeros(inner))
    mean, rstd = x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    h = (x - mean) * rstd
    tensor, weight, bias = (
        device.put(x, "double"),
        device.put(w, "double") if affine else NONE,
        device.put(b, "double") if affine else NONE,
    )
    out, means, rstds = (
        device.empty(x.shape, "double"),
        device.empty(mean.shape, "double"),
        device.empty(mean.shape, "double"),
    )
    device.run("layer_norm", "RUN", out, means, rstds, tensor, weight, bias, real=(1e-5,), ints=axes)
    for tensor_out, wanted in ((out, h * w + b), (means, mean), (rstds, rstd)):
        np.testing.assert_allclose(device.get(tensor_out), wanted, rtol=1e-10, atol=1e-12)
    grad_x, grad_w, grad_b = (
        device.empty(x.shape, "double"),
        device.empty(inner, "double"),
        device.empty(inner, "double"),
    )
    device.run(
        "layer_norm",
        "BACKWARD",
        grad_x,
        grad_w,
        grad_b,
        device.put(g, "double"),
        tensor,
        means,
        rstds,
        weight,
        real=(1e-5,),
        ints=axes,
    )
    scaled, outer = g * w, tuple(d for d in range(3) if d not in axes)
    wanted = rstd * (scaled - scaled.mean(axes, keepdims=True) - h * (scaled * h).mean(axes, keepdims=True))
    for tensor_out, value in ((grad_x, wanted), (grad_w, (g * h).sum(outer)), (grad_b, g.sum(outer))):
        np.testing.assert_allclose(device.get(tensor_out), value, rtol=1e-9, atol=1e-12)


def test_without_samples_the_gradients_of_the_weights_are_zeros(device: Device) -> None:
    x, none, weight = device.empty((0, 3), "float"), device.empty((0,), "float"), device.put(np.ones(3), "float")
    grad_w, grad_b = device.empty((3,), "float"), device.empty((3,), "float")
    device.run("layer_norm", "BACKWARD", x, grad_w, grad_b, x, x, none, none, weight, real=(1e-5,), ints=(1,))
    assert device.get(grad_w).tolist() == device.get(grad_b).tolist() == [0, 0, 0]
    grad_w, grad_b = device.empty((3,), "float"), device.empty((3,), "float")
    gradient = (x, NONE, NONE, grad_w, grad_b, x, x, weight, weight, weight)
    device.run("batch_norm", "BACKWARD", *gradient, real=(1e-5,), ints=(1,))
    assert device.get(grad_w).tolist() == device.get(grad_b).tolist() == [0, 0, 0]


def test_rms_and_group_norm(device: Device) -> None:
    x, w, b = RNG.standard_normal((3, 6, 4)), RNG.standard_normal(4), RNG.standard_normal(6)
    out, rstd = device.empty(x.shape, "double"), device.empty((3, 6), "double")
    device.run("rms_norm", "", out, rstd, device.put(x, "double"), device.put(w, "double"), real=(1e-6,), ints=(2,))
    scale = 1 / np.sqrt((x * x).mean(2) + 1e-6)
    np.testing.assert_allclose(device.get(out), x * scale[:, :, None] * w, rtol=1e-12)
    np.testing.assert_allclose(device.get(rstd), scale, rtol=1e-12)
    means, rstds = device.empty((3, 2), "double"), device.empty((3, 2), "double")
    device.run(
        "group_norm",
        "",
        out,
        means,
        rstds,
        device.put(x, "double"),
        NONE,
        device.put(b, "double"),
        real=(1e-5,),
        ints=(2,),
    )
    parts = x.reshape(3, 2, 12)
    normal = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    np.testing.assert_allclose(device.get(out), normal.reshape(x.shape) + b[:, None], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(device.get(means), parts.mean(2), rtol=1e-10)


def test_batch_norm_in_training_and_evaluation(device: Device) -> None:
    x, g, w, b = (
        RNG.standard_normal((4, 3, 2, 5)),
        RNG.standard_normal((4, 3, 2, 5)),
        RNG.standard_normal(3),
        RNG.standard_normal(3),
    )
    axes, wide = (0, 2, 3), (slice(None), None, None)
    mean, var = x.mean(axes), x.var(axes)
    invstd = 1 / np.sqrt(var + 1e-5)
    h = (x - mean[wide]) * invstd[wide]
    tensor, weight, bias = device.put(x, "double"), device.put(w, "double"), device.put(b, "double")
    out, running_mean, running_var = (
        device.empty(x.shape, "double"),
        device.put(np.zeros(3), "double"),
        device.put(np.ones(3), "double"),
    )
    saved_mean, saved_invstd = device.empty((3,), "double"), device.empty((3,), "double")
    device.run(
        "batch_norm",
        "COMPOSITE",
        out,
        tensor,
        running_mean,
        running_var,
        saved_mean,
        saved_invstd,
        weight,
        bias,
        real=(1e-5, 0.1),
        ints=(1,),
    )
    for got, wanted in (
        (out, h * w[wide] + b[wide]),
        (saved_mean, mean),
        (saved_invstd, invstd),
        (running_mean, 0.1 * mean),
        (running_var, 0.9 + 0.1 * x.var(axes, ddof=1)),
    ):
        np.testing.assert_allclose(device.get(got), wanted, rtol=1e-10, atol=1e-12)
    grad_x, grad_w, grad_b = device.empty(x.shape, "double"), device.empty((3,), "double"), device.empty((3,), "double")
    gradient = (grad_x, NONE, NONE, grad_w, grad_b, tensor, device.put(g, "double"), saved_mean, saved_invstd, weight)
    device.run("batch_norm", "BACKWARD", *gradient, real=(1e-5,), ints=(1,))
    wanted = (w * invstd)[wide] * (g - g.mean(axes)[wide] - h * (g * h).mean(axes)[wide])
    for got, value in ((grad_x, wanted), (grad_w, (g * h).sum(axes)), (grad_b, g.sum(axes))):
        np.testing.assert_allclose(device.get(got), value, rtol=1e-9, atol=1e-12)
    device.run("batch_norm", "BACKWARD", *gradient, real=(1e-5,), ints=(0,))  # evaluation: constants
    np.testing.assert_allclose(device.get(grad_x), (w * invstd)[wide] * g, rtol=1e-10)
    device.run("batch_norm", "PURE", out, tensor, running_mean, running_var, NONE, NONE, real=(1e-5,), ints=(0,))
    np.testing.assert_allclose(
        device.get(out), (x - 0.1 * mean[wide]) / np.sqrt(device.get(running_var)[wide] + 1e-5), rtol=1e-10
    )


@pytest.mark.parametrize("masking", ["none", "causal", "bool", "added", "padding"])
@pytest.mark.parametrize("key_heads", [4, 2])
def test_attention_and_its_gradients(device: Device, masking: str, key_heads: int) -> None:
    q, k, v = (
        RNG.standard_normal((2, 4, 5, 6)),
        RNG.standard_normal((2, key_heads, 7, 6)),
        RNG.standard_normal((2, key_heads, 7, 3)),
    )
    g = RNG.standard_normal((2, 4, 5, 3))
    mask, added = NONE, np.zeros((2, 4, 5, 7))
    if masking == "causal":
        added[..., np.triu_indices(5, 1, 7)[0], np.triu_indices(5, 1, 7)[1]] = -np.inf
    elif masking != "none":
        kept = RNG.random((2, 7) if masking == "padding" else (5, 7)) < 0.7
        kept[..., 0] = True
        chosen = kept[:, None, None] if masking == "padding" else kept
        added = added + (np.where(chosen, 0.0, -np.inf) if masking != "added" else RNG.standard_normal((5, 7)))
        mask = device.put(added[0, 0], "double") if masking == "added" else device.put(kept, "bool")
    repeat = 4 // key_heads
    wide_k, wide_v = k.repeat(repeat, 1), v.repeat(repeat, 1)
    scores = q @ wide_k.swapaxes(2, 3) / np.sqrt(6) + added
    e = np.exp(scores - scores.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    tensors = [device.put(x, "double") for x in (q, k, v)]
    out, weights, sums = (
        device.empty(g.shape, "double"),
        device.empty(p.shape, "double"),
        device.empty((2, 4, 5), "float"),
    )
    settings = {"ints": (24, 4, masking == "causal", masking == "padding")}
    device.run("attention", "MATH", out, weights, *tensors, mask, NONE, **settings)
    np.testing.assert_allclose(device.get(weights), p, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(device.get(out), p @ wide_v, rtol=1e-10, atol=1e-12)
    device.run("attention", "FLASH", out, sums, *tensors, mask, NONE, **settings)
    np.testing.assert_allclose(device.get(out), p @ wide_v, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(device.get(sums), np.log(e.sum(-1)) + scores.max(-1), rtol=1e-6, atol=1e-6)

    slope = g @ wide_v.swapaxes(2, 3)
    slope = p * (slope - (slope * p).sum(-1, keepdims=True)) / np.sqrt(6)
    fold = lambda x: x.reshape(2, key_heads, repeat, *x.shape[2:]).sum(2)
    wanted = (slope @ wide_k, fold(slope.swapaxes(2, 3) @ q), fold(p.swapaxes(2, 3) @ g))
    grads = [device.empty(x.shape, "double") for x in (q, k, v)]
    device.run("attention", "FLASH_BW", *grads, device.put(g, "double"), *tensors, mask, out, sums, NONE, **settings)
    for got, value in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(device.get(got), value, rtol=1e-9, atol=1e-12)
    grads = [device.empty(x.shape, "double") for x in (q, k, v)]
    device.run(
        "attention",
        "MATH_BW",
        *grads,
        device.empty(p.shape, "double"),
        device.put(g, "double"),
        *tensors,
        weights,
        NONE,
        **settings,
    )
    for got, value in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(device.get(got), value, rtol=1e-9, atol=1e-12)


def test_attention_with_dropout_is_not_emulated(device: Device) -> None:
    x, sums = device.put(np.zeros((1, 1, 2, 3)), "float"), device.empty((1, 1, 2), "float")
    with pytest.raises(Failure, match="NOT_SUPPORTED"):
        device.run("attention", "FLASH", x, sums, x, x, x, NONE, NONE, ints=(3, 1, 0, 0), real=(0, 0.1))
