"""Copies of a sample on a device: strides, shared storages, identities and the conj and neg bits are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

CPU = torch.device("cpu")


@dataclass(frozen=True)
class OnHost:
    """A tensor that PyTorch wants on the CPU whatever the device is."""

    tensor: torch.Tensor


class Mirror:
    """Copies trees of arguments to one device; what shares memory in a tree shares it in the copy.

    The source is never changed, so one sample serves any number of runs.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._tensors: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # the source is held: its id stays its own
        self._storages: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}

    def __call__(self, tree: Any) -> Any:
        return tree_map(self._leaf, tree)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The copies, in the order in which they were made."""
        return [copy for _, copy in self._tensors.values()]

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self._tensors:
                self._tensors[id(value)] = (value, self._copy(value))
            return self._tensors[id(value)][1]
        if isinstance(value, OnHost):
            return value.tensor.clone()
        if isinstance(value, torch.Generator):
            return torch.Generator(self.device).manual_seed(value.initial_seed())
        if isinstance(value, torch.device) and value.type == "cpu":
            return self.device
        if isinstance(value, str) and value == "cpu":
            return str(self.device)
        if isinstance(value, slice):
            return slice(*(self._leaf(part) for part in (value.start, value.stop, value.step)))
        return value

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "cpu":
            return tensor
        copy = self._strided(tensor) if tensor.layout == torch.strided else self._sparse(tensor)
        return copy.requires_grad_(tensor.requires_grad)

    def _strided(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_quantized or tensor.is_nested:
            return tensor.detach().to(self.device, copy=True)
        source = tensor.detach()
        copy = torch.empty(0, dtype=tensor.dtype, device=self.device)
        storage = self._storage(source.untyped_storage())
        copy.set_(storage, source.storage_offset(), source.size(), source.stride())
        torch._C._set_conj(copy, source.is_conj())
        torch._C._set_neg(copy, source.is_neg())
        return copy

    def _storage(self, storage: torch.UntypedStorage) -> torch.UntypedStorage:
        if storage._cdata not in self._storages:
            if storage.nbytes():
                content = torch.empty(0, dtype=torch.uint8).set_(storage)
                copied = content.to(self.device, copy=True).untyped_storage()
            else:
                copied = torch.empty(0, dtype=torch.uint8, device=self.device).untyped_storage()
            self._storages[storage._cdata] = (storage, copied)
        return self._storages[storage._cdata][1]

    def _sparse(self, tensor: torch.Tensor) -> torch.Tensor:
        source = tensor.detach()
        options = {"size": source.size(), "dtype": source.dtype, "device": self.device}
        if source.layout == torch.sparse_coo:
            indices, values = self._leaf(source._indices()), self._leaf(source._values())
            return torch.sparse_coo_tensor(indices, values, is_coalesced=source.is_coalesced(), **options)
        if source.layout in (torch.sparse_csr, torch.sparse_bsr):
            compressed, plain = source.crow_indices(), source.col_indices()
        elif source.layout in (torch.sparse_csc, torch.sparse_bsc):
            compressed, plain = source.ccol_indices(), source.row_indices()
        else:
            return source.to(self.device, copy=True)
        parts = [self._leaf(part) for part in (compressed, plain, source.values())]
        return torch.sparse_compressed_tensor(*parts, layout=source.layout, **options)
