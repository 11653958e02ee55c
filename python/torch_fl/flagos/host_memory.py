"""Pinned host memory, which copies to and from the devices run fastest with: what the cache of it holds."""

from typing import Any

from torch_fl import _C
from torch_fl.flagos._utils import dotted


def host_memory_stats() -> dict[str, Any]:
    """Statistics of the cache, under dotted keys such as ``allocated_bytes.peak`` (bytes) and ``num_host_alloc``."""
    return dotted(host_memory_stats_as_nested_dict())


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """As :func:`host_memory_stats`, nested: statistic, metric (current, peak, allocated, freed)."""
    return _C.host_memory_stats()


def reset_peak_host_memory_stats() -> None:
    """Let each peak start again from the present value."""
    _C.reset_peak_host_memory_stats()


def reset_accumulated_host_memory_stats() -> None:
    """Let the historical totals start again from zero."""
    _C.reset_accumulated_host_memory_stats()


def empty_host_cache() -> None:
    """Give pinned host memory that nobody uses back to the system."""
    _C.host_empty_cache()
