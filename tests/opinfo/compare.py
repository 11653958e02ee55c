"""What a user can see of two runs, and where it differs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import keystr, tree_flatten_with_path

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Difference(AssertionError):
    """The two sides differ. `aspect` is one word: exception, values, dtype, strides, alias, ..."""

    def __init__(self, aspect: str, message: str) -> None:
        super().__init__(f"{aspect}: {message}")
        self.aspect = aspect
        self.message = message


@dataclass(frozen=True)
class Tolerance:
    """Accepted where the same bits cannot be had, in units of the result; None is torch.testing's for the dtype."""

    relative: float | None
    absolute: float | None


FLOAT = 1e-7  # torch.testing's for Python's numbers


def compare_trees(wanted: Any, found: Any, values: bool, tolerance: Tolerance | None) -> None:
    """Compare the results of two sides, and what each result shares with the arguments and the results before it."""
    ours, theirs = (tree_flatten_with_path(side.result)[0] for side in (wanted, found))
    if [path for path, _ in ours] != [path for path, _ in theirs] or type(wanted.result) is not type(found.result):
        raise Difference("structure", f"wanted {shape_of(wanted.result)}, found {shape_of(found.result)}")
    relations = [Relations(side.arguments) for side in (wanted, found)]
    for (path, a), (_, b) in zip(ours, theirs, strict=True):
        where = f"result{keystr(path)}"
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            compare_plain(where, a, b, wanted.device, found.device, tolerance)
            continue
        compare_tensors(where, a, b, found.device, values, tolerance)
        one, other = (relation.of(t) for relation, t in zip(relations, (a, b), strict=True))
        if one != other:
            raise Difference("alias", f"{where}: wanted {one}, found {other}")


def seen_arguments(wanted: Any, found: Any, values: bool, tolerance: Tolerance | None) -> None:
    """Compare what the arguments are afterwards."""
    for number, (a, b) in enumerate(zip(wanted.arguments, found.arguments, strict=True)):
        where = f"argument {number} afterwards"
        written = [t._version != side.versions[number] for t, side in ((a, wanted), (b, found))]
        if written[0] and not written[1]:  # one mark too many is PyTorch's: it resizes in another way on other devices
            raise Difference("version", f"{where}: not marked as written")
        compare_tensors(where, a, b, found.device, values or not written[0], tolerance)


class Relations:
    """Which tensors share memory: arguments by their number, results by their order."""

    def __init__(self, arguments: list[torch.Tensor]) -> None:
        self.tensors: dict[int, str] = {}
        self.storages: dict[int, str] = {}
        self.held: list[Any] = []
        for number, tensor in enumerate(arguments):
            self._add(tensor, f"argument {number}")

    def _add(self, tensor: torch.Tensor, name: str) -> None:
        self.tensors.setdefault(id(tensor), name)
        if tensor.layout == torch.strided:
            storage = tensor.untyped_storage()
            self.storages.setdefault(storage._cdata, name)
            self.held.append(storage)

    def of(self, tensor: torch.Tensor) -> str:
        """How a result relates to what came before it."""
        words = []
        if id(tensor) in self.tensors:
            words.append(f"is {self.tensors[id(tensor)]}")
        if tensor.layout == torch.strided and (owner := self.storages.get(tensor.untyped_storage()._cdata)):
            words.append(f"memory of {owner}")
        if tensor._base is not None:
            words.append(f"view of {self.tensors.get(id(tensor._base), 'something else')}")
        self._add(tensor, f"result {len(self.tensors)}")
        return ", ".join(words) or "new memory"


def compare_plain(
    where: str, a: Any, b: Any, device_a: torch.device, device_b: torch.device, tolerance: Tolerance | None
) -> None:
    if isinstance(a, torch.device) and a == device_a:
        a = device_b
    equal = type(a) is type(b) and (a is b or a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))
    if isinstance(a, float) and isinstance(b, float) and tolerance and not equal:
        limits = {"rel_tol": tolerance.relative, "abs_tol": tolerance.absolute}
        equal = math.isclose(a, b, **{name: FLOAT if limit is None else limit for name, limit in limits.items()})
    if isinstance(a, complex) and isinstance(b, complex) and not equal:
        equal = str(a) == str(b)
    if not equal and not (callable(a) and callable(b)):
        raise Difference("values", f"{where}: wanted {a!r}, found {b!r}")


def compare_tensors(
    where: str, a: torch.Tensor, b: torch.Tensor, device: torch.device, values: bool, tolerance: Tolerance | None
) -> None:
    """`a` was made on the CPU, `b` on `device`."""
    if b.device != device and a.device.type != "meta":
        raise Difference("device", f"{where}: on {b.device}")
    for aspect, one, other in zip(ASPECTS, description(a), description(b), strict=True):
        if one != other:
            raise Difference(aspect, f"{where}: wanted {one}, found {other}")
    if values and a.device.type != "meta":
        compare_values(where, a.detach(), b.detach(), tolerance)


ASPECTS = ("dtype", "shape", "layout", "strides", "offset", "conj", "neg", "requires_grad", "leaf", "view")


def description(t: torch.Tensor) -> tuple[Any, ...]:
    strided = t.layout == torch.strided and not t.is_nested
    shape = None if t.is_nested else tuple(t.shape)
    strides, offset = (t.stride(), t.storage_offset()) if strided else (None, None)
    conj, neg = (t.is_conj(), t.is_neg()) if strided else (False, False)
    return (t.dtype, shape, t.layout, strides, offset, conj, neg, t.requires_grad, t.is_leaf, t._is_view())


def compare_values(where: str, a: torch.Tensor, b: torch.Tensor, tolerance: Tolerance | None) -> None:
    if a.layout != torch.strided or a.is_quantized or a.is_nested:
        for number, (part, other) in enumerate(zip(parts(a), parts(b), strict=True)):
            compare_values(f"{where}, part {number}", part, other, tolerance)
        return
    a, b = (without_bits(t).cpu() for t in (a, b))
    if same_values(a, b):
        return
    if tolerance is not None:
        try:
            torch.testing.assert_close(
                b, a, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True, check_stride=False
            )
        except AssertionError as error:
            raise Difference("values", f"{where}: {' '.join(str(error).split())[:300]}") from None
        return
    raise Difference("values", f"{where}: {how_different(a, b)}")


def without_bits(t: torch.Tensor) -> torch.Tensor:
    """The memory as it is; both sides were seen to have the same conj and neg bits, and not every dtype resolves them."""
    t = t.detach()
    torch._C._set_conj(t, False)
    torch._C._set_neg(t, False)
    return t


def parts(t: torch.Tensor) -> list[torch.Tensor]:
    """The strided tensors that a tensor of another layout consists of."""
    if t.is_nested:
        return list(t.unbind())
    if t.is_quantized:
        return [t.int_repr()]
    if t.layout == torch.sparse_coo:
        return [t._indices(), t._values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values()]
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [t.ccol_indices(), t.row_indices(), t.values()]
    return [t.to_dense()]


def real(t: torch.Tensor) -> torch.Tensor:
    """Resolved, contiguous, without complex numbers."""
    t = torch.empty(t.shape, dtype=t.dtype).copy_(t)
    return (torch.view_as_real(t) if t.dtype.is_complex else t).reshape(-1)


def same_values(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal bits; any NaN equals any other."""
    a, b = real(a), real(b)
    if a.numel() == 0:
        return True
    if torch.equal(a.view(torch.uint8), b.view(torch.uint8)):
        return True
    if not a.dtype.is_floating_point:
        return False
    a, b = a.double(), b.double()
    alike = (a == b) & (a.signbit() == b.signbit()) | (a.isnan() & b.isnan())
    return bool(alike.all())


def how_different(a: torch.Tensor, b: torch.Tensor) -> str:
    x, y = real(a), real(b)
    if x.dtype.is_floating_point:
        x, y = x.double(), y.double()
    unequal = ~((x == y) | (x.isnan() & y.isnan()))
    if not unequal.any():
        return "a zero has another sign"
    first = int(unequal.nonzero()[0])
    return f"{int(unequal.sum())} of {x.numel()} differ; first wanted {x[first].item()!r}, found {y[first].item()!r}"


def shape_of(tree: Any) -> str:
    if isinstance(tree, (list, tuple)):
        return f"{type(tree).__name__} of {len(tree)}"
    return type(tree).__name__
