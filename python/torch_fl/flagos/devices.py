"""Which devices there are, which one is current, and waiting for them."""

import sys

import torch

from torch_fl import _C
from torch_fl.flagos._utils import DeviceLike, _get_device_index, existing_index


def is_available() -> bool:
    """Whether there is at least one device; initialises nothing."""
    # Dynamo asks this before it traces a function, which is the first that a device hears of torch.compile.
    if "torch._inductor.compile_fx" in sys.modules:
        from torch_fl import compile

        compile.register_if_in_use()
    return _C.device_count() > 0


def device_count() -> int:
    """Number of devices; initialises nothing, so a process may still fork afterwards."""
    return _C.device_count()


def is_initialized() -> bool:
    """Whether a device of this process has been used."""
    return _C.is_initialized()


def init() -> None:
    """Initialise now what the first use of a device would; a second call does nothing.

    Raises:
        RuntimeError: there is no device, or this process was forked from one that had used the device.
    """
    _C.init()


def _lazy_init() -> None:
    """What PyTorch calls before it makes the first tensor on the device."""
    _C.init()
    # Where PyTorch itself drives the devices, a seed also waits for the first use of its own module. It has to come now: later
    # it would wind back the random stream, which is one. A vendor's core of PyTorch may be without the Python part: then no seed waits.
    if (native := _C.native_device_type()) and getattr(getattr(torch.backends, native), "is_built", lambda: True)():
        getattr(getattr(torch, native), "init", lambda: None)()


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that had used the device, and so cannot."""
    return _C.in_bad_fork()


def current_device() -> int:
    """Index of this thread's current device."""
    return _C.current_device()


def set_device(device: DeviceLike) -> None:
    """Make `device` this thread's current one; a negative index changes nothing.

    Raises:
        RuntimeError: the device does not exist.
    """
    index = _get_device_index(device)
    if index >= 0:
        _C.set_device(existing_index(index))


def synchronize(device: DeviceLike = None) -> None:
    """Wait for all work queued on `device`.

    Raises:
        RuntimeError: the device does not exist, or some of the work failed.
    """
    _C.synchronize(existing_index(device))


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """Whether `device` can read and write the memory of `peer_device` directly."""
    return _C.can_access_peer(existing_index(device), existing_index(peer_device))


def _exchange_device(index: int) -> int:
    """Make `index` current and return the former device's index; a negative one changes nothing and gives -1."""
    return _C.exchange_device(existing_index(index)) if index >= 0 else -1


def _maybe_exchange_device(index: int) -> int:
    """As :func:`_exchange_device`; PyTorch calls this one to go back to a former device."""
    return _exchange_device(index)


class _DeviceGuard:
    """``with _DeviceGuard(1):`` runs the block with that device current; a negative index changes nothing."""

    def __init__(self, index: int) -> None:
        self.idx = index
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *error: object) -> None:
        _maybe_exchange_device(self.prev_idx)


class device:
    """``with torch.flagos.device(1):`` runs the block with that device current.

    None, or a negative index, changes nothing.
    """

    def __init__(self, device: DeviceLike) -> None:
        self.idx = -1 if device is None else _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *error: object) -> None:
        _maybe_exchange_device(self.prev_idx)


class device_of(device):
    """As :class:`device`, with the device of a tensor or storage; one that is elsewhere changes nothing."""

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage | torch.TypedStorage) -> None:
        super().__init__(obj.device.index if obj.device.type == "flagos" else None)
