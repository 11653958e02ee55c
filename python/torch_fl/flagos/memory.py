"""Memory of the devices: what is used, what is kept for later, and giving it back.  All sizes are bytes."""

from typing import Any

from torch_fl import _C
from torch_fl.flagos._utils import DeviceLike, dotted, existing_index

#: flat names beside the dotted keys of torch.cuda.memory_stats -> the key they repeat
FLAT_KEYS = {
    "allocated_bytes": "allocated_bytes.all.current",
    "reserved_bytes": "reserved_bytes.all.current",
    "peak_allocated_bytes": "allocated_bytes.all.peak",
    "peak_reserved_bytes": "reserved_bytes.all.peak",
    "num_alloc_calls": "allocation.all.allocated",
    "num_free_calls": "allocation.all.freed",
    "num_device_malloc": "num_device_alloc",
}


def memory_stats(device: DeviceLike = None) -> dict[str, int]:
    """Statistics of the caching allocator, under dotted keys such as ``allocated_bytes.all.peak``.

    The flat names of :data:`FLAT_KEYS` are there too.  Empty before the first use of a device.
    """
    stats = dotted(memory_stats_as_nested_dict(device))
    if stats:
        stats.update((flat, stats[key]) for flat, key in FLAT_KEYS.items())
    return dict(sorted(stats.items()))


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """As :func:`memory_stats`, nested: statistic, pool (all, small_pool, large_pool), metric."""
    return _C.memory_stats(existing_index(device)) if _C.is_initialized() else {}


def _metric(name: str, metric: str, device: DeviceLike) -> int:
    stats = memory_stats_as_nested_dict(device)
    return stats[name]["all"][metric] if stats else 0


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes that tensors occupy now."""
    return _metric("allocated_bytes", "current", device)


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Most bytes that tensors have occupied since the start, or :func:`reset_peak_memory_stats`."""
    return _metric("allocated_bytes", "peak", device)


def memory_reserved(device: DeviceLike = None) -> int:
    """Bytes that the allocator holds now, for tensors and for later."""
    return _metric("reserved_bytes", "current", device)


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Most bytes that the allocator has held since the start, or :func:`reset_peak_memory_stats`."""
    return _metric("reserved_bytes", "peak", device)


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Let each peak start again from the present value."""
    if _C.is_initialized():
        _C.reset_peak_memory_stats(existing_index(device))


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Let the historical totals start again from zero."""
    if _C.is_initialized():
        _C.reset_accumulated_memory_stats(existing_index(device))


def empty_cache() -> None:
    """Give memory that no tensor uses back to the devices."""
    if _C.is_initialized():
        _C.empty_cache()


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Free and total bytes of a device, as the device itself counts them."""
    return _C.memory_info(existing_index(device))


def device_memory_used(device: DeviceLike = None) -> int:
    """Bytes of a device that are in use by anybody, as the device itself counts them."""
    free, total = mem_get_info(device)
    return total - free


def get_allocator_backend() -> str:
    """Name of the allocator; there is one, PyTorch's own kind of caching allocator."""
    return "native"


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """The fraction that :func:`set_per_process_memory_fraction` set; 1.0 at first."""
    return _C.memory_fraction(existing_index(device))


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Let the allocator hold at most this part of a device's memory; beyond it, allocation runs out of memory.

    Raises:
        TypeError: `fraction` is not a float.
        ValueError: `fraction` is not between 0 and 1.
    """
    if not isinstance(fraction, float):
        raise TypeError(f"the memory fraction must be a float, not {type(fraction).__name__}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"the memory fraction must be between 0 and 1, not {fraction}")
    _C.set_memory_fraction(existing_index(device), fraction)


def memory_snapshot() -> list[dict[str, Any]]:
    """The allocator's segments and their blocks, all devices, as ``torch.cuda.memory_snapshot`` lists them."""
    return _C.memory_snapshot() if _C.is_initialized() else []


def memory_summary(device: DeviceLike = None, abbreviated: bool = False) -> str:
    """A readable table of :func:`memory_stats`.

    Args:
        device: the device to describe.
        abbreviated: leave out the rows of the small and the large pool.
    """
    from torch_fl.flagos._memory_summary import table

    index = existing_index(device)
    return table(index, memory_stats_as_nested_dict(index), abbreviated)
