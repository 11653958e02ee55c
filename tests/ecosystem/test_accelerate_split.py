"""accelerate: models over several devices and host memory, by maps that name devices or number them."""

import copy

import accelerate
import pytest
import torch
from torch import nn

from .conftest import DEVICE

pytestmark = pytest.mark.usefixtures("accelerate_on_device")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU())

    def forward(self, hidden):
        return hidden + self.net(hidden)


class Stack(nn.Module):
    """Four parts that a device map can tell apart."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.last = nn.Linear(16, 4)

    def forward(self, inputs):
        hidden = self.first(inputs)
        for block in self.blocks:
            hidden = block(hidden)
        return self.last(hidden)


@pytest.fixture
def model():
    return Stack().eval()


@pytest.fixture
def inputs():
    return torch.randn(6, 8)


MAPS = {
    "two devices": {"first": "flagos:0", "blocks.0": "flagos:0", "blocks.1": "flagos:1", "last": "flagos:1"},
    "numbers": {"first": 0, "blocks": 0, "last": 1},
    "device and host": {"first": "flagos:0", "blocks": "cpu", "last": "flagos:0"},
    "two devices and host": {"first": "flagos:1", "blocks.0": "cpu", "blocks.1": "flagos:0", "last": 1},
    "one device": {"": "flagos:1"},
}


@pytest.mark.devices(2)
@pytest.mark.parametrize("name", MAPS)
def test_a_dispatched_model_gives_what_the_cpu_gives(name, model, inputs):
    wanted = model(inputs)
    device_map = MAPS[name]
    split = accelerate.dispatch_model(copy.deepcopy(model), device_map, main_device=None if name != "one device" else 1)
    with torch.no_grad():
        found = split(inputs.to(next(iter(device_map.values()))))
    assert found.device.type == DEVICE
    assert torch.equal(found.cpu(), wanted)
    places = {p.device.type for p in split.parameters()}
    assert places == ({DEVICE, "meta"} if "cpu" in device_map.values() else {DEVICE})


@pytest.mark.devices(2)
def test_a_split_model_trains_as_on_the_cpu(model, inputs):
    split = accelerate.dispatch_model(copy.deepcopy(model), MAPS["two devices"])
    for each, given in ((model, inputs), (split, inputs.to(DEVICE))):
        made = torch.optim.SGD(each.parameters(), lr=0.1, foreach=True)
        for _ in range(3):
            each(given).square().mean().backward()
            made.step()
            made.zero_grad()
    found = {name: value.cpu() for name, value in split.state_dict().items()}
    torch.testing.assert_close(found, dict(model.state_dict()), rtol=0, atol=0)


def test_offload_to_host_memory_leaves_nothing_on_the_device(model, inputs):
    wanted = model(inputs)
    accelerate.cpu_offload(model, execution_device=torch.device(DEVICE, 0))
    torch.flagos.synchronize()
    before = torch.flagos.memory_allocated()
    with torch.no_grad():
        found = model(inputs.to(DEVICE))
    assert torch.equal(found.cpu(), wanted)
    del found
    assert torch.flagos.memory_allocated() == before


def test_offload_with_a_hook_brings_a_model_to_the_device(model, inputs):
    wanted = model(inputs)
    model, hook = accelerate.cpu_offload_with_hook(model, torch.device(DEVICE, 0))
    with torch.no_grad():
        found = model(inputs)
    assert {p.device.type for p in model.parameters()} == {DEVICE}
    assert torch.equal(found.cpu(), wanted)
    hook.offload()
    assert {p.device.type for p in model.parameters()} == {"cpu"}


def test_offload_to_disk_gives_what_the_cpu_gives(model, inputs, tmp_path):
    wanted = model(inputs)
    accelerate.disk_offload(model, tmp_path, execution_device=torch.device(DEVICE, 0))
    with torch.no_grad():
        assert torch.equal(model(inputs.to(DEVICE)).cpu(), wanted)


@pytest.mark.devices(2)
def test_a_map_is_made_from_a_budget_of_memory(model, inputs):
    """Asked for no budget the library looks at CUDA's devices alone, so it is to be given."""
    wanted = model(inputs)
    budget = {0: 2000, 1: 1500, "cpu": 10**9}  # bytes
    device_map = accelerate.infer_auto_device_map(model, budget, no_split_module_classes=["Block"])
    assert set(device_map.values()) == {0, 1, "cpu"}
    split = accelerate.dispatch_model(model, device_map)
    with torch.no_grad():
        assert torch.equal(split(inputs.to(DEVICE)).cpu(), wanted)


PLACES = {
    "one device": {"": 0},
    "two devices": {"first": 0, "blocks": 1, "last": 0},
    "host": {"first": 0, "blocks": "cpu", "last": 0},
}


@pytest.mark.devices(2)
@pytest.mark.parametrize("name", PLACES)
def test_a_checkpoint_is_loaded_straight_to_its_places(name, model, inputs, tmp_path):
    wanted = model(inputs)
    accelerate.Accelerator().save_model(model, tmp_path)
    with accelerate.init_empty_weights():
        empty = Stack().eval()
    loaded = accelerate.load_checkpoint_and_dispatch(empty, tmp_path, device_map=PLACES[name])
    assert loaded.first.weight.device == torch.device(DEVICE, 0)
    with torch.no_grad():
        assert torch.equal(loaded(inputs.to(DEVICE)).cpu(), wanted)


def test_a_model_is_made_on_the_device(inputs):
    with accelerate.init_on_device(torch.device(DEVICE)):
        made = Stack()
    assert {p.device.type for p in made.parameters()} == {DEVICE}
    assert made(inputs.to(DEVICE)).isfinite().all()
