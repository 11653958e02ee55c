"""Other forms of a call: layouts of memory, values at the edge, dtypes side by side, results in place and in ``out=``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_map

from . import operators
from .calls import Call
from .mirror import CPU, Mirror

Change = Callable[[torch.Tensor], torch.Tensor | None]


def gaps(t: torch.Tensor) -> torch.Tensor | None:
    """Every second element of a longer storage."""
    if not t.dim() or not t.numel():
        return None
    longer = torch.zeros((*t.shape[:-1], t.shape[-1] * 2), dtype=t.dtype)
    longer[..., ::2] = t
    return longer[..., ::2]


def column_major(t: torch.Tensor) -> torch.Tensor | None:
    order = tuple(reversed(range(t.dim())))
    return t.permute(order).contiguous().permute(order) if t.dim() > 1 else None


def offset(t: torch.Tensor) -> torch.Tensor | None:
    """One element into a longer storage: no alignment of 16 bytes."""
    longer = torch.zeros(t.numel() + 3, dtype=t.dtype)
    longer[1 : t.numel() + 1] = t.reshape(-1)
    return longer[1 : t.numel() + 1].view(t.shape)


def expanded(t: torch.Tensor) -> torch.Tensor | None:
    """The first row, repeated without memory of its own, as the gradient of a sum is."""
    return t.narrow(0, 0, 1).expand(t.shape) if t.dim() and t.shape[0] > 1 else None


def empty(t: torch.Tensor) -> torch.Tensor | None:
    return t.narrow(0, 0, 0) if t.dim() and t.shape[0] else None


def scalar(t: torch.Tensor) -> torch.Tensor | None:
    return t.reshape(-1)[0].clone() if t.dim() and t.numel() else None


def extreme(t: torch.Tensor) -> torch.Tensor | None:
    """Infinities, NaN, both zeros, the largest, smallest and denormal numbers; or the ends of the integers."""
    if not t.numel() or t.dtype == torch.bool or t.is_complex():
        return None
    if t.dtype.is_floating_point:
        info = torch.finfo(t.dtype)
        values = [
            float("inf"),
            -float("inf"),
            float("nan"),
            0.0,
            -0.0,
            info.max,
            info.min,
            info.tiny,
            info.tiny / 4,
            1.0,
            -0.5,
            2.5,
        ]
    else:
        whole = torch.iinfo(t.dtype)
        values = [whole.min, whole.max, 0, 1, whole.min + 1, whole.max - 1, 7]
    pattern = torch.tensor(values, dtype=t.dtype)
    return pattern.repeat(t.numel() // len(values) + 1)[: t.numel()].reshape(t.shape).clone()


ALL_TENSORS: dict[str, Change] = {"gaps": gaps, "column-major": column_major, "offset": offset}
OTHER_SHAPE: dict[str, Change] = {"empty": empty, "0-d": scalar}
PARTNERS = {  # dtypes that stand beside another one in a user's program
    "float32": ("int64", "float16", "bool"),
    "float16": ("float32", "int64"),
    "bfloat16": ("float32", "int64"),
    "int64": ("float32", "int32", "bool"),
    "int32": ("int64", "float32"),
}


def changed(
    call: Call, change: Change, which: Callable[[int, torch.Tensor], bool] = lambda place, t: True
) -> Call | None:
    """The call with some of its tensors changed, or None where nothing changes.

    Args:
        which: told the number of a tensor among the call's, and the tensor: whether it is to be changed.
    """
    count, touched = 0, False

    def leaf(value: Any) -> Any:
        nonlocal count, touched
        if not isinstance(value, torch.Tensor):
            return value
        count += 1
        other = change(value) if which(count - 1, value) else None
        touched |= other is not None
        return value if other is None else other

    args, kwargs = tree_map(leaf, Mirror(CPU)((call.args, call.kwargs)))
    return Call(call.key, args, kwargs, call.source) if touched else None


def of(call: Call) -> Iterator[tuple[str, Call]]:
    """The variants of one call, each with the name of its check; which of them make sense the CPU decides."""
    for name, change in ALL_TENSORS.items():
        if (other := changed(call, change)) is not None:
            yield name, other
    first = next(iter(call.tensors), None)
    if first is None:
        return
    if not operators.written(call.key):  # nobody can write to an expanded tensor
        for which in (lambda place, t: place == 0), (lambda place, t: True):
            if (other := changed(call, expanded, which)) is not None:
                yield "expanded", other
    yield from broadcast(call)
    yield from other_shapes(call, first)
    other = changed(call, extreme, lambda place, t: describes(t, call.dtype))
    if other is not None:
        yield "edge values", other


def broadcast(call: Call) -> Iterator[tuple[str, Call]]:
    """A second tensor of the same number of dimensions whose last, or first, has one element: no gaps, and other sizes."""
    alike = [i for i, value in enumerate(call.args) if isinstance(value, torch.Tensor) and describes(value, call.dtype)]
    if len(alike) < 2 or torch.Tag.pointwise not in operators.overload(call.key).tags:
        return
    first, second = (call.args[place] for place in alike[:2])
    if first.shape == second.shape and first.numel() and first.dim():
        for dim in dict.fromkeys((first.dim() - 1, 0)):
            yield "broadcast", replaced(call, alike[1], second.narrow(dim, 0, 1).contiguous())


def other_shapes(call: Call, first: torch.Tensor) -> Iterator[tuple[str, Call]]:
    """Without elements, without dimensions. Only pointwise operators may do that to one of several tensors."""
    pointwise = torch.Tag.pointwise in operators.overload(call.key).tags
    alike: list[Callable[[int, torch.Tensor], bool]] = [lambda place, t: t.shape == first.shape]
    if pointwise and len(call.tensors) > 1:
        alike.append(lambda place, t: place == 0)
    for name, change in OTHER_SHAPE.items():
        for which in alike:
            if (other := changed(call, change, which)) is not None:
                yield name, other


def mixed(call: Call) -> Iterator[tuple[str, Call]]:
    """A second tensor of another dtype, or a number in its place."""
    alike = [i for i, value in enumerate(call.args) if isinstance(value, torch.Tensor) and describes(value, call.dtype)]
    if len(alike) < 2:
        return
    place = alike[1]
    for partner in PARTNERS.get(call.dtype, ()):
        dtype = getattr(torch, partner)
        yield "mixed dtypes", replaced(call, place, call.args[place].to(dtype))
    if str(operators.overload(call.key)._schema.arguments[place].type) == "Tensor":
        yield "number", replaced(call, place, 2)
        if call.dtype != "bool":
            yield "number", replaced(call, place, 2.5)


def describes(tensor: torch.Tensor, dtype: str) -> bool:
    return str(tensor.dtype).removeprefix("torch.") == dtype


def replaced(call: Call, place: int, value: Any) -> Call:
    args = (*call.args[:place], value, *call.args[place + 1 :])
    return Call(call.key, args, call.kwargs, call.source)


def outputs(call: Call) -> Iterator[tuple[str, Call]]:
    """``out=`` with gaps, and of the wrong size."""
    names = operators.outputs(call.key)
    if not names:
        return

    def with_out(change: Callable[[torch.Tensor], torch.Tensor]) -> Call:
        outs = {name: change(call.kwargs[name]) for name in names if name in call.kwargs}
        return Call(call.key, call.args, call.kwargs | outs, call.source)

    yield "out with gaps", with_out(lambda t: torch.ones((*t.shape, 2), dtype=t.dtype).select(-1, 0))
    yield "out to resize", with_out(lambda t: torch.empty(0, dtype=t.dtype))


FAR = "64-bit offsets"
FAR_STRIDE = 2**31  # elements between two rows: beyond what a signed 32-bit offset reaches


def far(call: Call) -> Iterator[tuple[str, Call]]:
    """The first tensor's rows two thousand million elements apart: on the device only, see `Placed`."""
    first = next((value for value in call.args if isinstance(value, torch.Tensor)), None)
    if first is None or not first.dim() or first.shape[0] < 2 or not first.numel() or operators.written(call.key):
        return

    def two_rows(value: Any) -> Any:
        alike = isinstance(value, torch.Tensor) and value.shape == first.shape
        return value.narrow(0, 0, 2).contiguous() if alike else value

    args, kwargs = tree_map(two_rows, (call.args, call.kwargs))
    yield FAR, FarCall(call.key, args, kwargs, call.source)


class FarCall(Call):
    """A call whose first tensor is placed with far rows."""


class TransferCall(Call):
    """A call whose second tensor stays on the CPU, as in a copy to the device."""


def transfer(call: Call) -> Iterator[tuple[str, Call]]:
    """A copy from the CPU, for the operators that may be given one."""
    if call.key in ("copy_", "copy"):
        yield "transfer", TransferCall(call.key, call.args, call.kwargs, call.source)


class Placed:
    """The arguments of a call on a device."""

    def __init__(self, call: Call, device: torch.device) -> None:
        mirror = Mirror(device)
        self.tree = mirror((call.args, call.kwargs))
        self.tensors = mirror.tensors
        places = [place for place, value in enumerate(call.args) if isinstance(value, torch.Tensor)]
        if isinstance(call, FarCall):
            self._replace(places[0], far_copy(call.args[places[0]], device))
        if isinstance(call, TransferCall):
            self._replace(places[1], call.args[places[1]])

    def _replace(self, place: int, tensor: torch.Tensor) -> None:
        args, kwargs = self.tree
        self.tree = (*args[:place], tensor, *args[place + 1 :]), kwargs


def far_copy(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A device copy whose two rows have the stride `FAR_STRIDE`; memory between them is reserved, not touched."""
    large = torch.empty(FAR_STRIDE + tensor[0].numel(), dtype=tensor.dtype, device=device)
    result = large.as_strided(tensor.shape, (FAR_STRIDE, *tensor.stride()[1:]))
    for number in range(2):
        torch.ops.aten._copy_from(tensor[number], result[number])
    return result
