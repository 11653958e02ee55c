"""Copies of arguments on a device: strides, offsets and shared storages are kept, the source is never changed."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map

CPU = torch.device("cpu")


class Mirror:
    """Copies trees of arguments to one device; what shares memory in the tree shares it in the copy."""

    def __init__(self, device: torch.device, gradients: bool = True) -> None:
        self.device = device
        self.gradients = gradients  # whether copies ask for gradients where their sources do
        self.tensors: list[torch.Tensor] = []  #: the copies, in the order in which they were made
        self._known: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # the source is held: its id stays its own
        self._storages: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}

    def __call__(self, tree: Any) -> Any:
        return tree_map(self._leaf, tree)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.device):
            return self.device
        if isinstance(value, str) and value == "cpu":
            return str(self.device)
        if isinstance(value, torch.Generator):
            return torch.Generator(self.device).manual_seed(value.initial_seed())
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self._known:
            copy = self._copy(value)
            self.tensors.append(copy)
            self._known[id(value)] = (value, copy)
        return self._known[id(value)][1]

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        source = tensor.detach()
        copy = torch.empty(0, dtype=tensor.dtype, device=self.device)
        copy.set_(self._storage(source.untyped_storage()), source.storage_offset(), source.size(), source.stride())
        torch._C._set_conj(copy, source.is_conj())
        torch._C._set_neg(copy, source.is_neg())
        return copy.requires_grad_(tensor.requires_grad and self.gradients)

    def _storage(self, storage: torch.UntypedStorage) -> torch.UntypedStorage:
        if storage._cdata not in self._storages:
            bytes_ = torch.empty(0, dtype=torch.uint8)
            bytes_ = bytes_.set_(storage) if storage.nbytes() else bytes_
            copied = torch.empty(bytes_.shape, dtype=torch.uint8, device=self.device)
            transfer(bytes_, copied)
            self._storages[storage._cdata] = (storage, copied.untyped_storage())
        return self._storages[storage._cdata][1]


def transfer(source: torch.Tensor, target: torch.Tensor) -> None:
    """Copy between devices by the runtime's own kernel, whatever serves `copy_` here: that may be what is surveyed."""
    if source.device == target.device == CPU:
        target.copy_(source)
    elif source.numel():
        torch.ops.aten._copy_from(source, target)


def on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The values of a tensor, contiguous, on the CPU."""
    if tensor.device == CPU:
        return tensor.detach()
    result = torch.empty(tensor.shape, dtype=tensor.dtype)
    transfer(tensor.detach(), result)
    return result


def plain(value: Any) -> bool:
    """Whether a leaf of the arguments can be copied: no sparse, nested, quantized or subclassed tensor."""
    if not isinstance(value, torch.Tensor):
        return True
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and not value.is_quantized
        and not value.is_nested
        and value.device.type == "cpu"
    )
