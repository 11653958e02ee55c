"""Loops cut in two: where masks end, where remainders wrap, and by whether neighbours in a loop are neighbours in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ttir.ir import Value
from .bits import Index, whole
from .masks import limit, prefix
from .nest import Nest, Split
from .values import children
from .visit import Visit

if TYPE_CHECKING:
    from .groups import Group
    from .reduction import Reduction


def cut(
    nest: Nest, found: Visit, group: Group, reductions: list[Reduction], keeps: bool, fill: Callable[[], None]
) -> None:
    """Cuts the innermost loop where masks end, if there are such."""
    split = nest.depth - 1
    lanes = {reduction.lane_bits for reduction in reductions}
    if lanes - {0}:  # lanes stay together: whole rows of them
        split -= 1
        if split < 0 or nest.loops[-1].high not in lanes or split not in reductions[0].chunk:
            return
    masks: dict[tuple[Value, Index], None] = {}
    for op in found.included:
        if op.name == "tt.load" and len(op.operands) > 1:
            for index in found.seen[op.results[0]]:
                masks[children(op, op.results[0], index)[1]] = None
    stores = [op for op in group.sinks if op.name == "tt.store"]
    written = {(op.operands[2], whole(op.operands[2].type)) if len(op.operands) > 2 else None for op in stores}
    masks |= dict.fromkeys(mask for mask in written if mask is not None)
    prefixes = {mask: prefix(nest, split, *mask) for mask in masks}
    known = [mask for mask, found_prefix in prefixes.items() if found_prefix is not None]
    limited = any(prefixes[mask].limits for mask in known)
    if not limited and not nest.steps and not nest.remainders:
        return
    first, other = nest.again(split, known, set(), fill), []
    units = list(nest.steps)
    if not limited and not units and not nest.wraps:
        return
    if units:
        first, other = nest.again(split, known, set(units), fill), first
    lines = limit(nest, split, [prefixes[mask] for mask in known])
    only = written == set(masks) and len(masks) == 1 and not keeps and not reductions
    nest.split = Split(split, lines, units, first, other, bool(nest.wraps) or bool(masks) and not only)
