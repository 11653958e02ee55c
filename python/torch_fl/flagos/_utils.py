"""What the modules share: from the ways of naming a device to its index, and statistics under dotted keys."""

from typing import Any

import torch

from torch_fl import _C

DeviceLike = int | str | torch.device | None


def _get_device_index(device: DeviceLike, optional: bool = False, allow_cpu: bool = False) -> int:
    """Index that `device` names.

    Args:
        device: an index, ``"flagos"``, ``"flagos:1"``, a ``torch.device``, or None.
        optional: a device without an index, or None, means the current device.
        allow_cpu: the CPU is no error and has the index -1.

    Raises:
        ValueError: another device type, or no index and not `optional`.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != "flagos":
            raise ValueError(f"expected a flagos device, but got '{device}'")
        if device.index is not None:
            return device.index
    elif device is not None:
        raise ValueError(f"expected a flagos device, its index or None, but got {device!r}")
    if not optional:
        raise ValueError(f"expected a device with an index, such as 'flagos:0', but got {device!r}")
    return _C.current_device()


def existing_index(device: DeviceLike) -> int:
    """Index of a device that exists; None, or a device without an index, is the current one.

    Raises:
        RuntimeError: there is no such device.
        ValueError: `device` is of another type.
    """
    index = _get_device_index(device, optional=True)
    if not 0 <= index < (count := _C.device_count()):
        there = {0: "there are none", 1: "there is 1 device, flagos:0"}
        raise RuntimeError(
            f"flagos:{index} does not exist: "
            + there.get(count, f"there are {count} devices, flagos:0 to flagos:{count - 1}")
        )
    return index


def dotted(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A dictionary of dictionaries as one, with keys such as ``allocated_bytes.all.peak``, sorted."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            flat.update(dotted(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return dict(sorted(flat.items()))
