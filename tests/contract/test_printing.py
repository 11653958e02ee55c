"""What a tensor prints: as on the CPU, and where it is."""

import pytest
import torch
from torch import nn

DEVICE = "flagos"

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64,
    torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]  # fmt: skip


def expected(x):
    """The CPU's text with the device in PyTorch's place for it: before the type and the flags."""
    head, mark, tail = repr(x).rpartition("]") if x.dim() else repr(x).partition(",")
    if not x.dim():
        if not mark:
            return repr(x)[:-1] + ", device='flagos:0')"
        return f"{head}, device='flagos:0',{tail}"
    return f"{head}{mark}, device='flagos:0'{tail}"


VALUES = {
    "matrix": lambda: torch.arange(6.0).view(2, 3),
    "fractions": lambda: torch.tensor([0.1, 1e-8, 1e9]),
    "not finite": lambda: torch.tensor([float("nan"), float("inf"), -1.0]),
    "long": lambda: torch.arange(3000),
    "many rows": lambda: torch.arange(5000.0).view(1000, 5),
    "scalar": lambda: torch.tensor(2.5),
    "strided": lambda: torch.arange(12).view(3, 4).t()[::2],
    "complex": lambda: torch.tensor([1 + 2j, 3j]),
    "conj": lambda: torch.tensor([1 + 2j, 3j]).conj(),
    "neg": lambda: torch._neg_view(torch.tensor([1.0, 2.0])),
    "leaf": lambda: torch.ones(2, requires_grad=True),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    x = VALUES[name]()
    found = repr(x.detach().to(DEVICE).requires_grad_(x.requires_grad))
    assert found.split() == expected(x).split()  # the device can move the end to a new line


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_types(dtype):
    x = torch.ones(2, 3).to(dtype)
    assert repr(x.to(DEVICE)) == expected(x)


def test_what_holds_tensors():
    x = torch.ones(2, device=DEVICE, requires_grad=True)
    assert repr(x * 2) == "tensor([2., 2.], device='flagos:0', grad_fn=<MulBackward0>)"
    assert repr(nn.Parameter(x)) == "Parameter containing:\ntensor([1., 1.], device='flagos:0', requires_grad=True)"
    assert repr(torch.empty(0, 3, device=DEVICE)) == "tensor([], device='flagos:0', size=(0, 3))"
    assert repr([x.detach()]) == "[tensor([1., 1.], device='flagos:0')]"
    assert f"{torch.tensor(2.5, device=DEVICE):.2f}" == "2.50" and str(x.device) == "flagos:0"
    assert "flagos:0" in repr(torch.Generator(DEVICE).device) or "index=0" in repr(torch.Generator(DEVICE).device)
    with torch._subclasses.FakeTensorMode():
        assert "device='flagos:0'" in repr(torch.empty(2, device=DEVICE))
    storage = repr(x.untyped_storage())
    assert "flagos:0" in storage and "size 8" in storage


def test_options_of_printing():
    torch.set_printoptions(precision=2, sci_mode=False)
    try:
        assert repr(torch.tensor([1 / 3], device=DEVICE)) == "tensor([0.33], device='flagos:0')"
    finally:
        torch.set_printoptions(profile="default")


@pytest.mark.devices(2)
def test_printing_a_tensor_of_another_device_uses_that_one():
    x = torch.arange(3, device="flagos:1")
    assert repr(x) == "tensor([0, 1, 2], device='flagos:1')" and torch.flagos.current_device() == 0
