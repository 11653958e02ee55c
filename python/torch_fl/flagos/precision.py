"""Low-precision data types, for autocast and those who choose one."""

import torch

from torch_fl.flagos._utils import DeviceLike, existing_index


def _supported(device: DeviceLike) -> set[torch.dtype]:
    return torch.accelerator.get_device_capability(existing_index(device))["supported_dtypes"]


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The data types that ``torch.autocast("flagos", dtype=...)`` can compute in."""
    supported = _supported(None)
    return [dtype for dtype in (torch.float16, torch.bfloat16, torch.float32) if dtype in supported]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device has tensors of ``torch.bfloat16``; emulation of it counts, as the device reports it."""
    return torch.bfloat16 in _supported(None)
