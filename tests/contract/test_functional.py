"""``torch.func``: vmap, gradients, Jacobians and functional modules give what they give on the CPU."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "flagos"

func = torch.func

BATCHED = {
    "sin": torch.sin,
    "matmul": lambda x: x @ x.T,
    "mv": lambda x: x @ x[0],
    "sum": lambda x: x.sum(0),
    "mean and var": lambda x: torch.stack([x.mean(), x.var()]),
    "softmax": lambda x: x.softmax(0),
    "select": lambda x: x[0],
    "slice": lambda x: x[1:, ::2],
    "transpose": lambda x: x.t().reshape(-1),
    "inverse": lambda x: torch.linalg.inv(x + 3 * torch.eye(3, device=x.device)),
    "solve": lambda x: torch.linalg.solve(x + 3 * torch.eye(3, device=x.device), x[0]),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.T + 3 * torch.eye(3, device=x.device)),
    "determinant": lambda x: torch.linalg.det(x),
    "sort": lambda x: x.sort()[0],
    "topk": lambda x: x.topk(2)[0],
    "cumsum": lambda x: x.cumsum(0),
    "layer norm": lambda x: F.layer_norm(x, (3,)),
    "where": lambda x: torch.where(x > 0, x, 0),
    "index_select": lambda x: x.index_select(0, torch.tensor([1], device=x.device)),
    "gather": lambda x: x.gather(0, torch.zeros(1, 3, dtype=torch.int64, device=x.device)),
    "scatter": lambda x: x.scatter(0, torch.zeros(1, 3, dtype=torch.int64, device=x.device), x[:1]),
    "index": lambda x: x.flatten()[torch.tensor([1, 2], device=x.device)],
    "index_put": lambda x: x.index_put((torch.tensor([0], device=x.device),), x[1]),
    "index_add": lambda x: x.index_add(0, torch.tensor([0], device=x.device), x[:1]),
    "conv1d": lambda x: F.conv1d(x[None], torch.ones(1, 3, 2, device=x.device)),
    "conv2d": lambda x: F.conv2d(x[None, None], torch.ones(1, 1, 2, 2, device=x.device)),
    "max_pool": lambda x: F.max_pool1d(x, 2),
    "interpolate": lambda x: F.interpolate(x[None], scale_factor=2),
    "pad": lambda x: F.pad(x, (1, 1)),
    "roll": lambda x: x.roll(1, 0).flip(1),
    "repeat": lambda x: x.repeat(2, 1).repeat_interleave(2, 1),
    "cat": lambda x: torch.cat([x, x]),
    "norm": lambda x: x.norm(dim=1),
    "argmax": lambda x: x.argmax(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "einsum": lambda x: torch.einsum("ij,ij->i", x, x),
    "embedding": lambda x: F.embedding(torch.tensor([0, 2], device=x.device), x),
    "cross entropy": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2], device=x.device)),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "in place": lambda x: x.clone().mul_(2).add_(1),
    "diagonal": lambda x: torch.diag_embed(x.diagonal()),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "comparison": lambda x: (x > 0) & (x < 1),
    "dtype": lambda x: x.to(torch.float64).to(torch.int32),
    "fft": lambda x: torch.fft.rfft(x).abs(),
    "svd": lambda x: torch.linalg.svdvals(x),
}


@pytest.mark.parametrize("name", BATCHED)
def test_vmap(name):
    x = torch.randn(3, 3, 3)
    for options in ({}, {"in_dims": 1, "out_dims": -1}):
        f = func.vmap(BATCHED[name], **options)
        found, wanted = f(x.to(DEVICE)), f(x)
        assert found.device.type == DEVICE
        torch.testing.assert_close(found.cpu(), wanted, rtol=1e-4, atol=1e-5)


RANDOM = {
    "rand": lambda x: x + torch.rand(3, device=x.device),
    "randn": lambda x: x + torch.randn(3, device=x.device),
    "randint": lambda x: x + torch.randint(0, 1000, (3,), device=x.device),
    "randperm": lambda x: x[0] + torch.randperm(50, device=x.device),
    "rand_like": lambda x: torch.rand_like(x),
    "bernoulli": lambda x: torch.bernoulli(torch.full((40,), 0.5, device=x.device)) + x[0],
    "dropout": lambda x: F.dropout(torch.ones(40, device=x.device) + x[0] * 0),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_modes_of_vmap(name):
    x = torch.zeros(4, 3, device=DEVICE)
    f = RANDOM[name]
    different = func.vmap(f, randomness="different")(x)
    assert different.device.type == DEVICE and not torch.equal(different[0], different[1])
    same = func.vmap(f, randomness="same")(x)
    assert torch.equal(same[0], same[3])
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(f)(x)
    torch.manual_seed(7)
    a = func.vmap(f, randomness="different")(x)
    torch.manual_seed(7)
    assert torch.equal(a, func.vmap(f, randomness="different")(x))


def scalar(x):
    return (x.sin() * x.roll(1)).sum() + x.prod()


TRANSFORMS = {
    "grad": lambda x: func.grad(scalar)(x),
    "grad_and_value": lambda x: func.grad_and_value(scalar)(x)[1],
    "grad of grad": lambda x: func.grad(lambda v: func.grad(scalar)(v).square().sum())(x),
    "vjp": lambda x: func.vjp(torch.sin, x)[1](torch.ones_like(x))[0],
    "jvp": lambda x: func.jvp(scalar, (x,), (torch.ones_like(x),))[1],
    "jacrev": lambda x: func.jacrev(lambda v: v * v.sum())(x),
    "jacrev in chunks": lambda x: func.jacrev(lambda v: v * v.sum(), chunk_size=2)(x),
    "jacfwd": lambda x: func.jacfwd(lambda v: v * v.sum())(x),
    "jacfwd with random tangents": lambda x: func.jacfwd(torch.tanh, randomness="same")(x),
    "hessian": lambda x: func.hessian(scalar)(x),
    "linearize": lambda x: func.linearize(torch.sin, x)[1](x),
    "functionalize": lambda x: func.functionalize(lambda v: v.clone().add_(1).mul_(v))(x),
    "functionalize with views": lambda x: func.functionalize(
        lambda v: (lambda c: (c[:2].mul_(3), c)[1])(v.clone()), remove="mutations_and_views"
    )(x),  # fmt: skip
    "per-sample gradients": lambda x: func.vmap(func.grad(lambda v: v**3))(x),
    "vmap in chunks": lambda x: func.vmap(torch.sin, chunk_size=2)(x),
    "vmap of jvp": lambda x: func.vmap(lambda v: func.jvp(torch.exp, (v,), (v,))[1])(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    x = torch.randn(4)
    found = TRANSFORMS[name](x.to(DEVICE))
    assert found.device.type == DEVICE
    torch.testing.assert_close(found.cpu(), TRANSFORMS[name](x))


def test_functional_modules():
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(1)
        models = [
            nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).to(device).eval() for _ in range(3)
        ]
        x = torch.linspace(-1, 1, 15, device=device).view(5, 3)
        parameters, buffers = func.stack_module_state(models)

        def call(p, b, x, base=models[0]):
            return func.functional_call(base, (p, b), (x,))

        ensemble = func.vmap(call, (0, 0, None))(parameters, buffers, x)
        single = {k: v.detach() for k, v in models[0].named_parameters()}
        grads = func.vmap(func.grad(lambda p, row, base=models[0]: func.functional_call(base, p, (row[None],)).sum()), (None, 0))(single, x)  # fmt: skip
        results.append([ensemble, *grads.values()])
    for w, f in zip(*results, strict=True):
        assert f.device.type == DEVICE
        torch.testing.assert_close(f.detach().cpu(), w.detach())


def test_forward_mode():
    """Dual numbers, by hand and through a module."""
    import torch.autograd.forward_ad as fw

    results = []
    for device in ("cpu", DEVICE):
        x, t = torch.linspace(0, 1, 4, device=device), torch.ones(4, device=device)
        with fw.dual_level():
            dual = fw.make_dual(x, t)
            y = fw.unpack_dual((dual.exp() * dual.view(2, 2).t().reshape(4)).cumsum(0))
            results.append((y.primal.cpu(), y.tangent.cpu()))
            if device == DEVICE:
                assert fw.unpack_dual(dual).tangent.data_ptr() == t.data_ptr() and y.tangent.is_flagos
    for w, f in zip(*results, strict=True):
        torch.testing.assert_close(f, w)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_fake_tensors_is_traced(causal):
    """As torch.compile does it: shapes without data, forward and backward."""
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        query, key, value = (torch.randn(1, 2, 8, 16, device=DEVICE).requires_grad_() for _ in range(3))
        out = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        out.sum().backward()
    assert (out.shape, out.device.type, value.grad.shape) == (value.shape, DEVICE, value.shape)
