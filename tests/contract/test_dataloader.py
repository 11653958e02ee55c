"""DataLoader: workers, pinned batches, and copies that run beside the computation."""

import collections
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
    """F7, F10: pinned batches, worker processes forked after first use, and no thread left behind."""
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


class Batch:
    """A batch of the user's own class, which says itself how it is pinned."""

    def __init__(self, rows):
        self.x = torch.stack([r[0] for r in rows])
        self.pinned = False

    def pin_memory(self, *device):
        self.x, self.pinned = self.x.pin_memory(), True
        return self


Pair = collections.namedtuple("Pair", "x y")


COLLATE = {
    "dictionary": lambda rows: {"x": torch.stack([r[0] for r in rows]), "name": "batch"},
    "named tuple": lambda rows: Pair(torch.stack([r[0] for r in rows]), [r[1] for r in rows]),
    "own class": Batch,
}


@pytest.mark.parametrize("kind", COLLATE)
def test_batches_of_every_shape_are_pinned(dataset, kind):
    """F7: nested batches and those with a pin_memory method."""
    for batch in DataLoader(dataset, batch_size=5, pin_memory=True, collate_fn=COLLATE[kind]):
        x = batch["x"] if isinstance(batch, dict) else batch.x
        assert x.is_pinned() and torch.equal(x.to(DEVICE, non_blocking=True).cpu(), x)
        assert kind != "own class" or batch.pinned
        assert kind != "named tuple" or type(batch) is Pair


def test_persistent_workers_and_pinning(dataset):
    """F7: two epochs through the same workers, copied to the device beside the computation."""
    loader = DataLoader(dataset, batch_size=4, num_workers=1, pin_memory=True, persistent_workers=True)
    sums = []
    for _ in range(2):
        total = torch.zeros((), device=DEVICE)
        for x, _ in loader:
            total += x.to(DEVICE, non_blocking=True).sum()
        sums.append(total.item())
    assert sums == [780.0, 780.0]


def test_every_way_to_pinned_memory():
    """F7: tensors, factories, storages, modules' buffers; asking about the device is allowed and changes nothing."""
    x = torch.arange(6.0).view(2, 3)
    for pinned in (x.pin_memory(), x.t().pin_memory(), torch.empty(3, pin_memory=True), torch.zeros(2, pin_memory=True),
                   torch.empty_like(x, pin_memory=True), torch.tensor([1.0], pin_memory=True),
                   torch.rand(2, pin_memory=True), torch.empty_strided((2,), (1,), pin_memory=True),
                   x.new_empty(2, pin_memory=True), x.untyped_storage().pin_memory()):  # fmt: skip
        assert pinned.is_pinned() and pinned.device.type == "cpu"
    assert torch.equal(x.pin_memory(), x) and torch.equal(x.t().pin_memory(), x.t())
    y = x.pin_memory()
    assert y.pin_memory() is y and y[0].is_pinned() and not (y + 1).is_pinned()
    assert not x.is_pinned() and not x.to(DEVICE).is_pinned()
    assert torch.empty(0, pin_memory=True).numel() == 0
    packed = torch.nn.utils.rnn.pack_sequence([x, x[:1]]).pin_memory()
    assert packed.is_pinned() and packed.to(DEVICE).is_flagos


def test_what_cannot_be_pinned():
    """F7: memory of the device, in PyTorch's words."""
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device=DEVICE).pin_memory()
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned|only dense CPU tensors"):
        torch.empty(2, device=DEVICE, pin_memory=True)


def test_workers_that_use_the_device_are_told(dataset):
    """F10: a forked worker of a process that has used the device gets the sentence with "spawn"."""

    class OnDevice(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return torch.ones(2, device=DEVICE).cpu()

    torch.ones(1, device=DEVICE)
    assert next(iter(DataLoader(OnDevice()))).tolist() == [[1, 1]]
    with pytest.raises(RuntimeError, match="spawn"):
        next(iter(DataLoader(OnDevice(), num_workers=1, multiprocessing_context="fork")))


def test_samplers_of_the_device():
    """A generator of the device seeds the CPU's sampler through its own seed only: torch refuses to mix them."""
    dataset = TensorDataset(torch.arange(6))
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'flagos'|same device"):
        list(DataLoader(dataset, shuffle=True, generator=torch.Generator(DEVICE)))
    with torch.device(DEVICE):
        order = [x.item() for (x,) in DataLoader(dataset, shuffle=True, generator=torch.Generator(DEVICE))]
    assert sorted(order) == list(range(6))
