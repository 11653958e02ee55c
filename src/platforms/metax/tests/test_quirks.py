"""What is odd about the SDK, and that PyTorch's own view of the card does not show it.

What the device layer itself meets is tested with the emulation, in tests/emulation/metax/tests.
"""

import pytest
import torch


def test_a_wave_has_64_threads_and_an_architecture_is_no_capability():
    """Triton compiles for the pair that this gives."""
    properties = torch.flagos.get_device_properties(0)
    assert properties.warp_size == 64
    assert properties.major <= 100 and torch.flagos.get_device_capability(0) == (properties.major, properties.minor)


def test_too_much_memory_is_an_error_that_can_be_caught():
    """The vendor has a number of its own for it."""
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="flagos")
    assert torch.ones(3, device="flagos").sum().item() == 3


def test_memory_of_the_host_is_not_taken_for_pinned():
    """The runtime refuses such an address where CUDA's says that it is unregistered."""
    plain, pinned = torch.ones(8), torch.ones(8).pin_memory()
    assert not plain.is_pinned() and pinned.is_pinned()
    assert torch.equal(plain.to("flagos").cpu(), pinned.to("flagos", non_blocking=True).cpu())
