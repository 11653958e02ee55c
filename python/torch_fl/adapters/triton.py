"""The vendor's Triton: its driver finds the device through ``torch.flagos``.

A vendor's Triton back end asks the vendor's own PyTorch plug-in (`torch.<target>`) whether there is a device, which one is
current, what it can do and which stream to launch on.  That plug-in cannot be loaded beside torch_fl.  The driver made
here is a subclass of the vendor's: it compiles and launches as that one does, and asks ``torch.flagos``.  Triton takes it through
its own ``driver.set_active``, so nothing of Triton is replaced, and the vendor's plug-in is never imported.

Which back end, and the names of its two helpers, are in the platform's facts (``platform.toml``, section ``triton``); platforms
without that section, and emulated ones, whose kernels another back end runs, have nothing to add.
"""

from importlib import import_module
from typing import Any

import torch

DEVICE = "flagos"

_made: dict[str, Any] = {}  # back end -> the driver that was made for it


def register(library: str) -> None:
    """Make Triton's active driver one that asks ``torch.flagos``; nothing where this platform has no Triton of its own.

    Raises:
        ImportError: the installed Triton lacks the platform's back end.
    """
    from torch_fl.evidence import capabilities

    facts = capabilities.platform().get("triton")
    if facts and not capabilities.build().get("emulated"):
        activate(facts)


def activate(facts: dict[str, str]) -> Any:
    """The driver for the back end that `facts` describes, made Triton's active one; the same one at a second call.

    Args:
        facts: ``backend``, its name among Triton's; ``target``, its word for the device; ``driver_utils`` and
            ``driver_launcher``, the classes of its driver module that load and launch binaries.

    Raises:
        ImportError: Triton has no such back end, or the back end no such classes.
    """
    name = facts["backend"]
    if name in _made:
        return _made[name]
    backends = import_module("triton.backends").backends
    if name not in backends:
        known = ", ".join(sorted(backends)) or "none"
        raise ImportError(
            f"Triton in {import_module('triton').__file__} has no back end '{name}' (it has {known}); install the vendor's FlagTree"
        )
    _made[name] = _driver_class(backends[name].driver, facts)()
    import_module("triton.runtime").driver.set_active(_made[name])
    return _made[name]


def _driver_class(vendor: type, facts: dict[str, str]) -> type:
    module = import_module(vendor.__module__)
    missing = [facts[key] for key in ("driver_utils", "driver_launcher") if not hasattr(module, facts[key])]
    if missing:
        raise ImportError(
            f"{module.__file__} has no {' and no '.join(missing)}, which the driver for {DEVICE} is made of; "
            f"install the FlagTree that torch-fl was built for"
        )
    utils, launcher = (getattr(module, facts[key]) for key in ("driver_utils", "driver_launcher"))

    class Driver(_Asking, vendor):
        def __init__(self) -> None:
            # Not the vendor's: it requires the vendor's plug-in.
            self.utils = utils()
            self.launcher_cls = launcher
            self._torch = _TorchWith(facts["target"])

    return Driver


class _Asking:
    """What Triton asks a driver about the device, answered by ``torch.flagos``; it stands before the vendor's class."""

    @classmethod
    def is_active(cls) -> bool:
        return torch.flagos.is_available()

    def get_current_device(self) -> int:
        return torch.flagos.current_device()

    def set_current_device(self, device: int) -> None:
        torch.flagos.set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        """The handle of the vendor's runtime; 0 is its default stream."""
        return torch.flagos.current_stream(device).flagos_stream

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return torch.flagos.get_device_capability(device)

    def get_active_torch_device(self) -> torch.device:
        return torch.device(DEVICE, self.get_current_device())

    def get_device_interface(self) -> Any:
        return torch.flagos

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """More bytes than any cache holds; a benchmark clears it between two runs."""
        return torch.empty(256 << 20, dtype=torch.int8, device=DEVICE)


class _TorchWith:
    """``torch`` as the vendor's methods see it: with the vendor's word for the device, which leads to ``torch.flagos``."""

    def __init__(self, target: str) -> None:
        setattr(self, target, torch.flagos)

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)
