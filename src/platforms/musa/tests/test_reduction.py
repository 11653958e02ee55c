"""Reductions, scans and softmax."""

import pytest
import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64], ids=str)
@pytest.mark.parametrize("dims", [None, 0, (0, 2), -1], ids=str)
@pytest.mark.parametrize("keepdim", [False, True], ids=["dropped", "kept"])
def test_sum_over_any_dimensions(native, dtype, dims, keepdim):
    x = torch.randint(-4, 5, (3, 4, 5)).to(dtype)
    native("sum.dim_IntList", torch.sum, x, dims, keepdim)


def test_sum_takes_a_type(native):
    native("sum.dim_IntList", torch.sum, torch.randn(3, 4).half(), dim=1, dtype=torch.float32)
    native("sum.dim_IntList", torch.sum, torch.ones(300, dtype=torch.int8))
    native("sum.dim_IntList", torch.sum, torch.rand(9) > 0.5)


@pytest.mark.parametrize("dims", [None, 0, (0, 2)], ids=str)
def test_mean_amax_amin(native, dims):
    x = torch.randn(3, 4, 5)
    native("mean.dim", torch.mean, x, dims)
    native("amax", torch.amax, x, () if dims is None else dims)
    native("amin", torch.amin, x, () if dims is None else dims)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_extrema_and_their_places(native, dtype):
    x = torch.randperm(60).view(3, 4, 5).to(dtype)
    for name in ("max", "min"):
        native(name, getattr(torch, name), x)
        native(f"{name}.dim", lambda t, name=name: tuple(getattr(torch, name)(t, 1)), x)
        native(f"arg{name}", getattr(torch, f"arg{name}"), x)
        native(f"arg{name}", getattr(torch, f"arg{name}"), x.transpose(0, 2), 1, keepdim=True)


def test_extrema_of_nan(native):
    x = torch.tensor([[1.0, float("nan"), 3.0], [2.0, 1.0, 0.0]])
    native("amax", torch.amax, x, 1)
    native("max.dim", lambda t: tuple(torch.max(t, 1)), x)


def test_any_and_all(native):
    x = torch.tensor([[0, 1, 2], [0, 0, 0], [1, 1, 1]])
    for name in ("any", "all"):
        native(name, getattr(torch, name), x)
        native(f"{name}.dim", getattr(torch, name), x, 1)
        native(f"{name}.dims", getattr(torch, name), x > 0, (0, 1))


def test_prod_norm_variance(native):
    x = torch.randn(4, 6)
    native("prod", torch.prod, x)
    native("prod.dim_int", torch.prod, x, 1)
    native("linalg_vector_norm", torch.linalg.vector_norm, x, 2, 1)
    native("linalg_vector_norm", torch.linalg.vector_norm, x, 1)
    for name in ("var", "std"):
        native(f"{name}.correction", getattr(torch, name), x)
        native(f"{name}.correction", getattr(torch, name), x, 1, correction=0, keepdim=True)


def test_reductions_of_nothing(native):
    x = torch.empty(0, 3)
    native("sum.dim_IntList", torch.sum, x, 0)
    native("mean.dim", torch.mean, x, 0)
    native("all", torch.all, x)


def test_reductions_of_strided_tensors(native):
    x = torch.randn(6, 7, 8)
    native("sum.dim_IntList", torch.sum, x.permute(2, 0, 1)[:, ::2], (0, 2))
    native("amax", torch.amax, x[:, 0].expand(3, 6, 8), (0, 1))


@pytest.mark.parametrize("dims", [0, (0, 1), None], ids=str)
def test_reductions_of_one_repeated_element(native, dims):
    native("sum.dim_IntList", torch.sum, torch.tensor(1.5).expand(3, 4), dims)


def test_a_bias_gets_its_gradient(native):
    def gradient(x, w, b):
        b = b.detach().requires_grad_()
        torch.nn.functional.conv2d(x, w, b).sum().backward()
        return b.grad

    native("sum.dim_IntList", gradient, torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3), torch.randn(4))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_and_its_gradient(native, name, dim, dtype):
    def both(x):
        x = x.detach().requires_grad_()
        y = getattr(torch, name)(x, dim)
        y.backward(torch.linspace(-1, 1, y.numel(), device=y.device, dtype=torch.float32).to(dtype).view_as(y))
        return [y, x.grad]

    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype in (torch.float16, torch.bfloat16) else {}
    native(f"_{name}", both, torch.randn(4, 5, 6).to(dtype), **tolerance)
    native(f"_{name}_backward_data", both, torch.randn(4, 5, 6).to(dtype), **tolerance)


def test_softmax_in_float(native):
    native("_softmax", torch.softmax, torch.randn(4, 5).half(), 1, dtype=torch.float32)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(native, name):
    native(name, getattr(torch, name), torch.randn(4, 5), 1)
    native(name, getattr(torch, name), torch.randint(1, 4, (4, 5)), 0)
