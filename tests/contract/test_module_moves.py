"""Modules and parameters change device and type in place, whatever else holds them."""

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

DEVICE = "flagos"


class Everything(nn.Module):
    """Parameters, tied weights, a recurrent layer's flat weights, buffers of several types, a non-persistent one."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.rnn = nn.LSTM(4, 4, batch_first=True)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)
        self.register_buffer("steps", torch.tensor(3))
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.missing = nn.Parameter(torch.empty(0))

    def forward(self, x):
        y = self.rnn(self.embed(x))[0]
        return self.head(self.norm(y.transpose(1, 2)).transpose(1, 2) * self.scale + self.frozen)


def tokens(device):
    return torch.arange(6, device=device).view(2, 3)


def places(module):
    return {t.device.type for t in [*module.parameters(), *module.buffers()]}


MOVES = {
    "cpu": lambda m: m.cpu(),
    "to cpu": lambda m: m.to("cpu"),
    "to double": lambda m: m.double(),
    "to half": lambda m: m.half(),
    "to bfloat16": lambda m: m.to(torch.bfloat16),
    "to another type and place": lambda m: m.to("cpu", torch.float64),
    "to a tensor's like": lambda m: m.to(torch.empty(1, dtype=torch.float64)),
    "the device again": lambda m: m.flagos(),
    "channels last": lambda m: m.to(memory_format=torch.preserve_format),
    "type": lambda m: m.type(torch.float64),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_while_a_graph_holds_the_parameters(name):
    """F1: model.cpu() after a forward whose output is alive; the same for every way of converting."""
    model = Everything().to(DEVICE)
    out = model(tokens(DEVICE)).sum()
    kept = list(model.parameters())
    MOVES[name](model)
    assert all(a is b for a, b in zip(kept, model.parameters(), strict=True))
    assert model.head.weight is model.embed.weight
    assert out.device.type == DEVICE and torch.isfinite(out)
    assert len(places(model)) == 1
    del out
    again = model(tokens(model.frozen.device))
    again.float().sum().backward()
    assert model.head.weight.grad.device == model.head.weight.device
    assert model.head.weight.grad.dtype == model.head.weight.dtype


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_every_setting_of_the_conversion_flags(swap, overwrite):
    """F1: the flags are the user's: off after import, and with each combination a fresh module moves."""
    future = torch.__future__
    before = future.get_swap_module_params_on_conversion(), future.get_overwrite_module_params_on_conversion()
    assert before == (False, False)
    try:
        future.set_swap_module_params_on_conversion(swap)
        future.set_overwrite_module_params_on_conversion(overwrite)
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        reference = copy.deepcopy(model)
        x = torch.randn(3, 4)
        for _ in range(2):
            model.to(DEVICE)
            assert places(model) == {DEVICE}
            torch.testing.assert_close(model.eval()(x.to(DEVICE)).cpu(), reference.eval()(x))
            model.to("cpu")
            assert places(model) == {"cpu"}
    finally:
        future.set_swap_module_params_on_conversion(before[0])
        future.set_overwrite_module_params_on_conversion(before[1])


def test_gradients_move_with_their_parameters():
    """F1: a gradient made before the move is usable after it."""
    model = Everything().to(DEVICE)
    model(tokens(DEVICE)).sum().backward()
    grads = {n: p.grad.cpu().clone() for n, p in model.named_parameters() if p.grad is not None}
    model.cpu()
    for name, p in model.named_parameters():
        if name in grads:
            assert p.grad.device.type == "cpu" and torch.equal(p.grad, grads[name])
    model.to(DEVICE)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert places(model) == {DEVICE}


def test_a_moved_module_frees_the_device():
    """F1: after model.cpu() nothing of it is left on the device."""
    gc.collect()
    before = torch.flagos.memory_allocated()
    model = nn.Linear(512, 512).to(DEVICE)
    ref = weakref.ref(model.weight)
    assert torch.flagos.memory_allocated() - before >= 512 * 512 * 4
    model.cpu()
    gc.collect()
    assert torch.flagos.memory_allocated() == before and ref() is model.weight


SOURCES = {
    "device": lambda: torch.arange(3.0, device=DEVICE),
    "cpu": lambda: torch.arange(3.0),
    "strided": lambda: torch.arange(6.0, device=DEVICE)[::2],
    "double": lambda: torch.arange(3.0, dtype=torch.float64, device=DEVICE),
    "another shape": lambda: torch.ones(2, 2, device=DEVICE),
    "empty": lambda: torch.empty(0, device=DEVICE),
    "half on the cpu": lambda: torch.ones(3, dtype=torch.float16),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("start", ["cpu", DEVICE])
def test_data_takes_any_tensor(name, start):
    """F2: param.data = tensor across devices, types, shapes and strides, as between the CPU and CUDA."""
    p = nn.Parameter(torch.ones(2, device=start))
    source = SOURCES[name]()
    p.data = source
    assert (p.device, p.dtype, p.shape, p.stride()) == (source.device, source.dtype, source.shape, source.stride())
    assert p.data_ptr() == source.data_ptr() and p.requires_grad and p.is_leaf and isinstance(p, nn.Parameter)
    (p.float() * 2).sum().backward()
    assert p.grad.device == p.device and p.grad.shape == p.shape


def test_data_of_plain_tensors_and_buffers():
    """F2: the same for a tensor that is no parameter, for .set_ and for swap_tensors."""
    x, y = torch.ones(2), torch.zeros(3, device=DEVICE)
    x.data = y
    y[0] = 5
    assert x.device.type == DEVICE and x.tolist() == [5, 0, 0]
    a, b = torch.ones(2), torch.zeros(3, device=DEVICE)
    torch.utils.swap_tensors(a, b)
    assert a.device.type == DEVICE and b.device.type == "cpu" and a.shape == (3,)


@pytest.mark.devices(2)
def test_data_between_devices():
    """F2: from one device to the other."""
    p = nn.Parameter(torch.ones(2, device="flagos:0"))
    p.data = torch.zeros(2, device="flagos:1")
    (p + 1).sum().backward()
    assert p.device.index == 1 and p.grad.device.index == 1


def test_a_gradient_of_another_device_is_refused():
    """F2: as for CUDA: a .grad must lie where its tensor lies."""
    p = nn.Parameter(torch.ones(2))
    with pytest.raises(RuntimeError, match="gradient with device type .flagos. to a tensor with device type .cpu."):
        p.grad = torch.ones(2, device=DEVICE)


def test_modules_without_memory_get_it_here():
    """F1: meta device, to_empty, skip_init and load_state_dict(assign=True)."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    assert places(model.to_empty(device=DEVICE)) == {DEVICE}
    with torch.device("meta"):
        other = nn.Linear(3, 3)
    weights = {k: v.to(DEVICE) for k, v in nn.Linear(3, 3).state_dict().items()}
    other.load_state_dict(weights, assign=True)
    assert torch.equal(other.weight, weights["weight"]) and other.weight.is_flagos
    assert nn.utils.skip_init(nn.Linear, 2, 2, device=DEVICE).weight.is_flagos
    lazy = nn.LazyLinear(4).to(DEVICE)
    assert lazy(torch.ones(2, 3, device=DEVICE)).is_flagos and lazy.weight.shape == (4, 3)
    assert places(Everything().flagos()) == {DEVICE} and nn.Linear(2, 2, device=DEVICE).weight.is_flagos
