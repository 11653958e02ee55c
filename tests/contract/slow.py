"""Work that keeps a device busy long enough to be seen, however fast the device is: products of matrices of ones."""

from functools import cache
from time import perf_counter

import pytest
import torch
from torch_fl import _C
from torch_fl.evidence import capabilities

DEVICE = "flagos"

# Long beside the moment in which a call queues work and returns, and short enough for many of them.
ONE_PRODUCT = 2e-3  # seconds
LARGEST = 16384


# Where no kernel works on the device, neither its own nor the CPU's in place, operators work on copies and wait for their stream;
# so do the kernels of an emulated card's own PyTorch.
_missing = [capabilities.missing(name) for name in ("native_kernels", "cpu_kernels_in_place")]
if capabilities.build()["emulated_sdk"] and _C.native_device_type():
    _missing = ["the kernels of the emulated PyTorch wait for it"]
queued = pytest.mark.skipif(all(_missing), reason=f"operators wait for their stream: {_missing[0]}")


@cache
def side():
    """The smallest power of two whose square matrices take that long to multiply. Powers of two, since sums are exact then."""
    size = 512
    while size < LARGEST and _seconds(size) < ONE_PRODUCT:
        size *= 2
    return size


def _seconds(size):
    x = torch.ones(size, size, device=DEVICE)
    x @ x  # whatever the first call sets up
    return min(_once(x) for _ in range(5))  # the least: other processes may have the device in between


def _once(x):
    torch.flagos.synchronize()
    start = perf_counter()
    x @ x
    torch.flagos.synchronize()
    return perf_counter() - start


def ones():
    return torch.ones(side(), side(), device=DEVICE)


def slow(start, times=6):
    """`start`, a matrix of :func:`ones`, through that many products that leave it as it is; a side stream returns at once."""
    factor = torch.full((side(), side()), 1.0 / side(), device=start.device)
    for _ in range(times):
        start = start @ factor
    return start
