"""What the CPU did before the device was there, it does after: nothing of PyTorch is replaced."""

import pytest
import torch

from .conftest import needing

DEVICE = "flagos"


@pytest.fixture(autouse=True)
def _device_in_use():
    (torch.ones(2, device=DEVICE) + 1)[torch.tensor([0], device=DEVICE)].item()


NESTED = {
    "two scalars": lambda d: [torch.tensor(1, device=d), torch.tensor(2, device=d)],
    "floats": lambda d: [torch.tensor(1.5, device=d), 2.0],
    "lists of scalars": lambda d: [[torch.tensor(1, device=d)], [torch.tensor(2, device=d)]],
    "one-element vectors": lambda d: [torch.ones(1, device=d), torch.zeros(1, device=d)],
    "rows of a matrix": lambda d: list(torch.arange(4.0, device=d).view(2, 2)),
    "tuple": lambda d: (torch.tensor(True, device=d), torch.tensor(False, device=d)),
    "range and tensor": lambda d: [1, torch.tensor(7, device=d), 3],
}


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list")
@pytest.mark.parametrize("where", ["cpu", DEVICE])
@pytest.mark.parametrize("target", ["cpu", DEVICE])
@pytest.mark.parametrize("name", NESTED)
def test_tensors_of_tensors(name, target, where):
    """A4: torch.tensor([t0, t1]) with 0-d tensors, of either device, made on either device."""
    try:
        wanted = torch.tensor(NESTED[name]("cpu"))
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            torch.tensor(NESTED[name](where), device=target)
        return
    found = torch.tensor(NESTED[name](where), device=target)
    assert found.device.type == target and found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


PROTOCOLS = {
    "len": lambda x: len(x),
    "iterate": lambda x: [int(v) for v in x],
    "contains": lambda x: 2 in x,
    "reversed": lambda x: [int(v) for v in reversed(x)],
    "bool": lambda x: bool(x[1]),
    "int, float, complex": lambda x: (int(x[1]), float(x[1]), complex(x[1])),
    "index of a list": lambda x: [10, 20, 30, 40][x[1]],
    "range": lambda x: list(range(x[2])),
    "format": lambda x: f"{x[1].item():03d} {x[2]:>4}",
    "round": lambda x: round(float(x[1] / 2), 1),
    "sum": lambda x: int(sum(x)),
    "max": lambda x: int(max(x)),
    "unpack": lambda x: [int(v) for v in (lambda *items: items)(*x)],
    "sorted": lambda x: [int(v) for v in sorted(x, reverse=True)],
    "dictionary": lambda x: {x: 1}[x],
    "divmod": lambda x: [v.tolist() for v in (x // 2, x % 2)],
    "operators from the left": lambda x: [
        (2 - x).tolist(),
        (2**x).tolist(),
        (7 // (x + 1)).tolist(),
        (1 << x).tolist(),
    ],
    "matmul": lambda x: int(x @ x),
    "comparison chain": lambda x: bool((0 <= x[1]) & (x[1] < 5)),
    "in place": lambda x: x.__iadd__(1).__imul__(2).tolist(),
}


@pytest.mark.parametrize("name", needing("cpu_rules", {"matmul"}, PROTOCOLS))
def test_python_protocols(name):
    """A4: Tensor's slots are PyTorch's own, so every Python protocol works as on the CPU."""
    x = torch.arange(4)
    assert PROTOCOLS[name](x.to(DEVICE)) == PROTOCOLS[name](x)


def test_an_empty_or_large_tensor_is_no_truth_value():
    """A4: the CPU's own errors."""
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
            bool(torch.ones(2, device=device))
        with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
            len(torch.tensor(1, device=device))
        with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
            list(torch.tensor(1, device=device))


def test_slots_are_written_in_c():
    """A4: assigning a Python function to Tensor.__getitem__ alone breaks torch.tensor of 0-d tensors."""
    for slot in ("__getitem__", "__setitem__", "__len__", "__bool__", "__add__", "__index__"):
        function = getattr(torch.Tensor, slot)
        assert "torch_fl" not in str(getattr(function, "__module__", "")), slot
        assert type(function).__name__ != "function" or function.__module__.startswith("torch"), slot


def test_numpy_is_served_as_before():
    """A4: a CPU tensor's bridge to numpy shares memory still."""
    x = torch.arange(3.0)
    array = x.numpy()
    array[0] = 9
    assert x[0] == 9 and torch.from_numpy(array).data_ptr() == x.data_ptr()
