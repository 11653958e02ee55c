"""Which operations share loops.

Operations on tensors are not computed where they stand: they wait until an operation needs their elements at once (a store, a
reduction, a product of matrices, the end of a block). Then everything it depends on is computed in its loops, element by
element. A result that others need later is written to an array in the same loops; operations over the same shape that follow
each other share loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ttir.ir import Operation, Value
from .bits import Index, join, whole, width
from .cut import cut
from .elementwise import to_memory
from .nest import Nest
from .reduction import Reduction
from .values import LIGHT, Array, is_lazy
from .visit import Visit, pending, recomputed, repeatable, visit

if TYPE_CHECKING:
    from .function import FunctionEmitter


@dataclass
class Group:
    """Operations over one shape that wait for their loops: stores, reductions, and values to be written to arrays."""

    shape: tuple[int, ...]
    sinks: list[Operation] = field(default_factory=list)
    arrays: list[tuple[Value, Array]] = field(default_factory=list)


def plan(
    e: FunctionEmitter,
    shape_bits: int,
    wanted: list[tuple[Value, Index]],
    sinks: set[Operation],
    given: set[Value] = frozenset(),
) -> tuple[Visit, list[Value]]:
    """The visit of a group, and the values to write to arrays in its loops; others are computed in loops of their own first.

    ``sinks`` are the operations that the group ends in; ``given`` are values that have an array already.
    """
    while True:
        found = Visit(shape_bits)
        for value, index in wanted:
            visit(e, found, value, index)
        kept: list[Value] = []
        identity = tuple(range(shape_bits))
        for op in found.included:
            for value in op.results:
                if value not in found.seen or repeatable(e, value) or value in given and len(found.seen[value]) == 1:
                    continue
                outside = any(
                    user not in found.included and user not in sinks and user not in e.done for user in e.users[value]
                )
                simple = len(found.seen[value]) == 1 and join(next(iter(found.seen[value]))) == identity
                if outside and simple:
                    kept.append(value)
                elif outside or (op.name not in LIGHT and (len(found.seen[value]) > 1 or recomputed(found, value))):
                    found.first[value] = None
        if not found.first:
            return found, kept
        for value in sorted(found.first, key=lambda v: e.order[e.producer(v)]):
            materialise(e, [value])


def materialise(e: FunctionEmitter, values: list[Value]) -> None:
    """Computes values and keeps them in arrays."""
    waiting = [value for value in dict.fromkeys(values) if value not in e.homes]
    while waiting:
        shape = waiting[0].type.shape
        same = [value for value in waiting if value.type.shape == shape]
        group = Group(shape, [], [(value, e.new_array(value)) for value in same])
        write(e, group)
        waiting = [value for value in waiting if value not in e.homes]


def assign_arrays(e: FunctionEmitter, op: Operation, pairs: list[tuple[Array, Value]]) -> list[tuple[Array, Array]]:
    """Computes operands of ``op`` into the arrays given, which may be read by the values themselves.

    Returns what is left to copy, from array to array: values that are in another array already, and those that could not be
    written at once because a later one reads what they would overwrite.
    """
    shared = [
        v for _, v in pairs if v not in e.homes and any(user is not op and user not in e.done for user in e.users[v])
    ]
    materialise(e, pending(e, shared))
    moves = [(target, e.homes[value]) for target, value in pairs if value in e.homes]
    waiting = [(target, value) for target, value in pairs if value not in e.homes]
    shapes = list(dict.fromkeys(value.type.shape for _, value in waiting))
    if not waiting:
        return moves
    # Plans first: they may compute values in loops of their own, while the arrays still hold what was there.
    planned = []
    for shape in shapes:
        same = [(target, value) for target, value in waiting if value.type.shape == shape]
        bits = sum(width(extent) for extent in shape)
        found, _ = plan(e, bits, [(value, whole(value.type)) for _, value in same], set(), {value for _, value in same})
        planned.append((shape, same, read_arrays(e, found)))
    still_read = {home.name for _, home in moves if isinstance(home, Array)}
    for number, (shape, same, reads) in enumerate(planned):
        later = still_read.union(*(reads for _, _, reads in planned[number + 1 :]))
        arrays = []
        for target, value in same:
            direct = target.name not in later and reads.get(target.name, True)
            array = target if direct else e.new_array(value)
            if not direct:
                moves.append((target, array))
            arrays.append((value, array))
        kept = dict(e.homes)
        write(e, Group(shape, [], arrays))
        for _, value in same:  # elsewhere the value may be computed anew: the array will change
            if value not in kept:
                e.homes.pop(value, None)
    return moves


def read_arrays(e: FunctionEmitter, found: Visit) -> dict[str, bool]:
    """The arrays that a group reads, and whether only at the place that it is at."""
    identity = tuple(range(found.bits))
    reads: dict[str, bool] = {}
    for value, indices in found.seen.items():
        home = e.homes.get(value)
        if isinstance(home, Array):
            reads[home.name] = reads.get(home.name, True) and all(join(index) == identity for index in indices)
        producer = e.producers.get(value)
        if producer in found.included and producer.name == "tt.gather":
            reads[e.homes[producer.operands[0]].name] = False
    return reads


def add_sink(e: FunctionEmitter, op: Operation, shape: tuple[int, ...]) -> None:
    """Lets a store or a reduction wait in the group, or in a new one."""
    group = e.group
    if group is not None and not joins(e, group, op, shape):
        flush(e)
    if e.group is None:
        e.group = Group(shape)
    e.group.sinks.append(op)


def joins(e: FunctionEmitter, group: Group, op: Operation, shape: tuple[int, ...]) -> bool:
    if group.shape != shape:
        return False
    first = group.sinks[0]
    if op.name != first.name or op.attributes.get("axis") != first.attributes.get("axis"):
        return False
    results = {result for sink in group.sinks for result in sink.results}
    stores = [e.order[sink] for sink in group.sinks if sink.name == "tt.store"]
    for value in depends(e, op):
        if value in results:
            return False
        producer = e.producers.get(value)
        if (
            stores
            and producer is not None
            and producer.name == "tt.load"
            and value not in e.homes
            and e.order[producer] > stores[0]
        ):
            return False
    return True


def depends(e: FunctionEmitter, op: Operation) -> set[Value]:
    """All values that an operation is computed from and that are not at hand."""
    found: set[Value] = set()
    waiting = list(op.operands)
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.add(value)
        producer = e.producers.get(value)
        if value not in e.homes and producer is not None and is_lazy(producer):
            waiting += producer.operands
    return found


def flush(e: FunctionEmitter) -> None:
    """Writes the loops of the waiting group."""
    group, e.group = e.group, None
    if group is not None:
        if any(sink.name == "tt.store" for sink in group.sinks):
            needed = {value for sink in group.sinks for value in depends(e, sink)}
            keep_loads(e, needed, max(e.order[sink] for sink in group.sinks))
        write(e, group)


def keep_loads(e: FunctionEmitter, needed: set[Value], before: int) -> None:
    """Reads now what waits to be read, since memory is about to change; ``needed`` is read by the group that changes it."""
    late = []
    for op in list(e.loads):
        value = op.results[0]
        if value in e.homes or op in e.done or not any(user not in e.done for user in e.users[value]):
            del e.loads[op]
        elif value not in needed and e.order[op] < before:
            late.append(value)
    materialise(e, late)


def sink_operands(op: Operation) -> list[tuple[Value, Index]]:
    return [(value, whole(value.type)) for value in op.operands]


def write(e: FunctionEmitter, group: Group) -> None:
    """Writes the loops of a group."""
    sinks = set(group.sinks)
    bits = sum(width(extent) for extent in group.shape)
    wanted = [pair for sink in group.sinks for pair in sink_operands(sink)]
    wanted += [(value, whole(value.type)) for value, _ in group.arrays]
    found, kept = plan(e, bits, wanted, sinks, {value for value, _ in group.arrays})
    reductions = [Reduction(e, op) for op in group.sinks if op.name == "tt.reduce"]
    for reduction in reductions:
        found.cuts |= reduction.cuts
    nest = Nest(e, bits, found.cuts)
    arrays = [(value, array) for value, array in group.arrays if value not in e.homes]
    given = {value for value, _ in arrays}
    arrays += [(value, e.new_array(value)) for value in kept if value not in given]
    for reduction in reductions:
        reduction.prepare(nest)

    def fill() -> None:
        """All loads first, then what changes memory."""
        for value, index in wanted:
            if not isinstance(e.homes.get(value), str) and not is_address(wanted, group, value):
                nest.value(value, index)
        effects: list[tuple[int, str]] = []
        for value, array in arrays:
            text, _ = nest.value(value, whole(value.type))
            place, _ = nest.element(array, whole(value.type))
            effects.append((nest.depth, f"{place} = {text};"))
        effects += [store(nest, op) for op in group.sinks if op.name == "tt.store"]
        for reduction in reductions:
            reduction.body(nest)
        for depth, text in effects:
            nest.before[depth].append(text)

    fill()
    if nest.depth:
        cut(nest, found, group, reductions, bool(arrays), fill)
    for value, array in arrays:
        if array.name not in e.declared:
            e.declare(array)
        e.homes[value] = array
    for reduction in reductions:
        reduction.declare_results()
    e.lines(nest.write())
    for op in (*found.included, *group.sinks):
        e.done.add(op)


def is_address(wanted: list[tuple[Value, Index]], group: Group, value: Value) -> bool:
    return value.type.is_pointer and all(value is op.operands[0] for op in group.sinks if value in op.operands) and not any(
        value is kept for kept, _ in group.arrays
    )  # fmt: skip


def store(nest: Nest, op: Operation) -> tuple[int, str]:
    """The depth and text of a store."""
    pointer, value = op.operands[:2]
    index = whole(pointer.type)
    text, known = nest.value(value, whole(value.type))
    depth = max(known, nest.depth_of(pointer, index))
    condition = "1"
    if len(op.operands) > 2:
        condition, known = nest.value(op.operands[2], whole(op.operands[2].type))
        depth = max(depth, known)
    place = nest.address(pointer, index, depth)
    statement = f"{place} = {to_memory(pointer.type.pointee, text)};"
    return depth, statement if condition == "1" else f"if ({condition}) {statement}"


__all__ = ["Group", "add_sink", "assign_arrays", "flush", "keep_loads", "materialise", "pending", "repeatable"]
