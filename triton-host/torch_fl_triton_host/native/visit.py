"""What the loops of a group will compute, found before they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ttir.ir import Operation, Value
from .bits import Index, cuts, join
from .values import REPEATABLE, Array, children, is_lazy, is_tensor, selector, splat_value

if TYPE_CHECKING:
    from .function import FunctionEmitter


@dataclass
class Visit:
    """What the loops of a group will compute, found before they are written."""

    bits: int
    cuts: set[int] = field(default_factory=set)
    seen: dict[Value, set[Index]] = field(default_factory=dict)
    included: dict[Operation, None] = field(default_factory=dict)
    first: dict[Value, None] = field(default_factory=dict)


def repeatable(e: FunctionEmitter, value: Value) -> bool:
    """True if a value is at hand, or made of such by arithmetic that may be done again."""
    if value in e.homes:
        return True
    known = e.repeatable.get(value)
    if known is None:
        op = e.producers.get(value)
        known = op is not None and (op.name in REPEATABLE or is_row(e, op)) and all(
            not is_tensor(operand) or repeatable(e, operand) for operand in op.operands
        )  # fmt: skip
        e.repeatable[value] = known
    return known


def is_row(e: FunctionEmitter, op: Operation) -> bool:
    """True for numbers in a row modulo a scalar, which loops know how to count (see ``Nest.remainder``)."""
    if op.name != "arith.remsi" or not all(is_tensor(operand) for operand in op.operands):
        return False
    divisor = e.producers.get(op.operands[1])
    if divisor is None or divisor.name not in ("tt.splat", "arith.constant"):
        return False
    waiting = [op.operands[0]]
    while waiting:
        producer = e.producers.get(waiting.pop())
        if producer is None or producer.name not in (
            "arith.addi",
            "arith.extsi",
            "tt.splat",
            "tt.make_range",
            "arith.constant",
        ):
            return False
        waiting += [operand for operand in producer.operands if is_tensor(operand)]
    return True


def visit(e: FunctionEmitter, found: Visit, value: Value, index: Index) -> None:
    """Adds what the element ``index`` of ``value`` needs."""
    indices = found.seen.setdefault(value, set())
    if index in indices:
        return
    indices.add(index)
    home = e.homes.get(value)
    if isinstance(home, Array):
        found.cuts |= cuts(join(index))
    if home is not None:
        return
    op = e.producer(value)
    if not is_lazy(op):
        raise AssertionError(f"line {op.line}: {op.name} has not been computed")
    found.included[op] = None
    if op.name == "tt.make_range":
        found.cuts |= cuts(index[0])
    if op.name == "arith.constant" and splat_value(op) is None:
        found.cuts |= cuts(join(index))
    bit = selector(op, index)
    if bit is not None and bit >= 0:
        found.cuts |= {bit, bit + 1}
    if op.name == "tt.gather":
        if e.homes.get(op.operands[0]) is None:
            found.first[op.operands[0]] = None
        for number in index:
            found.cuts |= cuts(number)
    for operand, inner in children(op, value, index):
        visit(e, found, operand, inner)


def recomputed(found: Visit, value: Value) -> bool:
    """True if loops would compute a value again for the same index."""
    for index in found.seen[value]:
        used = {bit for bit in join(index) if bit >= 0}
        if used and any(bit not in used for bit in range(min(used), found.bits)):
            return True
    return False


def pending(e: FunctionEmitter, values: list[Value]) -> list[Value]:
    """Of ``values``, the tensors that nobody has computed and that are worth keeping."""
    return [v for v in values if is_tensor(v) and v not in e.homes and v in e.producers and not repeatable(e, v)]
