"""Lightning: the accelerator ``flagos`` and the strategy ``flagos``, for ``Trainer`` and ``Fabric``.

Both are to be given: for an accelerator that is not its own, and no strategy,
Lightning takes the CPU.
"""

from importlib import import_module
from typing import Any

import torch

NAME = "flagos"
PARTS = {  # library -> its packages, each with the names of its registries of accelerators and strategies
    "lightning": ("lightning.fabric", "lightning.pytorch"),
    "pytorch_lightning": ("lightning_fabric", "pytorch_lightning"),
}


def register(library: str) -> None:
    """Add accelerator and strategy to the registries of `library`; what is there already stays.

    Raises:
        ImportError: the library is not installed.
    """
    fabric, trainer = PARTS[library]
    _register(fabric, "ACCELERATOR_REGISTRY", "STRATEGY_REGISTRY", "precision")
    _register(trainer, "AcceleratorRegistry", "StrategyRegistry", "precision_plugin")


def _register(package: str, accelerators: str, strategies: str, precision: str) -> None:
    accelerator_package, strategy_package = (
        import_module(f"{package}.{part}") for part in ("accelerators", "strategies")
    )
    mixed_precision = import_module(f"{package}.plugins").MixedPrecision
    single = strategy_package.SingleDeviceStrategy
    inherited = getattr(single, precision)

    class FlagosAccelerator(_Accelerator, import_module(f"{package}.accelerators.accelerator").Accelerator):
        pass

    class FlagosStrategy(_Strategy, single):
        pass

    def set_precision(self: FlagosStrategy, plugin: Any) -> None:
        # Lightning makes CUDA's plugin for every accelerator that is not its own.
        if isinstance(plugin, mixed_precision) and plugin.device != NAME:
            plugin = mixed_precision(plugin.precision, NAME)
        inherited.fset(self, plugin)

    setattr(FlagosStrategy, precision, property(inherited.fget, set_precision))
    for registry, entry in (
        (getattr(accelerator_package, accelerators), FlagosAccelerator),
        (getattr(strategy_package, strategies), FlagosStrategy),
    ):
        if NAME not in registry:
            registry.register(NAME, entry, description="the device of torch-fl")


class _Accelerator:
    """What Lightning asks of a kind of device."""

    def setup_device(self, device: torch.device) -> None:
        if device.type != NAME:
            raise ValueError(f"accelerator='flagos' was about to compute on {device}; give strategy='flagos' as well.")
        torch.flagos.set_device(device)

    def teardown(self) -> None:
        torch.flagos.empty_cache()

    def get_device_stats(self, device: Any) -> dict[str, Any]:
        return torch.flagos.memory_stats(device)

    @staticmethod
    def parse_devices(devices: int | str | list[int]) -> list[int]:
        """Indices of devices: a number means so many, -1 all, and a list or ``"0,1"`` these.

        Raises:
            ValueError: there is no such device.
        """
        if isinstance(devices, str):
            devices = [int(part) for part in devices.split(",") if part] if "," in devices else int(devices)
        there = torch.flagos.device_count()
        if isinstance(devices, int):
            devices = list(range(there if devices == -1 else devices))
        missing = [index for index in devices if index not in range(there)]
        if missing:
            raise ValueError(f"there is no flagos:{missing[0]}; this machine has {there} flagos devices.")
        return list(devices)

    @staticmethod
    def get_parallel_devices(devices: list[int]) -> list[torch.device]:
        return [torch.device(NAME, index) for index in devices]

    @staticmethod
    def auto_device_count() -> int:
        return 1  # of this process, which is what the strategy drives

    @staticmethod
    def is_available() -> bool:
        return torch.flagos.is_available()

    @staticmethod
    def name() -> str:
        return NAME


class _Strategy:
    """One device for one process: the one that ``devices`` says."""

    def __init__(self, device: Any = NAME, **options: Any) -> None:
        super().__init__(device=device, **options)
        self._chosen: list[torch.device] = []

    @property
    def root_device(self) -> torch.device:
        return self._chosen[0] if self._chosen else super().root_device

    @property
    def parallel_devices(self) -> list[torch.device]:
        """Set by Lightning from ``devices``.

        Raises:
            ValueError: it is set to several devices, or to other ones.
        """
        return self._chosen

    @parallel_devices.setter
    def parallel_devices(self, devices: list[torch.device]) -> None:
        if len(devices) != 1 or torch.device(devices[0]).type != NAME:
            named = ", ".join(map(str, devices))
            raise ValueError(
                f"strategy='flagos' drives one flagos device, not {named}; give accelerator='flagos' and devices=1."
            )
        self._chosen = list(devices)
