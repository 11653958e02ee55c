"""Faults say what is wrong in PyTorch's words, name flagos and leave the tensors as they were."""

import subprocess
import sys

import pytest
import torch

from .conftest import DEVICE

ones = torch.ones(2, 2)


def on():
    return torch.ones(2, 2, device=DEVICE)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.mm(on(), ones),
        lambda: torch.mm(ones, on()),
        lambda: torch.add(on(), on(), out=torch.empty(2, 2)),
        lambda: torch.cat([on(), ones]),
        lambda: torch.addmm(on(), on(), ones),
        lambda: torch._foreach_add([on()], [ones]),
    ],
    ids=["second", "first", "out", "list", "third", "foreach"],
)
def test_tensors_of_two_devices_are_refused(call):
    with pytest.raises(RuntimeError, match="flagos:0") as fault:
        call()
    assert "device" in str(fault.value) and "cuda" not in str(fault.value).split("(when")[0]


def test_the_targets_own_tensors_are_refused(native):
    other = torch.ones(2, 2, device=native)
    with pytest.raises(RuntimeError, match=f"flagos:0 and {native}|{native}.* and flagos:0"):
        torch.mm(on(), other)


def test_wrong_shapes_are_refused_and_nothing_is_written():
    x = on()
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        torch.mm(x, torch.ones(3, 2, device=DEVICE))
    with pytest.raises(RuntimeError, match="must match"):
        x.add_(torch.ones(3, 3, device=DEVICE))
    assert torch.equal(x.cpu(), ones)


def test_the_kind_of_a_fault_is_kept():
    with pytest.raises(IndexError, match="out of range"):
        torch.sum(on(), 5)
    with pytest.raises(NotImplementedError, match="not implemented for 'Float'"):
        torch.bitwise_not(on())


INDEX = """
import torch
x = torch.arange(4.0, device="flagos")
x.index_select(0, torch.tensor([99], device="flagos"))
torch.flagos.synchronize()
"""


def test_a_process_that_indexes_out_of_range_is_told():
    """In a process of its own: on a card it is an assertion that ends the use of the card."""
    done = subprocess.run([sys.executable, "-c", INDEX], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "device-side assert" in done.stderr or "index out of range" in done.stderr, done.stderr


def test_a_sparse_tensor_works_or_is_refused_in_one_sentence():
    try:
        sparse = on().to_sparse()
        assert torch.equal(torch.mm(sparse, on()).cpu(), ones @ ones)
    except (RuntimeError, NotImplementedError) as fault:
        assert "sparse" in str(fault).lower() and "INTERNAL ASSERT" not in str(fault)
