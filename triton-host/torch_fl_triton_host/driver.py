"""The driver half of the plug-in: which device is current, how a kernel is loaded and launched, and when to stay away."""

import os
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from torch_fl_triton_host import executable
from torch_fl_triton_host.compiler import BACKEND
from torch_fl_triton_host.device import device, serves_here
from torch_fl_triton_host.launcher import Launcher

_asking = threading.local()


class HostUtils:
    """What Triton asks of a driver about devices and binaries; the limits are those no kernel reaches."""

    def get_device_properties(self, index: int) -> dict[str, int]:
        return {
            "max_shared_mem": 1 << 31,
            "max_num_regs": 1 << 16,
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 32,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 64,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, index: int) -> tuple[Any, Any, int, int, int]:
        """Make Triton IR runnable: module, function, registers, spills, most threads a program may have."""
        loaded = executable.load(name, binary)
        return loaded, loaded, 0, 0, 1 << 20


class HostDriver(DriverBase):
    """Runs kernels in host memory, on the current stream of the current device."""

    launcher_cls = Launcher

    def __init__(self) -> None:
        self.utils = HostUtils()
        place = device()
        # Triton asks for these at every launch, so they are the device's own functions.
        self.get_current_device = place.current
        self.set_current_device = place.set_current
        self.get_current_stream = place.current_stream

    @classmethod
    def is_active(cls) -> bool:
        """Whether kernels of this process are ours.

        No where ``TRITON_DEFAULT_BACKEND`` names another back end, where
        torch_fl drives real accelerators, and where another back end's driver
        is active: Triton works with exactly one.  The other drivers are asked
        themselves, as Triton does too, so nothing is imported or initialised
        that Triton would leave alone.
        """
        selected = os.environ.get("TRITON_DEFAULT_BACKEND")
        if selected:
            return selected == BACKEND and serves_here()
        return serves_here() and not _other_driver_is_active()

    def map_python_to_cpp_type(self, ty: str) -> str:
        names = {"fp16": "_Float16", "bf16": "__bf16", "fp32": "float", "f32": "float", "fp64": "double", "i1": "bool"}
        if ty.startswith("*"):
            return "void*"
        return names.get(ty) or f"{'u' if ty[0] == 'u' else ''}int{ty[1:]}_t"

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(BACKEND, "host", 32)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device(device().type, self.get_current_device())

    def get_device_interface(self) -> ModuleType:
        return device().interface()

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        """All configurations of an autotuned kernel count as equally fast, so the first is taken.

        Block sizes are a matter of GPU hardware.  A measured choice would change
        with the load of the machine, and the order of additions with it.
        """
        return lambda kernel_call, *, quantiles, **_: [0.0] * len(quantiles)

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1, dtype=torch.int32, device=device().type)

    def clear_cache(self, cache: Any) -> None:
        pass  # a CPU's caches are not part of what a kernel's time is compared by


def _other_driver_is_active() -> bool:
    from triton.backends import backends

    if getattr(_asking, "now", False):
        return False  # another plug-in asks us in the same way
    _asking.now = True
    try:
        return any(entry.driver.is_active() for name, entry in backends.items() if name != BACKEND)
    finally:
        _asking.now = False
