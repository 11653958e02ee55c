"""The reviewed list of the installation at hand: what holds for every device, and what the platform's own tests add."""

from __future__ import annotations

import importlib

from torch_fl.evidence import capabilities

from .expectations import Expectations
from .reviewed import EVERYWHERE


def of_platform(name: str) -> Expectations:
    """`REVIEWED` of a platform's tests/opinfo.py, which is installed with its other tests; empty where it has none."""
    package = f"torch_fl_tests_{name}"
    try:
        return importlib.import_module(f"{package}.opinfo").REVIEWED
    except ModuleNotFoundError as error:
        if error.name not in (package, f"{package}.opinfo"):
            raise
        return Expectations()


REVIEWED = EVERYWHERE + of_platform(capabilities.platform()["id"])
