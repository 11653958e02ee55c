"""Indexing: indices of every kind on either device, and a tensor that stays itself after a failure."""

import itertools

import pytest
import torch

from .conftest import needing

DEVICE = "flagos"


def base(device):
    return torch.arange(24.0).view(2, 3, 4).to(device)


# What stands in the brackets, made by a function of the device the index tensors lie on.
INDICES = {
    "list and matrix": lambda d: (slice(None), torch.tensor([0, 1], device=d), torch.tensor([[1, 2]], device=d)),
    "one": lambda d: (torch.tensor([1, 0], device=d),),
    "int32": lambda d: (slice(None), torch.tensor([2, 0], dtype=torch.int32, device=d)),
    "negative": lambda d: (Ellipsis, torch.tensor([-1, -4], device=d)),
    "bool": lambda d: (torch.tensor([True, False], device=d),),
    "bool matrix": lambda d: (torch.tensor([[True, False, True], [False, True, False]], device=d),),
    "bool and long": lambda d: (torch.tensor([True, True], device=d), torch.tensor([2, 0], device=d)),
    "apart": lambda d: (torch.tensor([1], device=d), slice(None), torch.tensor([0, 3], device=d)),
    "empty": lambda d: (torch.tensor([], dtype=torch.int64, device=d),),
    "none": lambda d: (None, torch.tensor([1], device=d), None),
    "scalar": lambda d: (torch.tensor(1, device=d), torch.tensor([2, 1], device=d)),
    "python list": lambda d: ([1, 0], [2, 1]),
    "numpy int": lambda d: (1, torch.tensor([0], device=d)),
}


@pytest.mark.parametrize(("name", "where"), list(itertools.product(INDICES, ["cpu", DEVICE])))
def test_reading_and_writing(name, where, same):
    """A1: the values of the CPU, whichever device holds the index."""
    wanted, found = base("cpu"), base(DEVICE)
    on_cpu, index = INDICES[name]("cpu"), INDICES[name](where)
    same(found[index], wanted[on_cpu])
    wanted[on_cpu] = -1
    found[index] = -1
    same(found, wanted)
    wanted[on_cpu] += 5
    found[index] += 5
    same(found, wanted)
    value = torch.arange(float(wanted[on_cpu].numel())).reshape(wanted[on_cpu].shape)
    wanted[on_cpu] = value
    found[index] = value.to(DEVICE)
    same(found, wanted)


def test_one_index_on_each_device(same):
    """A1: the report's own line: a CPU and a device index in one pair of brackets."""
    i, j = torch.tensor([0, 1]), torch.tensor([[1, 2]])
    same(base(DEVICE)[:, i, j.to(DEVICE)], base("cpu")[:, i, j])
    same(base(DEVICE)[:, i.to(DEVICE), j], base("cpu")[:, i, j])
    x = base(DEVICE)
    x[:, i, j.to(DEVICE)] = 0
    y = base("cpu")
    y[:, i, j] = 0
    same(x, y)


def test_a_value_on_the_cpu_is_taken_only_when_it_is_a_scalar(same):
    """A1: assignment takes a 0-d CPU value, as CUDA does; a larger one is copied when the index is a slice."""
    x = base(DEVICE)
    x[torch.tensor([0], device=DEVICE)] = torch.tensor(5.0)
    assert x[0].unique().tolist() == [5]
    x[:, 1] = torch.arange(8.0).view(2, 4)
    same(x[:, 1], torch.arange(8.0).view(2, 4))
    with pytest.raises(RuntimeError, match="device"):
        x[torch.tensor([0], device=DEVICE)] = torch.ones(1, 3, 4)


FAILING = {
    "index": lambda x: x[torch.tensor([99], device=DEVICE)],
    "index from the cpu": lambda x: x[:, torch.tensor([99])],
    "index_put": lambda x: x.__setitem__(torch.tensor([99], device=DEVICE), 1),
    "index_select": lambda x: x.index_select(0, torch.tensor([99], device=DEVICE)),
    "gather": lambda x: x.gather(0, torch.full((1, 3, 4), 99, device=DEVICE)),
    "scatter": lambda x: x.scatter(0, torch.full((1, 3, 4), 99, device=DEVICE), 1.0),
    "scatter_": lambda x: x.scatter_(0, torch.full((1, 3, 4), 99, device=DEVICE), 1.0),
    "take": lambda x: x.take(torch.tensor([99], device=DEVICE)),
    "index_add": lambda x: x.index_add(0, torch.tensor([99], device=DEVICE), torch.ones(1, 3, 4, device=DEVICE)),
    "index_fill": lambda x: x.index_fill(0, torch.tensor([99], device=DEVICE), 1),
    "index_copy": lambda x: x.index_copy(0, torch.tensor([99], device=DEVICE), torch.ones(1, 3, 4, device=DEVICE)),
    "select": lambda x: x[5],
    "mask of another shape": lambda x: x[torch.ones(7, dtype=torch.bool, device=DEVICE)],
    "mm": lambda x: torch.mm(x[0], x[0]),
    "embedding": lambda x: torch.nn.functional.embedding(torch.tensor([99], device=DEVICE), x[0]),
    "cross_entropy": lambda x: torch.nn.functional.cross_entropy(x[0], torch.tensor([0, 1, 99], device=DEVICE)),
    "cholesky": lambda x: torch.linalg.cholesky(-torch.eye(3, device=DEVICE)),
    "out of another type": lambda x: torch.add(x, 1, out=torch.empty(2, 3, 4, dtype=torch.int32, device=DEVICE)),
}


OUT_OF_RANGE = FAILING.keys() - {"select", "mask of another shape", "mm", "cholesky", "out of another type"}


@pytest.mark.parametrize("name", needing("index_checks", OUT_OF_RANGE, FAILING))
def test_a_failed_call_leaves_everything_as_it_was(name, same):
    """A1: after an exception in a kernel the tensor is still a device tensor with its values, and work goes on."""
    x = base(DEVICE)
    address, version = x.data_ptr(), x._version
    with pytest.raises((IndexError, RuntimeError)):
        FAILING[name](x)
        torch.flagos.synchronize()
    assert x.device == torch.device("flagos:0") and x.is_flagos and x.data_ptr() == address
    assert x._version - version in (0, 1)
    same(x, base("cpu"))
    same(x + 1, base("cpu") + 1)
    assert (base(DEVICE) @ base(DEVICE).mT).shape == (2, 3, 3)


def test_gradients_through_mixed_indices():
    """A1: the backward of an index that came from the CPU."""
    grads = []
    for device in ("cpu", DEVICE):
        x = base(device).requires_grad_()
        y = x[:, torch.tensor([0, 0, 2]), torch.tensor([1, 1, 3], device=device)]
        (y * torch.arange(6.0, device=device).view(2, 3)).sum().backward()
        grads.append(x.grad.cpu())
    assert torch.equal(*grads)


@pytest.mark.devices(2)
def test_an_index_of_another_device_is_refused():
    """A1: only the CPU may lend an index."""
    with pytest.raises(RuntimeError, match="same device"):
        base("flagos:0")[torch.tensor([0], device="flagos:1")]


def test_a_cpu_tensor_with_a_device_index():
    """A1: CUDA refuses an index that is on the device while the tensor is not; nothing changes its device."""
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu|same device"):
        base("cpu")[torch.tensor([0], device=DEVICE)]
