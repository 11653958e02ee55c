"""From a recorded call of some dozen elements to one of the size that models make.

Each distinct size in the call stands for one dimension: it becomes one large size wherever it occurs, in tensors and in
lists of sizes, so that what had to fit fits again. Whether it does is tried, not known: with small numbers that are in no
proportion to each other on the CPU, which also checks indices, and with the large ones on tensors without memory. Where that
fails all sizes grow by one factor, else the first dimension alone grows, else the call stays as it was.
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from . import operators, recipe
from .calls import Call
from .recipe import TENSOR, Tree

ELEMENTS = 1 << 28  # of arguments and results together
ENOUGH = 1 << 22  # elements of a call that is worth being called large
TRIED = 6  # recorded calls
VOCABULARY = 32000  # of what is indexed
LINE = 1 << 25
SHAPES = {1: (LINE,), 2: (8192, 4096), 3: (8, 1024, 4096), 4: (4, 32, 2048, 128), 5: (2, 16, 16, 256, 256)}
IMAGES = {3: (32, 256, 4096), 4: (32, 64, 128, 128), 5: (4, 32, 16, 128, 128)}  # for windows: convolution, pooling
INDICES = {1: (8192,), 2: (8, 1024)}  # tokens
NUMBERS = {"n": 8192, "m": 4096, "end": LINE, "steps": LINE}  # of factories
WINDOWS = {"kernel_size", "stride", "padding", "dilation", "output_size"}  # arguments of operators that move a window
LISTS = {"size", "sizes", "normalized_shape", "input_sizes", "input_size", "output_size", "shape", "N", "C", "HxW"}
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
CPU, META = torch.device("cpu"), torch.device("meta")

Sizes = dict[int, int]  # a recorded size, and what it becomes


class Large(NamedTuple):
    """A recipe, and whether it is larger than what was recorded."""

    tree: Tree
    enlarged: bool


def large(calls: list[Call], most: int = ELEMENTS) -> Large | None:
    """The first of some recorded calls of an operator that can be brought to size; None where none can be told as text.

    Args:
        most: elements of arguments and results together.
    """
    written = []
    for call in sorted(calls, key=preference)[:TRIED]:
        with suppress(recipe.Unwritten):
            written.append((call, recipe.of_call(call)))
    for way in (by_dimension, by_factor, by_batch):
        for call, tree in written:
            grown = way(call, tree, most)
            if grown is not None and worth(call.key, grown, most):
                return Large(grown, True)
    return Large(written[0][1], False) if written else None


def told(calls: list[Call]) -> Tree | None:
    """:func:`large` as a trial keeps it: the recipe, and under ``enlarged`` whether it is larger."""
    found = large(calls)
    return {**found.tree, "enlarged": found.enlarged} if found else None


def worth(key: str, tree: Tree, most: int) -> bool:
    """Whether a call is large: a factory's always is."""
    return not recipe.tensors(tree) or (footprint(key, tree, most) or 0) >= min(ENOUGH, most // 64)


def preference(call: Call) -> tuple[Any, ...]:
    """Sorts rows of features first, worked on along the features and indexed along the rows, as in a language model."""
    first = data(call)
    if first is None:
        return False, False, 0, 0, False, 0
    indexed = any(recipe.name(t.dtype) in INTEGERS and recipe.name(t.dtype) != call.dtype for t in call.tensors)
    good = (0, -first.dim(), [0]) if indexed else (-1, first.dim() - 1, [-1], [first.dim() - 1])
    usual = all(value in good for name, value in named(call).items() if name in ("dim", "dims"))
    alike = len(set(first.shape)) < first.dim()  # sizes that cannot be told from each other
    rank = {2: 0, 3: 1, 4: 2, 1: 3}.get(first.dim(), 4)
    odd = any(not t.numel() or not t.dim() for t in call.tensors)
    return odd, not usual, rank, -first.numel(), alike, -sum(t.numel() for t in call.tensors)


def named(call: Call) -> dict[str, Any]:
    """The arguments by their names."""
    schema = operators.overload(call.key)._schema.arguments
    return {argument.name: value for argument, value in zip(schema, call.args, strict=False)} | call.kwargs


def data(call: Call) -> torch.Tensor | None:
    """The largest tensor of the call's own dtype."""
    own = [t for t in call.tensors if recipe.name(t.dtype) == call.dtype]
    return max(own, key=torch.Tensor.numel, default=None)


def is_index(node: dict, call: Call) -> bool:
    return node[TENSOR] in INTEGERS and node[TENSOR] != call.dtype


# --- what the sizes become ---


def by_dimension(call: Call, tree: Tree, most: int) -> Tree | None:
    """Every dimension becomes a size of its own."""
    if not recipe.tensors(tree):
        return factory(call, tree, most)
    return accepted(call, tree, wanted_sizes(call, tree), most, VOCABULARY)


def by_factor(call: Call, tree: Tree, most: int) -> Tree | None:
    """All dimensions grow alike: what is the sum or the product of others stays it."""
    fixed, nodes = windows(call, tree), recipe.tensors(tree)
    largest = max(nodes, key=lambda node: math.prod(node["shape"]), default=None)
    if largest is None or not largest["shape"] or not math.prod(largest["shape"]):
        return None
    factor = 2 ** max(1, round(math.log2(LINE / math.prod(largest["shape"])) / len(largest["shape"])))
    grown = {size: size * factor for node in nodes for size in node["shape"] if size > 1 and size not in fixed}
    return accepted(call, tree, grown, most, proportional=True)


def by_batch(call: Call, tree: Tree, most: int) -> Tree | None:
    """Only the first dimension of the data grows."""
    first = data(call)
    if first is None or not first.numel() or not first.dim() or first.shape[0] in {1} | windows(call, tree):
        return None
    return accepted(call, tree, {first.shape[0]: first.shape[0] * max(2, LINE // first.numel())}, most)


def factory(call: Call, tree: Tree, most: int) -> Tree | None:
    """A call without tensors: its list of sizes, or its count, is what it makes."""
    other = deepcopy(tree)
    schema = operators.overload(call.key)._schema.arguments
    for place, argument in enumerate(schema[: len(other["args"])]):
        value = other["args"][place]
        if argument.name == "size" and isinstance(value, list) and value:
            shape = SHAPES.get(len(value), SHAPES[2])
            other["args"][place] = [max(1, shape[0] * most // ELEMENTS), *shape[1:]]
        elif argument.name in NUMBERS and type(value) is int:
            other["args"][place] = max(2, NUMBERS[argument.name] * most // ELEMENTS)
    return other if other != tree else None


def wanted_sizes(call: Call, tree: Tree) -> Sizes:
    """What each distinct size becomes: by its place in the data, else in the first tensor that has it."""
    images, fixed = bool(windowed(call)), windows(call, tree)
    nodes = recipe.tensors(tree)
    own = [node for node in nodes if node[TENSOR] == call.dtype]
    main = max(own, key=lambda node: math.prod(node["shape"]), default=None)
    found: Sizes = {}
    for node in ([main] if main else []) + sorted(nodes, key=lambda node: -len(node["shape"])):
        table = INDICES if is_index(node, call) else {**SHAPES, **(IMAGES if images else {})}
        shape = node["shape"]
        sizes = table.get(len(shape)) or (2,) * (len(shape) - 2) + (1024, 1024)
        here: Sizes = {}
        for size, target in zip(shape, sizes, strict=False):
            if size > 1 and size not in fixed and size not in found:
                here[size] = min(target, here.get(size, target))
        found |= here
    return {size: max(size, target) for size, target in found.items()}


def windowed(call: Call) -> set[str]:
    return WINDOWS & set(named(call))


def windows(call: Call, tree: Tree) -> set[int]:
    """Sizes that stay: those of a kernel that is moved over an image."""
    if not windowed(call):
        return set()
    arguments = named(call)
    kernel = arguments.get("kernel_size", ())
    fixed = set(kernel if isinstance(kernel, (list, tuple)) else [kernel])
    weight = arguments.get("weight")
    return fixed | set(weight.shape[2:] if isinstance(weight, torch.Tensor) else ())


# --- whether it is still a call ---


def accepted(
    call: Call, tree: Tree, sizes: Sizes, most: int, vocabulary: int = 0, proportional: bool = False
) -> Tree | None:
    """The grown recipe, with indices along the largest dimension that the CPU lets them reach into, if it is a call at all.

    Args:
        vocabulary: what a dimension that is indexed becomes at least.
        proportional: whether all sizes grow by one factor, so that the small ones of the trial must, too.
    """
    for bound in bounds(call, tree, sizes):
        grown = sizes | ({bound: max(vocabulary, sizes.get(bound, bound))} if bound else {})
        small = {size: 3 * size for size in grown} if proportional else little(grown, tree)
        if computes(call.key, mapped(call, tree, small, bound)):
            fitting = within(call, tree, grown, bound, most)
            if fitting is not None:
                return fitting
    return None


def little(sizes: Sizes, tree: Tree) -> Sizes:
    """Small sizes in the same order as the large ones, in no proportion, and none smaller than what was recorded."""
    start = 3 + max((size for node in recipe.tensors(tree) for size in node["shape"]), default=0)
    ranks = sorted(set(sizes.values()))
    places = {target: start + 2 * rank for rank, target in enumerate(ranks)}
    return {size: places[target] for size, target in sizes.items()}


def bounds(call: Call, tree: Tree, sizes: Sizes) -> list[int | None]:
    """Sizes that the call's indices may count along, the largest first; None: they stay as they were.

    Derivatives trust what their operator has checked, so nothing would refuse an index that is too large.
    """
    indices = [node for node in recipe.tensors(tree) if is_index(node, call)]
    if not indices or "backward" in call.key:
        return [None]
    most = max(node["high"] for node in indices)
    found = {size for node in recipe.tensors(tree) for size in node["shape"] if size > max(most, 1)}
    return [*sorted(found, key=lambda size: sizes.get(size, size), reverse=True), None]


def mapped(call: Call, tree: Tree, sizes: Sizes, bound: int | None, below: int | None = None) -> Tree:
    """The recipe with other sizes.

    Args:
        bound: the recorded size that indices count along, where there is one.
        below: what they stay below; what `bound` becomes where None.
    """
    grow = lambda size: sizes.get(size, size)
    other = deepcopy(tree)
    for node in recipe.tensors(other):
        if bound and is_index(node, call):
            node["low"], node["high"] = max(node["low"], 0), (below or grow(bound)) - 1
        node["shape"] = [grow(size) for size in node["shape"]]
    schema = operators.overload(call.key)._schema.arguments
    for place, argument in enumerate(schema[: len(other["args"])]):
        if argument.name in LISTS:
            other["args"][place] = numbers(other["args"][place], sizes)
    return other


def numbers(value: Any, sizes: Sizes) -> Any:
    if isinstance(value, list):
        return [numbers(item, sizes) for item in value]
    return sizes.get(value, value) if type(value) is int else value


def computes(key: str, tree: Tree) -> bool:
    with suppress(Exception):
        recipe.runs(key, tree, CPU)
        return True
    return False


def within(call: Call, tree: Tree, sizes: Sizes, bound: int | None, most: int) -> Tree | None:
    """The recipe at full size; where that is more than `most` elements, its largest sizes are halved until it is not."""
    caps = dict(sizes)
    longer = [size for size in caps if bound and caps[size] >= caps[bound]]  # what indices may reach into
    for _ in range(60):
        made = mapped(call, tree, caps, bound, min((caps[size] for size in longer), default=None))
        count = footprint(call.key, made, most)
        if count is None or count <= most:
            return made if count is not None else None
        largest = max((size for size in caps if caps[size] > size), key=lambda size: caps[size], default=None)
        if largest is None:
            return None
        caps[largest] = max(largest, caps[largest] // 2)
    return None


def footprint(key: str, tree: Tree, most: int) -> int | None:
    """Elements of arguments and, where these are not too many, results; None where the sizes are refused."""
    arguments = recipe.elements(tree)
    if arguments > most:
        return arguments
    try:
        result = recipe.runs(key, tree, META)
    except (NotImplementedError, AssertionError):  # no rule for tensors without memory, or one that looks at values
        return arguments
    except Exception as error:  # noqa: BLE001 - whatever a rule says to sizes that do not fit
        return arguments if "meta" in str(error).lower() or "data-dependent" in str(error) else None
    return arguments + sum(leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor))
