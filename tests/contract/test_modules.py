"""Modules, autograd, optimizers and AMP: a network trains on the device as it does on the CPU."""

import copy

import pytest
import torch
from torch import nn
from torch_fl.evidence import capabilities

DEVICE = "flagos"


def network():
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)
    )


def data():
    g = torch.Generator().manual_seed(5)
    return torch.randn(16, 6, generator=g), torch.randint(0, 3, (16,), generator=g)


def train(model, device, make_optimizer, steps=4, move_after=False):
    x, y = (t.to(device) for t in data())
    if move_after:
        optimizer = make_optimizer(model.parameters())
        model.to(device)
    else:
        model.to(device)
        optimizer = make_optimizer(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw single": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=False),
    "adamw foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
}


# A card's own kernels round otherwise, and an optimizer that divides by a small gradient's size makes more of it.
ERROR = 1e-4 if capabilities.missing("cpu_rules") else 1e-5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_the_cpu(name):
    reference, model = network(), network()
    wanted = train(reference, "cpu", OPTIMIZERS[name])
    found = train(model, DEVICE, OPTIMIZERS[name])
    assert found == pytest.approx(wanted, rel=ERROR)
    for p, q in zip(reference.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(q.detach().cpu(), p.detach(), rtol=10 * ERROR, atol=ERROR)


def test_an_optimizer_made_before_moving_still_trains():
    assert train(network(), DEVICE, OPTIMIZERS["sgd"], move_after=True) == pytest.approx(
        train(network(), "cpu", OPTIMIZERS["sgd"]), rel=ERROR
    )


def test_optimizer_state_moves_with_load_state_dict():
    model = network().to(DEVICE)
    optimizer = OPTIMIZERS["adam"](model.parameters())
    model(data()[0].to(DEVICE)).sum().backward()
    optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    other = network()
    fresh = OPTIMIZERS["adam"](other.parameters())
    fresh.load_state_dict(saved)
    assert all(s["exp_avg"].device.type == "cpu" for s in fresh.state.values())
    back = OPTIMIZERS["adam"](model.parameters())
    back.load_state_dict(fresh.state_dict())
    assert all(s["exp_avg"].device.type == DEVICE for s in back.state.values())


def test_parameters_keep_their_identity():
    model = network()
    before = list(model.parameters())
    model.to(DEVICE)
    assert all(p is q for p, q in zip(before, model.parameters(), strict=True))
    assert all(p.device.type == DEVICE and p.is_leaf and isinstance(p, nn.Parameter) for p in before)
    model.double()
    assert all(p is q for p, q in zip(before, model.parameters(), strict=True))
    model.cpu()
    assert all(p is q and p.device.type == "cpu" for p, q in zip(before, model.parameters(), strict=True))


def test_tied_weights_stay_tied():
    model = nn.ModuleDict({"a": nn.Embedding(5, 4), "b": nn.Linear(4, 5, bias=False)})
    model["b"].weight = model["a"].weight
    model.to(DEVICE)
    assert model["a"].weight is model["b"].weight
    model["b"](model["a"](torch.tensor([1, 2], device=DEVICE))).sum().backward()
    assert model["a"].weight.grad.shape == (5, 4)


def test_moving_back_while_the_graph_lives():
    model = network().to(DEVICE)
    out = model(data()[0].to(DEVICE)).sum()
    model.cpu()
    assert all(p.device.type == "cpu" for p in model.parameters())
    del out


def test_data_can_be_replaced_across_devices():
    p = nn.Parameter(torch.ones(2))
    p.data = torch.zeros(3, device=DEVICE)
    assert p.device.type == DEVICE and p.tolist() == [0, 0, 0]
    (p * 2).sum().backward()
    assert p.grad.device.type == DEVICE
    p.grad = None
    p.data = torch.ones(2)
    assert p.device.type == "cpu" and p.tolist() == [1, 1]


def test_gradients_match():
    x = torch.randn(5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = x.to(DEVICE).requires_grad_()
    x.requires_grad_()
    for t in (x, y):
        (torch.linalg.inv(t @ t.t() + torch.eye(5, device=t.device)) * t.sin().cumsum(0)).norm().backward()
    torch.testing.assert_close(y.grad.cpu(), x.grad)
    assert torch.autograd.gradcheck(
        lambda t: (t.exp() * t[0]).sum(1), torch.rand(3, 3, dtype=torch.float64, device=DEVICE, requires_grad=True)
    )


def test_higher_order_functional_and_hooks():
    x = torch.tensor([2.0, 3.0], device=DEVICE, requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [12, 18]
    assert torch.func.vmap(lambda t: t.dot(t))(torch.ones(3, 2, device=DEVICE)).tolist() == [2, 2, 2]
    assert torch.func.jacrev(lambda t: t**2)(x.detach()).diagonal().tolist() == [4, 6]
    seen = []
    x.register_hook(lambda grad: seen.append(grad.device.type))
    (x * 2).sum().backward()
    assert seen == [DEVICE]


@pytest.mark.devices(2)
def test_backward_across_devices():
    a = torch.ones(3, device="flagos:0", requires_grad=True)
    b = (a * 2).to("flagos:1")
    c = (b * b).cpu()
    c.sum().backward()
    assert a.grad.tolist() == [8, 8, 8] and a.grad.device.index == 0


def test_backward_on_a_side_stream():
    s = torch.flagos.Stream()
    w = torch.ones(64, 64, device=DEVICE, requires_grad=True)
    s.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(s):
        (w @ w).sum().backward()
    torch.flagos.current_stream().wait_stream(s)
    torch.flagos.synchronize()
    assert w.grad.unique().tolist() == [128]


@pytest.mark.parametrize("layer", ["transformer", "lstm", "conv", "attention"])
def test_layers(layer):
    torch.manual_seed(0)
    if layer == "transformer":
        model, x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True), torch.randn(2, 5, 8)
    elif layer == "lstm":
        model, x = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True), torch.randn(2, 5, 8)
    elif layer == "conv":
        model = nn.Sequential(
            nn.Conv2d(3, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 2, 2),
            nn.AdaptiveAvgPool2d(1),
        )
        x = torch.randn(2, 3, 12, 12)
    else:
        model, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(2, 5, 8)
    other = copy.deepcopy(model).to(DEVICE)

    def run(m, t):
        out = m(t, t, t) if layer == "attention" else m(t)
        out = out[0] if isinstance(out, tuple) else out
        out.square().sum().backward()
        return out

    y, z = run(model, x), run(other, x.to(DEVICE))
    torch.testing.assert_close(z.detach().cpu(), y.detach(), rtol=1e-4, atol=1e-5)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(q.grad.cpu(), p.grad, rtol=1e-3, atol=1e-4)
    with torch.no_grad():
        model.eval(), other.eval()
        a, b = (m(t, t, t)[0] if layer == "attention" else m(t) for m, t in ((model, x), (other, x.to(DEVICE))))
        a, b = (t[0] if isinstance(t, tuple) else t for t in (a, b))
        torch.testing.assert_close(b.cpu(), a, rtol=1e-4, atol=1e-5)


def test_autocast():
    """D1: the lower-precision, float32 and promoting groups, nesting, and nothing left on after the block."""
    a, b = torch.randn(4, 4, device=DEVICE), torch.randn(4, 4, device=DEVICE)
    assert torch.amp.autocast_mode.is_autocast_available(DEVICE)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast(DEVICE, dtype=dtype):
            y = a @ b
            assert y.dtype == dtype
            assert nn.functional.linear(a, b).dtype == dtype
            assert y.softmax(-1).dtype == torch.float32
            assert nn.functional.layer_norm(y, (4,)).dtype == torch.float32
            assert torch.addcmul(a, y, y).dtype == torch.float32
            assert torch.cat([y, a]).dtype == torch.float32
            assert torch.mm(a.half(), b).dtype == dtype
            with torch.autocast(DEVICE, enabled=False):
                assert (a @ b).dtype == torch.float32
        assert (a @ b).dtype == torch.float32
    assert not torch.is_autocast_enabled(DEVICE)


def test_grad_scaler_skips_infinite_steps():
    w = nn.Parameter(torch.ones(2, device=DEVICE))
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=4.0)
    scaler.scale((w * 0.5).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5]
    optimizer.zero_grad()
    scaler.scale((w * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5] and scaler.get_scale() == 2.0


def test_eager_graph_tools():
    f = lambda x: x.view(1, 4, 4, 4).relu().sum()  # noqa: E731
    x = torch.rand(1, 4, 16, device=DEVICE)
    for backend in ("eager", "aot_eager"):
        torch.testing.assert_close(torch.compile(f, backend=backend, fullgraph=True)(x), f(x))
    torch._dynamo.reset()


def test_packed_sequences():
    packed = nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    assert packed.to(DEVICE).is_flagos
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed.to(DEVICE))
    assert padded.device.type == DEVICE and lengths.tolist() == [3, 1]
