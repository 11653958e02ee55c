"""DataLoader: workers, pinned batches, and copies that run beside the computation."""

import gc
import threading
import time

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "flagos"


@pytest.fixture
def dataset():
    return TensorDataset(torch.arange(40.0).view(20, 2), torch.arange(20))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("pin", [False, True])
def test_batches(dataset, workers, pin):
    torch.ones(1, device=DEVICE)  # the device is in use before workers fork
    before = threading.active_count()
    loader = DataLoader(dataset, batch_size=4, num_workers=workers, pin_memory=pin)
    for _ in range(2):
        seen = []
        for x, y in loader:
            assert x.is_pinned() == pin
            z = x.to(DEVICE, non_blocking=True) * 2
            assert torch.equal(z.cpu(), x * 2)
            seen += y.tolist()
        assert seen == list(range(20))
    del loader
    gc.collect()
    patience = time.monotonic() + 10  # the queues' own threads end by themselves
    while threading.active_count() > before and time.monotonic() < patience:
        time.sleep(0.05)
    assert threading.active_count() == before, threading.enumerate()


def test_workers_are_seeded_apart(dataset):
    class Noise(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return torch.rand(1)

    torch.manual_seed(2)
    a = torch.cat(list(DataLoader(Noise(), num_workers=2)))
    torch.manual_seed(2)
    b = torch.cat(list(DataLoader(Noise(), num_workers=2)))
    assert torch.equal(a, b) and a.unique().numel() == 8


def test_a_generator_of_the_device_shuffles(dataset):
    order = [y.item() for _, y in DataLoader(dataset, shuffle=True, generator=torch.Generator().manual_seed(1))]
    assert sorted(order) == list(range(20)) and order != sorted(order)
