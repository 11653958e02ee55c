"""Where kernels run: the emulated ``flagos`` devices where torch_fl drives them, else ordinary CPU memory.

The only file that knows torch_fl.  Everything else asks :func:`device`.
"""

import ctypes
import functools
import sys
from types import ModuleType
from typing import Any, Protocol

_Entry = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class Device(Protocol):
    """What the driver and the launcher need to know about the place where kernels run."""

    type: str  #: PyTorch's name of it
    address_offset: int  #: bytes from an address in a tensor to the byte itself in this process

    def current(self) -> int:
        """Index of the calling thread's device."""

    def set_current(self, index: int) -> None:
        """Change the calling thread's device."""

    def current_stream(self, index: int) -> int:
        """PyTorch's id of the current stream of device `index`; 0 is the default stream."""

    def interface(self) -> ModuleType:
        """The module that is to this device what ``torch.cuda`` is to CUDA."""

    def submit(self, entry: int, payload: bytes, stream: int) -> None:
        """Call ``void entry(const void *payload)`` in order with the other work of `stream`, without the GIL."""

    def synchronize(self, stream: int) -> None:
        """Wait until `stream` of the current device is empty."""


class HostMemory:
    """CPU tensors: one device, no streams, addresses as they are."""

    type = "cpu"
    address_offset = 0

    def current(self) -> int:
        return 0

    def set_current(self, index: int) -> None:
        if index != 0:
            raise ValueError(f"there is one CPU device with index 0, not {index}")

    def current_stream(self, index: int) -> int:
        return 0

    def interface(self) -> ModuleType:
        import torch

        return torch.cpu

    def submit(self, entry: int, payload: bytes, stream: int) -> None:
        _Entry(entry)(payload)

    def synchronize(self, stream: int) -> None:
        pass


class Flagos:
    """The emulated devices of torch_fl: the ``host`` platform's, or a vendor's on its emulated SDK."""

    type = "flagos"

    def __init__(self, core: Any) -> None:
        import torch

        self._torch = torch
        self._core = core
        self.current = core.current_device
        self.set_current = core.set_device

    @functools.cached_property
    def address_offset(self) -> int:
        # The first use of a device initialises it, so this must not happen earlier than a launch.
        return self._core.host_offset()

    def current_stream(self, index: int) -> int:
        return self._torch.accelerator.current_stream(index).stream_id

    def interface(self) -> ModuleType:
        return self._torch.flagos

    def submit(self, entry: int, payload: bytes, stream: int) -> None:
        self._core.launch_host_function(entry, payload, self.current(), stream)

    def synchronize(self, stream: int) -> None:
        self._torch.accelerator.current_stream(self.current()).synchronize()


def _torch_fl_core() -> Any | None:
    """The core of a torch_fl that owns the device ``flagos`` in this process, or None."""
    import torch  # brings torch_fl up where it is installed

    package = sys.modules.get("torch_fl")
    started = package is not None and getattr(torch, "flagos", None) is getattr(package, "flagos", package)
    return package._C if started else None


def serves_here() -> bool:
    """Whether kernels could run in this process: PyTorch is there, and its device memory is host memory.

    Touches no device and imports no vendor's package.
    """
    try:
        core = _torch_fl_core()
    except ImportError:
        return False
    return core is None or core.compiled_kernels_run_on_host()


@functools.cache
def device() -> Device:
    """The place where this process runs kernels; decided once."""
    core = _torch_fl_core()
    return HostMemory() if core is None else Flagos(core)
