"""Libraries that people use with PyTorch, on ``flagos`` and on the CPU: the results are the same.

Every model is tiny and made here, and nothing is fetched.  A model is made
on the CPU and copied, since a device draws other random numbers than the CPU;
for the same reason dropout is off wherever the two are compared.  On the
``host`` platform the same kernels run in the same order, so the comparison is
of bits unless a test says otherwise.
"""

import copy
import os
import random
import socket

os.environ.update(  # before the libraries read them
    HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1"
)

import numpy as np
import pytest
import torch

DEVICE = "flagos"


def pytest_configure(config):
    config.addinivalue_line("markers", "devices(n): needs that many devices")
    config.addinivalue_line("markers", "no_kernels: shows what happens without a device; nothing is computed on one")
    config.addinivalue_line("filterwarnings", "error:.*(flagos|torch_fl)")  # the libraries' own warnings are theirs


@pytest.fixture(autouse=True)
def _enough_devices(request):
    mark = request.node.get_closest_marker("devices")
    if mark and torch.flagos.device_count() < mark.args[0]:
        pytest.skip(f"needs {mark.args[0]} devices")


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """Whatever asks the network fails, and says so."""
    connect = socket.socket.connect

    def only_here(self, address):
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"the test asked {address} over the network")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.fixture(autouse=True)
def _same_start():
    """Every test starts on device 0 with fixed seeds."""
    torch.flagos.set_device(0)
    reseed()
    yield
    torch.flagos.set_device(0)


@pytest.fixture(autouse=True)
def served(request):
    """Calls that device kernels served in this test; one in which none ran fails."""
    from torch_fl import _C

    class Served:
        def calls(self, operator):
            return sum(calls for (op, _), calls in _C.dispatch_counts().items() if op == operator)

        def missing(self, *operators):
            return [op for op in operators if not self.calls(op)]

    _C.reset_dispatch_counts()
    yield Served()
    if not request.node.get_closest_marker("no_kernels"):
        assert sum(_C.dispatch_counts().values()), "no kernel of the device ran"


@pytest.fixture
def same():
    """Assert that what is on the device equals what is on the CPU, to the bit unless a tolerance is given.

    Tensors, numbers, or containers of them; every tensor of the first is on the device.
    """

    def check(found, wanted, **tolerance):
        if isinstance(wanted, dict):
            assert found.keys() == wanted.keys()
            found, wanted = list(found.values()), list(wanted.values())
        if isinstance(wanted, list | tuple):
            assert len(found) == len(wanted)
            for one, other in zip(found, wanted, strict=True):
                check(one, other, **tolerance)
        elif isinstance(wanted, torch.Tensor):
            assert found.device.type == DEVICE and wanted.device.type == "cpu"
            torch.testing.assert_close(found.cpu(), wanted, **(tolerance or {"rtol": 0, "atol": 0}), equal_nan=True)
        else:
            assert found == (pytest.approx(wanted, **tolerance) if tolerance else wanted)

    return check


@pytest.fixture
def accelerate_on_device(monkeypatch):
    """accelerate looks for a device once in a process; each test is a new one to it."""
    from accelerate.state import AcceleratorState

    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", DEVICE)
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


def reseed(seed=0):
    """One start for every source of random numbers."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def twins(model):
    """The model on the CPU, and a copy of it on the device."""
    return model, copy.deepcopy(model).to(DEVICE)


def to(device, batch):
    """A dict of tensors on `device`."""
    return {name: tensor.to(device) for name, tensor in batch.items()}


def train(model, batch, steps=3, optimizer=torch.optim.AdamW, **options):
    """Some steps on one batch, on the device that the model is on.

    Returns:
        the loss of each step, as numbers.
    """
    device = next(model.parameters()).device
    options = {"lr": 1e-3, "foreach": True, **options}  # by itself PyTorch takes the plain loop on the CPU only
    made, losses = optimizer([p for p in model.parameters() if p.requires_grad], **options), []
    model.train()
    for _ in range(steps):
        loss = model(**to(device, batch)).loss
        loss.backward()
        made.step()
        made.zero_grad()
        losses.append(loss.item())
    return losses
