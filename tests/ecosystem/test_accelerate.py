"""accelerate: the training loop, and models split over devices and host memory.

The device of the loop is named by the library's own variable,
``ACCELERATE_TORCH_DEVICE``; a device map names devices, or numbers them.
"""

import copy

import accelerate
import pytest
import torch
from accelerate.state import AcceleratorState
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from .conftest import DEVICE, twins


@pytest.fixture(autouse=True)
def on_device(monkeypatch):
    """The library looks for a device once in a process; each test is a new one to it."""
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", DEVICE)
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


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


def loop(where, model, data, **options):
    """Train with an Accelerator; its device and the losses."""
    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = accelerate.Accelerator(**options)
    assert accelerator.device.type == where
    made = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True)
    planned = torch.optim.lr_scheduler.StepLR(made, 2)
    model, made, loader, planned = accelerator.prepare(model.train(), made, DataLoader(data, batch_size=4), planned)
    losses = []
    for inputs, targets in loader:
        assert inputs.device.type == where
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            made.step()
            planned.step()
            made.zero_grad()
        losses.append(accelerator.gather_for_metrics(loss).item())
    return accelerator, losses


@pytest.fixture
def data():
    return TensorDataset(torch.randn(16, 8), torch.randn(16, 4))


@pytest.mark.parametrize("accumulation", (1, 2))
def test_the_loop_gives_what_the_cpu_gives(accumulation, model, data, same, monkeypatch):
    model, copied = twins(model)
    _, found = loop(DEVICE, copied.cpu(), data, gradient_accumulation_steps=accumulation)
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    _, wanted = loop("cpu", model, data, gradient_accumulation_steps=accumulation)
    assert found == wanted
    same(copied.state_dict(), model.state_dict())


def test_bfloat16_autocasts_on_the_device(model, data):
    _, wanted = loop(DEVICE, copy.deepcopy(model), data)
    accelerator, losses = loop(DEVICE, model, data, mixed_precision="bf16")
    prepared = accelerator._models[0]
    with torch.no_grad(), accelerator.autocast():
        inside = prepared.first(torch.randn(2, 8, device=DEVICE))
    assert inside.dtype == torch.bfloat16
    assert model.first.weight.dtype == torch.float32
    assert losses == pytest.approx(wanted, rel=2**-6) and losses != wanted  # eight bits of mantissa


@pytest.mark.no_kernels
def test_float16_is_refused_by_the_library_in_a_sentence():
    """It has a list of devices for that; torch.autocast and torch.amp.GradScaler do the same without it."""
    with pytest.raises(ValueError, match="fp16 mixed precision requires a device in .*not 'flagos'"):
        accelerate.Accelerator(mixed_precision="fp16")


@pytest.mark.no_kernels
def test_without_the_variable_the_library_takes_the_cpu(monkeypatch):
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE")
    assert accelerate.Accelerator().device.type == "cpu"


def test_a_saved_state_goes_on_where_it_was(model, data, tmp_path, same):
    accelerator, _ = loop(DEVICE, model, data)
    accelerator.save_state(tmp_path)
    kept = {name: value.cpu().clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    accelerator.load_state(tmp_path)
    same(model.state_dict(), kept)


def test_a_loader_with_workers_and_pinned_memory_feeds_the_device():
    options = accelerate.DataLoaderConfiguration(non_blocking=True)
    data = TensorDataset(torch.arange(32.0).view(16, 2))
    loader = accelerate.Accelerator(dataloader_config=options).prepare(
        DataLoader(data, batch_size=4, num_workers=1, pin_memory=True, shuffle=True)
    )
    batches = [batch for (batch,) in loader]
    assert {batch.device.type for batch in batches} == {DEVICE}
    assert torch.cat(batches).sum().item() == 496


def test_a_batch_that_does_not_fit_is_made_smaller_until_it_does():
    """The library goes by the words of the error."""
    tried = []

    @accelerate.utils.find_executable_batch_size(starting_batch_size=2 * torch.flagos.mem_get_info()[1])
    def allocate(batch_size):
        tried.append(batch_size)
        made = torch.empty(batch_size, dtype=torch.uint8, device=DEVICE)
        return made[:1].zero_().numel() * made.numel()

    assert allocate() == tried[-1] <= torch.flagos.mem_get_info()[1] < tried[-2]
    torch.flagos.empty_cache()


def test_a_seed_set_by_the_library_is_the_devices():
    drawn = []
    for _ in range(2):
        accelerate.utils.set_seed(11)
        drawn.append(torch.randn(5, device=DEVICE))
    assert torch.equal(*drawn)


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
