"""The device module ``torch.flagos``: what ``torch.cuda`` is to CUDA, for the ``flagos`` device.

Names, arguments and meanings are those of ``torch.cuda``.  A ``device``
argument may be an index, a string such as ``"flagos:1"``, a ``torch.device``,
or None for the current device.
"""

import sys

from torch import OutOfMemoryError

from torch_fl.flagos import (
    _utils,
    devices,
    dispatch,
    host_memory,
    interchange,
    memory,
    precision,
    properties,
    random,
    sharing,
    streams,
)
from torch_fl.flagos.devices import (
    _DeviceGuard as _DeviceGuard,
    _exchange_device as _exchange_device,
    _is_in_bad_fork as _is_in_bad_fork,
    _lazy_init as _lazy_init,
    _maybe_exchange_device as _maybe_exchange_device,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    init,
    is_available,
    is_initialized,
    set_device,
    synchronize,
)
from torch_fl.flagos.dispatch import dispatch_counts, reset_dispatch_counts
from torch_fl.flagos.host_memory import (
    empty_host_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from torch_fl.flagos.interchange import from_native, to_native
from torch_fl.flagos.memory import (
    device_memory_used,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from torch_fl.flagos.precision import get_amp_supported_dtype, is_bf16_supported
from torch_fl.flagos.properties import get_device_capability, get_device_name, get_device_properties
from torch_fl.flagos.random import (
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torch_fl.flagos.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    set_stream,
    stream,
)

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "dispatch_counts",
    "empty_cache",
    "empty_host_cache",
    "from_native",
    "get_allocator_backend",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_dispatch_counts",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    "to_native",
]

# What torch.compile's Inductor looks up in the module of a device; see torch_fl.compile.
_INDUCTOR_CLASSES = frozenset(["Scheduling", "PythonWrapperCodegen", "CppWrapperCodegen", "WrapperFxCodegen"])

sharing.register()


def __getattr__(name: str) -> object:
    # torch.utils.checkpoint reads this as a variable, and only then keeps the device's random state.
    if name == "_initialized":
        return is_initialized()
    if name in _INDUCTOR_CLASSES:
        from torch_fl import compile

        return compile.inductor_class(name)
    raise AttributeError(f"module 'torch.flagos' has no attribute '{name}'")


def alias_submodules(package: str) -> None:
    """Make ``import <package>.memory`` and its like find these submodules rather than load second copies."""
    for module in (_utils, devices, dispatch, host_memory, interchange, memory, precision, properties, random, sharing, streams):
        sys.modules[f"{package}.{module.__name__.rsplit('.', 1)[1]}"] = module
