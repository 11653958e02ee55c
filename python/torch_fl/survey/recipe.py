"""A call as text, and its arguments made anew on the device at the size that it names.

Values lie between the smallest and the largest that the recorded call had, so that what needs positive numbers, or
probabilities, still gets them; integers beside the data are indices and stay below their bound.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import operators
from .calls import Call

BLOCK = 1 << 20  # values that are drawn; a longer tensor repeats them
WORDS = (torch.dtype, torch.layout, torch.memory_format)
DEVICE, TENSOR, WORD, NUMBER = "device", "tensor", "word", "number"

Tree = Any  # what JSON can hold


class Unwritten(Exception):
    """The call has an argument that has no text."""


def written(value: Any) -> Tree:
    """An argument as JSON can hold it.

    Raises:
        Unwritten: it is nothing that can be made anew, such as a generator.
    """
    if isinstance(value, torch.Tensor):
        low, high = limits(value)
        return {TENSOR: name(value.dtype), "shape": list(value.shape), "low": low, "high": high}
    if isinstance(value, (list, tuple)):
        return [written(item) for item in value]
    if isinstance(value, WORDS):
        return {WORD: name(value)}
    if isinstance(value, torch.device) or value == "cpu":
        return {DEVICE: True}
    if isinstance(value, float) and not math.isfinite(value):
        return {NUMBER: repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise Unwritten(type(value).__name__)


def limits(tensor: torch.Tensor) -> tuple[float, float]:
    """The smallest and the largest finite value; 0 and 1 where there is none."""
    if tensor.is_complex():
        raise Unwritten("complex numbers")
    values = tensor.detach().double().flatten()
    values = values[values.isfinite()]
    return (values.min().item(), values.max().item()) if values.numel() else (0.0, 1.0)


def name(word: Any) -> str:
    return str(word).removeprefix("torch.")


def text_of(tree: Tree) -> str:
    """Dtypes, shapes and numbers in a line, for people."""

    def words(node: Tree) -> Any:
        if isinstance(node, dict):
            return f"{node[TENSOR]}{node['shape']}" if TENSOR in node else str(next(iter(node.values())))
        return [words(item) for item in node] if isinstance(node, list) else repr(node)

    return ", ".join(map(str, tree_leaves([words(node) for node in tree["args"]])))[:200]


def elements(tree: Tree) -> int:
    """Elements of all tensors of a recipe."""
    return sum(math.prod(node["shape"]) for node in tensors(tree))


def tensors(tree: Tree) -> list[dict]:
    """The tensors of a recipe, in their order."""
    if isinstance(tree, dict) and TENSOR in tree:
        return [tree]
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [node for child in children for node in tensors(child)]


def call(key: str, tree: Tree, device: torch.device, source: str = "") -> Call:
    """The call that a recipe tells, with its tensors on a device (`meta` gives them no memory)."""

    def made(node: Tree) -> Any:
        if isinstance(node, list):
            return [made(item) for item in node]
        if not isinstance(node, dict):
            return node
        if TENSOR in node:
            return filled(node, device)
        if WORD in node:
            return getattr(torch, node[WORD])
        return device if DEVICE in node else float(node[NUMBER])

    return Call(key, tuple(map(made, tree["args"])), {k: made(v) for k, v in tree["kwargs"].items()}, source)


def filled(node: dict, device: torch.device) -> torch.Tensor:
    """A contiguous tensor of the dtype and shape that `node` has, with values between its limits.

    It is filled by the runtime's own copies: what serves `copy_` may be what is surveyed.
    """
    dtype, shape = getattr(torch, node[TENSOR]), node["shape"]
    result = torch.empty(shape, dtype=dtype, device=device)
    count = result.numel()
    if not count or device.type == "meta":
        return result
    flat, block = result.view(-1), drawn(dtype, node["low"], node["high"], min(count, BLOCK))
    if device.type == "cpu":
        return block.repeat(-(-count // block.numel()))[:count].view(shape)
    torch.ops.aten._copy_from(block, flat[: block.numel()])
    done = block.numel()
    while done < count:
        more = min(done, count - done)
        torch.ops.aten._copy_from(flat[:more], flat[done : done + more])
        done += more
    return result


def drawn(dtype: torch.dtype, low: float, high: float, count: int) -> torch.Tensor:
    """Values that are spread evenly from `low` to `high`, the same ones each time; the last one is `high`."""
    values = torch.rand(count, generator=torch.Generator().manual_seed(count), dtype=torch.float32)
    if dtype == torch.bool:
        return values < (0.5 if low < high else high)
    if dtype.is_floating_point:
        return (values * (high - low) + low).to(dtype)
    whole = (values.double() * (int(high) - int(low) + 1)).floor() + int(low)
    whole[-1] = high
    return whole.clamp(low, high).to(dtype)


def of_call(given: Call) -> Tree:
    """The recipe of a call as it was recorded."""
    return {
        "args": [written(value) for value in given.args],
        "kwargs": {k: written(v) for k, v in given.kwargs.items()},
    }


def runs(key: str, tree: Tree, device: torch.device) -> Any:
    """What the operator gives for the recipe on a device; raises what it raises."""
    made = call(key, tree, device)
    with torch.no_grad():
        return operators.overload(key)(*made.args, **made.kwargs)
