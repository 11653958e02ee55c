"""The reviewed list of the installation at hand: what holds for every device, and what the platform's own tests add."""

from __future__ import annotations

import importlib
from dataclasses import replace

from torch_fl.evidence import capabilities

from .expectations import Expectations
from .report import CPU
from .reviewed import EVERYWHERE


def of_platform(name: str, part: str = "REVIEWED") -> Expectations:
    """A list of a platform's tests/opinfo.py, which is installed with its other tests; empty where it has none.

    `REVIEWED` is what it adds, `BEFORE_ALL` what goes before the entries for all devices, and `AGAINST_NATIVE` what may
    differ from the device type that PyTorch itself has for the card.
    """
    package = f"torch_fl_tests_{name}"
    try:
        return getattr(importlib.import_module(f"{package}.opinfo"), part, Expectations())
    except ModuleNotFoundError as error:
        if error.name not in (package, f"{package}.opinfo"):
            raise
        return Expectations()


PLATFORM = capabilities.platform()["id"]
REVIEWED = of_platform(PLATFORM, "BEFORE_ALL") + EVERYWHERE + of_platform(PLATFORM)
# What is expected of the CPU does not hold of a native device.
AGAINST_NATIVE = of_platform(PLATFORM, "AGAINST_NATIVE") + replace(REVIEWED, expected=[])


def compared_with(device: str) -> Expectations:
    """The list for a device that is compared with: the CPU, or what PyTorch itself has for the card."""
    return REVIEWED if device == CPU else AGAINST_NATIVE
