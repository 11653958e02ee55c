"""Checkpointing, hooks, custom Functions, double backward and inference mode."""

import threading

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

DEVICE = "flagos"


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0, 3.0), device=DEVICE, requires_grad=True)


def both(function):
    """Results of `function(device)` on the CPU and here, equal."""
    wanted, found = function("cpu"), function(DEVICE)
    for w, f in zip(wanted, found, strict=True):
        assert f.device.type == DEVICE
        torch.testing.assert_close(f.detach().cpu(), w.detach())


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_replays_the_random_numbers(reentrant):
    """The mask of the second forward is that of the first, and the stream goes on after it."""
    x = torch.ones(256, device=DEVICE, requires_grad=True)
    torch.manual_seed(4)
    plain = F.dropout(x)
    torch.manual_seed(4)
    out = checkpoint(lambda t: F.dropout(t), x, use_reentrant=reentrant)
    assert torch.equal(out, plain)
    after = torch.flagos.get_rng_state()
    out.sum().backward()
    assert torch.equal(torch.flagos.get_rng_state(), after)
    assert torch.equal((x.grad != 0), (out != 0))
    again = checkpoint(lambda t: F.dropout(t), x, use_reentrant=reentrant, preserve_rng_state=False)
    assert again.shape == x.shape


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_layers_train_as_others(reentrant):
    def run(device):
        torch.manual_seed(0)
        layers = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(4)]).to(device)
        x = torch.linspace(-1, 1, 8, device=device).view(2, 4).requires_grad_()
        checkpoint_sequential(layers, 2, x, use_reentrant=reentrant).square().sum().backward()
        return [x.grad, *(p.grad for p in layers.parameters())]

    both(run)


@pytest.mark.devices(2)
def test_checkpoint_over_two_devices():
    x = torch.ones(64, device="flagos:1", requires_grad=True)

    def f(t, other):  # PyTorch keeps the random states of the arguments' devices
        return F.dropout(F.dropout(t).to("flagos:0") + other).to("flagos:1")

    out = checkpoint(f, x, torch.zeros(64, device="flagos:0"), use_reentrant=False)
    out.sum().backward()
    assert torch.equal(x.grad != 0, out != 0) and torch.flagos.current_device() == 0


def test_checkpoint_inside_autocast():
    w = torch.ones(4, 4, device=DEVICE, requires_grad=True)
    seen = []

    def f(t):
        seen.append(torch.is_autocast_enabled(DEVICE) and torch.get_autocast_dtype(DEVICE))
        return t @ w

    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        out = checkpoint(f, torch.ones(2, 4, device=DEVICE), use_reentrant=False)
    out.sum().backward()
    assert seen == [torch.bfloat16] * 2 and w.grad.dtype == torch.float32


@pytest.mark.parametrize("pin", [False, True])
def test_saved_tensors_wait_on_the_cpu(pin):
    x = leaf()
    with torch.autograd.graph.save_on_cpu(pin_memory=pin, device_type=DEVICE):
        y = (x * x).exp() @ torch.eye(3, device=DEVICE)
    y.sum().backward()
    torch.testing.assert_close(x.grad.cpu(), 2 * torch.tensor([1.0, 2, 3]) * torch.tensor([1.0, 4, 9]).exp())


def test_saved_tensors_hooks_see_device_tensors():
    x = leaf()
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.device.type) or t.cpu(), lambda t: t.to(DEVICE)):
        y = x.exp() * x
    y.sum().backward()
    assert packed and set(packed) == {DEVICE} and x.grad.is_flagos


def test_hooks_of_tensors_and_modules():
    seen = []
    layer = nn.Linear(3, 2).to(DEVICE)
    layer.register_forward_pre_hook(lambda m, i: seen.append(("pre", i[0].device.type)))
    layer.register_forward_hook(lambda m, i, o: seen.append(("forward", o.device.type)))
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(("backward", go[0].device.type)))
    layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append(("accumulated", p.grad.device.type)))
    x = leaf()
    x.register_hook(lambda g: g * 2)
    y = layer(x[None])
    y.grad_fn.register_hook(lambda gi, go: seen.append(("node", go[0].device.type)))
    y.sum().backward()
    assert {n for n, _ in seen} == {"pre", "forward", "backward", "accumulated", "node"}
    assert {d for _, d in seen} == {DEVICE}
    torch.testing.assert_close(x.grad, 2 * layer.weight.detach().sum(0))


class Cube(torch.autograd.Function):
    """With a rule for each transform, written by hand."""

    @staticmethod
    def forward(x):
        return x**3, x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x, output[1])
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, grad, grad_twice):
        x, twice = ctx.saved_tensors
        return grad * 1.5 * x * twice + grad_twice * 2

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * tangent, tangent * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x.movedim(in_dims[0], 0)), (0, 0)


class Scaled(torch.autograd.Function):
    """The older style: context in forward, an argument that is no tensor, an in-place result."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.mark_dirty(x)
        return x.mul_(factor)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * ctx.factor, None


def test_custom_functions():
    x = leaf()
    (g,) = torch.autograd.grad(Cube.apply(x)[0].sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [3, 12, 27] and h.tolist() == [6, 12, 18]
    y = x.detach()
    assert torch.func.vmap(torch.func.grad(lambda t: Cube.apply(t)[0]))(y).tolist() == [3, 12, 27]
    assert torch.func.jvp(lambda t: Cube.apply(t)[0], (y,), (torch.ones_like(y),))[1].tolist() == [3, 12, 27]
    z = x * 1
    Scaled.apply(z, 4.0).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
    assert torch.autograd.gradcheck(lambda t: Cube.apply(t), leaf().double().detach().requires_grad_(), check_forward_ad=True)


def test_double_backward_of_layers():
    def run(device):
        torch.manual_seed(3)
        layer = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Softplus(), nn.Flatten(), nn.LayerNorm(9), nn.Linear(9, 1)).to(device)
        x = torch.linspace(-1, 1, 16, device=device).view(2, 2, 4).requires_grad_()
        (g,) = torch.autograd.grad(layer(x).sum(), x, create_graph=True)
        (g.norm() - 1).square().backward()
        return [x.grad, *(p.grad for p in layer.parameters() if p.grad is not None)]

    both(run)


def test_gradients_of_gradients_are_checked_numerically():
    x = torch.rand(3, 3, dtype=torch.float64, device=DEVICE, requires_grad=True)
    f = lambda t: (t.exp() * t[0]).sum(1).cumsum(0)  # noqa: E731
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, x, check_fwd_over_rev=True)


def test_inference_mode():
    with torch.inference_mode():
        x = torch.ones(3, device=DEVICE)
        y = (x * 2).add_(1)
        view = y[:1]
        assert y.is_inference() and view.is_inference() and not y.requires_grad and y.device.type == DEVICE
    assert not (y + 1).is_inference() and y.clone().is_flagos
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y * leaf()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        y.add_(1)
    normal = torch.ones(3, device=DEVICE)
    with torch.inference_mode():
        normal.add_(1)
        assert not normal.is_inference() and normal[0].is_inference() is False
    assert normal.cpu().tolist() == [2, 2, 2]


def test_versions_protect_saved_values():
    x = leaf()
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    z = torch.ones(3, device=DEVICE)
    before = z._version
    torch._foreach_add_([z], 1)
    assert z._version == before + 1


def test_anomaly_mode_names_the_operator():
    with torch.autograd.detect_anomaly(check_nan=True), pytest.raises(RuntimeError, match="SqrtBackward0.*nan"):
        x = leaf(-1.0)
        x.sqrt().sum().backward()


def test_backward_in_threads():
    w = leaf()
    errors = []

    def work():
        try:
            for _ in range(5):
                (w.exp() * w).sum().backward()
        except Exception as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == [] and w.grad.is_flagos and torch.isfinite(w.grad).all()


def test_accumulating_into_a_gradient_keeps_its_memory():
    x = leaf()
    (x * 2).sum().backward()
    address = x.grad.data_ptr()
    (x * 3).sum().backward()
    assert x.grad.data_ptr() == address and x.grad.tolist() == [5, 5, 5]
