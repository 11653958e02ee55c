"""lightning: what torch-fl adds to its registries, for each of its names and for Fabric, and the sentences of misuse."""

import copy
import subprocess
import sys

import lightning as L
import pytest
import torch
import torch_fl.adapters
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from .conftest import DEVICE, reseed
from .trainers import ON, QUIET

torch_fl.adapters.enable("lightning")


def line(library):
    """The smallest model of that library."""

    class Line(library.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def training_step(self, batch, index):
            return self.layer(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    return Line


def rows():
    return DataLoader(TensorDataset(torch.randn(8, 3)), batch_size=4)


def test_the_other_name_of_the_library_has_the_device_too(same):
    import pytorch_lightning as pl

    torch_fl.adapters.enable("pytorch_lightning")

    model, inputs = line(pl)(), rows()
    copied = copy.deepcopy(model)
    pl.Trainer(**QUIET | ON["cpu"]).fit(model, inputs)
    pl.Trainer(**QUIET | ON[DEVICE]).fit(copied, inputs)
    same(copied.to(DEVICE).state_dict(), model.state_dict(), rtol=1e-6, atol=1e-7)  # the optimizer's two loops


@pytest.mark.parametrize("precision", ("32-true", "bf16-mixed", "16-mixed"))
def test_fabric_trains_as_on_the_cpu(precision, same):
    inputs, weights = torch.randn(16, 8), []
    for where in (DEVICE, "cpu"):
        reseed(1)
        fabric = L.Fabric(**ON[where], precision="bf16-mixed" if where == "cpu" and "16" in precision else precision)
        net = nn.Linear(8, 2)
        net, made = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
        loader = fabric.setup_dataloaders(DataLoader(TensorDataset(inputs), batch_size=4))
        for (batch,) in loader:
            assert batch.device.type == fabric.device.type == where
            fabric.backward(net(batch).square().mean())
            made.step()
            made.zero_grad()
        weights.append(net.module.state_dict())
    # eight and eleven bits of mantissa in the mixed ones
    same(*weights, **({} if precision == "32-true" else {"rtol": 0, "atol": 1e-2}))


def refused(match, **options):
    with pytest.raises(ValueError, match=match):
        L.Trainer(**QUIET | ON[DEVICE] | options).fit(line(L)(), rows())


@pytest.mark.no_kernels
def test_without_the_strategy_a_sentence_says_so():
    refused("give strategy='flagos' as well", strategy="auto")


@pytest.mark.no_kernels
def test_fabric_without_the_strategy_stays_on_the_cpu():
    """It asks the accelerator nothing before it computes, so nobody is there to refuse."""
    assert L.Fabric(accelerator=DEVICE).device.type == "cpu"


@pytest.mark.no_kernels
@pytest.mark.devices(2)
def test_several_devices_are_refused_by_a_sentence():
    refused("drives one flagos device", devices=2)


@pytest.mark.no_kernels
def test_a_device_that_is_not_there_is_named():
    refused("there is no flagos:99", devices=[99])


@pytest.mark.no_kernels
def test_enabling_twice_changes_nothing():
    before = dict(L.pytorch.accelerators.AcceleratorRegistry)
    torch_fl.adapters.enable("lightning")
    assert dict(L.pytorch.accelerators.AcceleratorRegistry) == before


@pytest.mark.no_kernels
def test_an_adapter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no adapter for 'keras'; there are: flag_gems, lightning, pytorch_lightning"):
        torch_fl.adapters.enable("keras")


@pytest.mark.no_kernels
def test_no_library_is_imported_before_it_is_asked_for():
    program = """
import sys, torch, torch_fl.adapters
sys.exit(any(name in sys.modules for name in torch_fl.adapters.ADAPTERS if name != "torch.autograd"))
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
