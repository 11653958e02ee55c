"""The same memory under PyTorch's own name for the card, for libraries that know no other.

DLPack, ``__cuda_array_interface__`` and libraries such as CuPy and JAX go by a list of device types, and PyTorch exports a
device that a package adds as one that nobody else can read.  Where PyTorch drives the card itself, a tensor of its own device
type over the same memory is what they take::

    cupy.from_dlpack(torch.flagos.to_native(x))
    y = torch.flagos.from_native(torch.from_dlpack(array))
"""

import torch

from torch_fl import _C


def to_native(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of a flagos tensor as a tensor of the device type that PyTorch drives the card by (``cuda``).

    Args:
        tensor: of any shape and dtype, strided, on a flagos device.

    Returns:
        A tensor of the same shape, strides and dtype over the same memory, which it keeps alive; without gradient.  What is
        written to either is seen in both, and the current stream of both devices is the same one.

    Raises:
        NotImplementedError: PyTorch has no device type of its own for this platform's devices.
        ValueError: the tensor is on another device, or not strided.
    """
    _native_type()
    _check(tensor, "flagos")
    return _C.as_target([tensor.detach()])[0]


def from_native(tensor: torch.Tensor) -> torch.Tensor:
    """The elements of a tensor of PyTorch's own device type for the card (``cuda``) as a flagos tensor.

    Args:
        tensor: of any shape and dtype, strided, on the device that PyTorch drives.

    Returns:
        A flagos tensor of the same shape, strides and dtype over the same memory, which it keeps alive; without gradient.

    Raises:
        NotImplementedError: PyTorch has no device type of its own for this platform's devices.
        ValueError: the tensor is on another device, or not strided.
    """
    _check(tensor, _native_type())
    return _C.as_flagos([tensor.detach()])[0]


def _native_type() -> str:
    native = _C.native_device_type()
    if native is None:
        platform = _C.build_info()["platform"]
        raise NotImplementedError(
            f"PyTorch has no device type of its own for the devices of platform '{platform}'; "
            f"hand other libraries a copy on the CPU (tensor.cpu())"
        )
    return native


def _check(tensor: torch.Tensor, wanted: str) -> None:
    if tensor.device.type != wanted:
        raise ValueError(f"expected a tensor on a '{wanted}' device, but got one on '{tensor.device}'")
    if tensor.layout != torch.strided:
        raise ValueError(f"expected a strided tensor, but got one of layout {tensor.layout}; call to_dense() first")
