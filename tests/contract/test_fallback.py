"""Operators without a kernel of their own: right values, right types, and no argument forgotten."""

import contextlib
import itertools

import pytest
import torch
import torch.nn.functional as F
from torch_fl.evidence import capabilities

from .conftest import convolutions, needing

DEVICE = "flagos"

OPERATORS = {
    "svd": lambda x: torch.linalg.svdvals(x),
    "sort": lambda x: torch.sort(x, dim=1),
    "unique": lambda x: torch.unique((x * 2).int(), return_counts=True),
    "topk": lambda x: x.topk(2),
    "cat": lambda x: torch.cat([x, x.t().reshape(3, 4)], 1),
    "stack": lambda x: torch.stack([x, x + 1]),
    "where": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
    "cumsum": lambda x: x.cumsum(0),
    "logsumexp": lambda x: x.logsumexp(1),
    "conv": lambda x: F.conv2d(x.view(1, 1, 3, 4), torch.ones(2, 1, 2, 2, device=x.device)),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "softmax": lambda x: x.softmax(1),
    "embedding": lambda x: F.embedding(torch.tensor([[0, 2], [1, 1]], device=x.device), x),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2], device=x.device)),
    "interpolate": lambda x: F.interpolate(x.view(1, 1, 3, 4), scale_factor=2, mode="bilinear"),
    "sdpa": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "std": lambda x: torch.std_mean(x, 1),
    "index": lambda x: x[torch.tensor([2, 0], device=x.device)],
    "mask": lambda x: x[x > 0],
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0, 1], device=x.device)),
    "fft": lambda x: torch.fft.rfft(x),
    "lstm": lambda x: torch._VF.gru_cell(x, x.new_ones(3, 2), x.new_ones(6, 4), x.new_ones(6, 2)),
    "median": lambda x: x.median(1),
    "histc": lambda x: torch.histc(x, 5),
    "cdist": lambda x: torch.cdist(x, x + 1),
    "inverse": lambda x: torch.linalg.inv(x @ x.t() + 3 * torch.eye(3, device=x.device)),
    "int unary": lambda x: torch.log((x * 3).int().abs() + 1),
    "scatter_add": lambda x: x.scatter_add(0, torch.zeros(2, 4, dtype=torch.int64, device=x.device), x[:2]),
}


def flat(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", OPERATORS)
def test_same_as_the_cpu(name, same):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    for found, wanted in zip(flat(OPERATORS[name](x.to(DEVICE))), flat(OPERATORS[name](x)), strict=True):
        same(found, wanted, rtol=1e-6, atol=1e-6)
        assert found.dtype == wanted.dtype and found.stride() == wanted.stride()


def test_lists_are_written_back():
    a = [torch.ones(3, device=DEVICE), torch.ones(2, device=DEVICE)]
    addresses = [t.data_ptr() for t in a]
    torch._foreach_add_(a, 1.5)
    torch._foreach_mul_(a, a)
    assert [t.tolist() for t in a] == [[6.25] * 3, [6.25] * 2]
    assert [t.data_ptr() for t in a] == addresses
    found = torch.full((), 0.0, device=DEVICE)
    torch._amp_foreach_non_finite_check_and_unscale_([a[0]], found, torch.full((), 2.0, device=DEVICE))
    assert a[0].tolist() == [12.5] * 3 and found.item() == 0
    a[0][1] = float("inf")
    torch._amp_foreach_non_finite_check_and_unscale_([a[0]], found, torch.full((), 2.0, device=DEVICE))
    assert found.item() == 1


def test_out_variants(same):
    x = torch.arange(6.0, device=DEVICE).view(2, 3)
    out = torch.empty(2, 3, device=DEVICE)
    address = out.data_ptr()
    assert torch.exp(x, out=out) is out and out.data_ptr() == address
    same(out, torch.arange(6.0).view(2, 3).exp(), rtol=1e-6, atol=0)
    strided = torch.zeros(3, 4, device=DEVICE)[:, ::2].t()
    torch.add(x, 1, out=strided)
    same(strided, torch.arange(6.0).view(2, 3) + 1)
    resized = torch.empty(0, device=DEVICE)
    torch.mm(x, x.t(), out=resized)
    same(resized, torch.arange(6.0).view(2, 3) @ torch.arange(6.0).view(2, 3).t())
    values, indices = torch.empty(0, device=DEVICE), torch.empty(0, dtype=torch.int64, device=DEVICE)
    torch.sort(x, descending=True, out=(values, indices))
    assert values.tolist() == [[2, 1, 0], [5, 4, 3]] and indices[0].tolist() == [2, 1, 0]
    with pytest.raises(RuntimeError):
        torch.exp(x, out=torch.empty(2, 3))


def test_in_place(same):
    x = torch.randn(4, 4)
    y = x.to(DEVICE)
    address = y.data_ptr()
    for t in (x, y):
        t *= 0.5
        t.mul_(torch.tensor(2.0)).relu_().add_(t).clamp_(0.1, 2)
        t[1] = 3
        t[:, 2] = t[:, 3]
        t[t > 1] = -1
        t.index_put_((torch.tensor([0, 0], device=t.device),), torch.ones(4, device=t.device), accumulate=True)
        t.fill_diagonal_(5)
        t.masked_fill_(t == 5, 6)
    same(y, x)
    assert y.data_ptr() == address


def test_indices_on_the_cpu(same):
    x = torch.arange(24.0, device=DEVICE).view(2, 3, 4)
    i, j = torch.tensor([0, 1]), torch.tensor([[1, 2]])
    same(x[:, i, j.to(DEVICE)], x.cpu()[:, i, j])
    same(x[:, i], x.cpu()[:, i])
    y = x.clone()
    y[:, i] = 0
    assert y[:, :2].abs().sum().item() == 0


@pytest.mark.capability("index_checks")
def test_an_error_leaves_the_tensor_usable(same):
    x = torch.arange(24.0, device=DEVICE).view(2, 3, 4)
    with pytest.raises((IndexError, RuntimeError)):
        x[torch.tensor([99], device=DEVICE)]
    assert x.device.type == DEVICE
    same(x + 1, torch.arange(24.0).view(2, 3, 4) + 1)


RULES = itertools.product(
    [torch.log, torch.erf, torch.rad2deg, torch.digamma, torch.sqrt, torch.mean, torch.abs, torch.neg],
    [torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.float64],
)


@pytest.mark.parametrize(
    "rule", needing("cpu_rules", {(torch.abs, torch.bool)}, RULES), ids=lambda rule: f"{rule[0].__name__}-{rule[1]}"
)
def test_dtype_rules_are_those_of_the_cpu(rule):
    function, dtype = rule
    x = torch.arange(1, 5).to(dtype)
    try:
        wanted = function(x)
    except (RuntimeError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            function(x.to(DEVICE))
    else:
        assert function(x.to(DEVICE)).dtype == wanted.dtype


def test_scalars_and_promotion():
    i = torch.arange(3, device=DEVICE)
    assert (i + 1).dtype == torch.int64 and (i + 1.5).dtype == torch.float32 and (i / 2).dtype == torch.float32
    assert (i + torch.ones(3, dtype=torch.float16, device=DEVICE)).dtype == torch.float16
    assert (2**i).tolist() == [1, 2, 4]
    assert (torch.tensor(2.0) * i).device.type == DEVICE
    assert (i == i).all().item() is True
    with pytest.raises(RuntimeError):
        torch.mm(torch.ones(2, 2, device=DEVICE).half(), torch.ones(2, 2, device=DEVICE))


ERRORS = {
    "shapes of a product": lambda d: torch.ones(2, 3, device=d) @ torch.ones(2, 3, device=d),
    "shapes of a sum": lambda d: torch.ones(2, device=d) + torch.ones(3, device=d),
    "not positive definite": lambda d: torch.linalg.cholesky(-torch.eye(3, device=d)),
    "view": lambda d: torch.ones(2, device=d).view(3),
    "nothing to join": lambda d: torch.cat([]),
    "index": lambda d: F.embedding(torch.tensor([9], device=d), torch.ones(2, 2, device=d)),
}


@pytest.mark.parametrize("name", needing("index_checks", {"index"}, ERRORS))
def test_errors_are_those_of_the_cpu(name):
    with pytest.raises(Exception) as on_cpu:
        ERRORS[name]("cpu")
    with pytest.raises(type(on_cpu.value)):
        ERRORS[name](DEVICE)
        torch.flagos.synchronize()


def test_empty_and_zero_dimensional(same):
    for shape in ((0,), (0, 3), (), (2, 0, 3)):
        x = torch.ones(shape)
        same(x.to(DEVICE) + 1, x + 1)
        same(x.to(DEVICE).sum(), x.sum())
        same(torch.cat([x.to(DEVICE).reshape(-1)] * 2), torch.cat([x.reshape(-1)] * 2))


@pytest.fixture
def _full_precision():
    # PyTorch lets its own kernels use TF32 by default; the default of others is tested as it is.
    with convolutions(allow_tf32=False) if capabilities.missing("cpu_rules") else contextlib.nullcontext():
        yield


def test_conv_and_its_gradients(same, _full_precision):
    torch.manual_seed(0)
    for shape, layer in (
        ((2, 4, 9), torch.nn.Conv1d(4, 6, 3, padding=1, groups=2)),
        ((2, 3, 8, 8), torch.nn.Conv2d(3, 5, 3, stride=2, dilation=2, padding=2)),
        ((1, 2, 5, 5, 5), torch.nn.Conv3d(2, 3, 2)),
        ((2, 3, 5, 5), torch.nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1)),
        ((2, 3, 8, 8), torch.nn.Conv2d(3, 5, 1, bias=False)),
    ):
        import copy

        device_layer = copy.deepcopy(layer).to(DEVICE)
        x = torch.randn(shape, requires_grad=True)
        y = x.detach().to(DEVICE).requires_grad_()
        a, b = layer(x), device_layer(y)
        same(b.detach(), a.detach(), rtol=1e-5, atol=1e-5)
        a.square().sum().backward()
        b.square().sum().backward()
        same(y.grad, x.grad, rtol=1e-4, atol=1e-4)
        for p, q in zip(layer.parameters(), device_layer.parameters(), strict=True):
            same(q.grad, p.grad, rtol=1e-4, atol=1e-4)
