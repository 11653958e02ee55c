"""What a device is."""

from typing import TYPE_CHECKING

from torch_fl import _C
from torch_fl.flagos._utils import DeviceLike, existing_index

if TYPE_CHECKING:
    from torch_fl._C import _FlagosDeviceProperties


def get_device_properties(device: DeviceLike = None) -> "_FlagosDeviceProperties":
    """Name, memory in bytes, multiprocessors and the like, under the attribute names of ``torch.cuda``'s.

    Asking never changes the current device.
    """
    return _C.properties(existing_index(device))


def get_device_name(device: DeviceLike = None) -> str:
    """Name of a device, as its vendor writes it."""
    return get_device_properties(device).name


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """Major and minor number of a device's architecture."""
    properties = get_device_properties(device)
    return properties.major, properties.minor
