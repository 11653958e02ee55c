"""The capability table of the installed platform: what its platform.toml says that the device can do.

The contract suite asks it, so that a test which cannot pass on a platform is skipped with that platform's own reason.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any


@cache
def platform() -> dict[str, Any]:
    """The facts of platform.toml.

    Raises:
        FileNotFoundError: the installation has none.
    """
    return _read("platform.json")


@cache
def build() -> dict[str, Any]:
    """What this build is: the content of compatibility.json.

    Raises:
        FileNotFoundError: the installation has none.
    """
    return _read("compatibility.json")


def missing(name: str) -> str | None:
    """Why the platform lacks a capability, in a sentence; None where it has it.

    Args:
        name: a key of the table, or `emulated`: devices whose number and memory can be set with FLAGOS_HOST_DEVICES
            and FLAGOS_HOST_MEMORY.

    Raises:
        KeyError: there is no such capability; the known ones are named.
    """
    if name == "emulated":
        return None if build()["emulated"] else "a real card's number of devices and memory cannot be set"
    table = platform()["capabilities"] | (platform()["kernels"].get("vendor_capabilities", {}) if _has_vendor_kernels() else {})
    if name not in table:
        raise KeyError(f"{name!r} is no capability; there are emulated, {', '.join(sorted(table))}")
    return None if table[name] is True else str(table[name])


def _has_vendor_kernels() -> bool:
    """Whether the kernels of torch-fl-vendor-kernels are among what this process has loaded."""
    from torch_fl import _C

    return bool(set(platform()["kernels"]["slots"]) & set(_C.known_slots()))


def _read(name: str) -> dict[str, Any]:
    from torch_fl._data import data_file

    path = data_file(name)
    if path is None:
        raise FileNotFoundError(f"torch_fl has no {name}; reinstall the torch-fl-runtime package")
    return json.loads(path.read_text(encoding="utf-8"))
