"""Masks that hold for the first elements of a loop and for no others.

Almost every mask compares a row of consecutive numbers with a limit. The loop is then cut where the mask ends: before that
nothing is tested, so that loads and stores become plain vector instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ttir.ir import Value
from .bits import Index
from .nest import Nest
from .sums import Sum, times
from .values import children

#: Predicates as a difference that is positive: left minus right or the reverse, and what is added.
POSITIVE = {"slt": (-1, 0), "sle": (-1, 1), "sgt": (1, 0), "sge": (1, 1)}


@dataclass
class Prefix:
    """Where a mask holds: conditions that the loop does not change, and limits of the element's number."""

    conditions: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)


def prefix(nest: Nest, split: int, mask: Value, index: Index) -> Prefix | None:
    """The mask as a prefix of the elements of loops ``split`` and further in; None if it is none."""
    text, depth = nest.value(mask, index)
    if depth <= split:
        return Prefix([text])
    if mask in nest.emitter.homes:
        return None
    op = nest.emitter.producer(mask)
    parts = children(op, mask, index)
    if op.name in ("tt.broadcast", "tt.expand_dims", "tt.splat", "tt.reshape", "tt.trans"):
        return prefix(nest, split, *parts[0])
    if op.name == "arith.andi":
        found = [prefix(nest, split, *part) for part in parts]
        if None in found:
            return None
        return Prefix(found[0].conditions + found[1].conditions, found[0].limits + found[1].limits)
    if op.name == "arith.cmpi" and op.attributes["predicate"] in POSITIVE and op.operands[0].type.element != "i1":
        return comparison(nest, split, op.attributes["predicate"], parts)
    return None


def comparison(nest: Nest, split: int, predicate: str, parts: list[tuple[Value, Index]]) -> Prefix | None:
    sign, more = POSITIVE[predicate]
    difference = Sum()
    for part, scale in zip(parts, ((sign, ""), (-sign, "")), strict=False):
        difference.add(nest.sum(*part), scale)
    if any(depth > split for _, depth in difference.terms):
        return None
    texts = [term for term, _ in difference.terms if term != "0"]
    factor = None
    for number, factors in difference.factors.items():
        if number < split:
            texts += [times(nest.loops[number].variable, one) for one in factors]
            continue
        here = difference.whole(number)
        if here is None or here % (1 << nest.loops[number].low):
            return None
        here >>= nest.loops[number].low
        if factor not in (None, here):
            return None
        factor = here
    inner = [number for number in difference.factors if number >= split]
    if factor and len(inner) != nest.depth - split:
        return None
    value = " + ".join([*texts, str(more)])
    if not factor or factor > 0:  # true from the first element on, if there
        return Prefix([f"({value}) > 0"])
    step = -factor
    return Prefix([], [f"({value})" if step == 1 else f"({value} + {step - 1}) / {step}"])


def limit(nest: Nest, split: int, found: list[Prefix]) -> list[str]:
    """C text that sets ``limit`` to the number of iterations of loop ``split`` in which all these masks hold."""
    size = 1 << nest.loops[split].high
    lines = [f"int64_t limit = {size};"]
    for text, condition in nest.wraps.items():
        lines.append(f"if (!({condition})) limit = 0;")
        lines.append(f"if ({text} < limit) limit = {text};")
    for text in dict.fromkeys(text for part in found for text in part.conditions):
        lines.append(f"if (!({text})) limit = 0;")
    for text in dict.fromkeys(text for part in found for text in part.limits):
        lines.append(f"if ({text} < limit) limit = {text};")
    lines.append("if (limit < 0) limit = 0;")
    if nest.loops[split].low:
        lines.append(f"limit >>= {nest.loops[split].low};")
    return lines
