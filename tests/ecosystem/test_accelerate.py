"""accelerate: the training loop. Its device is named by the library's own variable, ``ACCELERATE_TORCH_DEVICE``."""

import copy

import accelerate
import pytest
import torch
from accelerate.state import AcceleratorState
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from .conftest import DEVICE, twins

pytestmark = pytest.mark.usefixtures("accelerate_on_device")


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


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
        inside = prepared[0](torch.randn(2, 8, device=DEVICE))
    assert inside.dtype == torch.bfloat16
    assert model[0].weight.dtype == torch.float32
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
