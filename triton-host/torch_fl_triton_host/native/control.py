"""Loops, branches and calls in C.

A value carried by a loop is a variable; a tensor carried by one is an array. A carried tensor that grows by the same amount each
time, such as the pointers into the tiles of a matrix, is no array: it is its initial value and a number that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ttir.ir import Block, Operation, Region, Successor, Type, Value
from . import groups
from .elementwise import c_type
from .unsupported import Unsupported
from .values import Array, array_type, is_tensor

if TYPE_CHECKING:
    from .function import FunctionEmitter

WRITES = {
    "tt.store",
    "tt.atomic_rmw",
    "tt.atomic_cas",
    "tt.call",
    "gpu.barrier",
    "ttg.barrier",
    "tt.assert",
    "tt.print",
}


def prepare(e: FunctionEmitter, op: Operation) -> None:
    """Before regions: computes what they use and what must not wait until after them."""
    groups.flush(e)
    used: dict[Value, None] = {}
    writes = False
    for region in op.regions:
        for inner in region.walk():
            writes = writes or inner.name in WRITES
            for value in (*inner.operands, *(v for s in inner.successors for v in s.arguments)):
                used[value] = None
    inside = {value for region in op.regions for inner in region.walk() for value in inner.results}
    needed: list[Value] = []
    for value in used:
        if value not in inside:
            needed += closure(e, value)
    groups.materialise(e, sorted(dict.fromkeys(needed), key=lambda v: e.order[e.producer(v)]))
    if writes:
        groups.keep_loads(e, set(), e.order[op])


def closure(e: FunctionEmitter, value: Value) -> list[Value]:
    """What has to be at hand so that ``value`` can be computed anywhere."""
    return groups.pending(e, [value])


def assign(e: FunctionEmitter, op: Operation, targets: list[str | Array], values: list[Value]) -> None:
    """Gives variables and arrays new values, all at once; ``op`` is what uses the values."""
    groups.flush(e)
    pairs = [(target, value) for target, value in zip(targets, values, strict=False) if isinstance(target, Array)]
    scalars = [
        (target, e.scalar(value)) for target, value in zip(targets, values, strict=False) if isinstance(target, str)
    ]
    moves = groups.assign_arrays(e, op, pairs)
    overwritten = {target for target, _ in scalars} | {target.name for target, _ in moves}
    late = []
    for target, source in [*scalars, *moves]:
        name = source.name if isinstance(source, Array) else source
        if name == (target.name if isinstance(target, Array) else target):
            continue
        if name in overwritten:
            name = e.fresh("m")
            if isinstance(source, Array):
                e.line(f"{array_type(source.kind)} {name}[{source.kind.size}];")
                e.line(copy(name, source.name, source))
            else:
                e.line(f"const __typeof__({target}) {name} = {source};")
        late.append((target, name))
    for target, name in late:
        e.line(copy(target.name, name, target) if isinstance(target, Array) else f"{target} = {name};")


def copy(target: str, source: str, array: Array) -> str:
    return f"__builtin_memcpy({target}, {source}, sizeof({array_type(array.kind)}) * {array.kind.size});"


def variables(e: FunctionEmitter, values: list[Value]) -> list[str | Array]:
    """Declares variables or arrays for values that are assigned; they become the values' homes."""
    homes: list[str | Array] = []
    for value in values:
        if is_tensor(value):
            array = e.new_array(value)
            e.declare(array)
            homes.append(array)
        else:
            name = e.fresh("x")
            e.line(f"{c_type(value.type)} {name};")
            homes.append(name)
        e.homes[value] = homes[-1]
    return homes


def step_of(e: FunctionEmitter, argument: Value, result: Value, body: Region) -> Value | None:
    """The scalar that a carried tensor grows by in each iteration, if it does so."""
    op = e.producers.get(result)
    if (
        op is None
        or op.name not in ("tt.addptr", "arith.addi")
        or op.operands[0] is not argument
        or not is_tensor(argument)
    ):
        return None
    step = e.producers.get(op.operands[1])
    if step is not None and step.name == "tt.splat":
        return step.operands[0]
    if step is not None and step.name == "arith.constant" and step.attributes["value"].splat:
        value = Value(step.results[0].type.scalar)
        e.homes[value] = str(step.attributes["value"].values[0])
        return value
    return None


def grown(e: FunctionEmitter, value: Value, initial: Value, counter: str, name: str, order: int) -> None:
    """Makes ``value`` the sum of ``initial`` and the variable ``counter``."""
    wide = name == "tt.addptr"
    amount = Value(Type("i64" if wide else initial.type.element))
    e.homes[amount] = counter
    spread = Value(Type(amount.type.element, initial.type.shape, None, True))
    splat = Operation("tt.splat", [amount], [spread])
    add = Operation(name, [initial, spread], [value])
    for op, result in ((splat, spread), (add, value)):
        e.producers[result] = op
        e.order[op] = order
    e.users[spread] = [add]
    e.users.setdefault(initial, []).append(add)
    e.repeatable.pop(value, None)


def for_loop(e: FunctionEmitter, op: Operation) -> None:
    prepare(e, op)
    body = op.regions[0]
    block = body.blocks[0]
    first, limit, step = (e.scalar(value) for value in op.operands[:3])
    initial = op.operands[3:]
    variable, *arguments = block.arguments
    yielded = block.terminator.operands
    steps = [step_of(e, argument, value, body) for argument, value in zip(arguments, yielded, strict=False)]
    order = e.order[op]
    counters = []
    for argument, start, result, value, amount in zip(arguments, initial, op.results, yielded, steps, strict=False):
        if amount is None:
            counters.append(None)
            continue
        name = e.producer(value).name
        counter = e.fresh("x")
        e.line(f"{'int64_t' if name == 'tt.addptr' else c_type(argument.type)} {counter} = 0;")
        if not groups.repeatable(e, start):
            groups.materialise(e, [start])
        grown(e, argument, start, counter, name, order)
        grown(e, result, start, counter, name, order)
        counters.append(counter)
    carried = [n for n, amount in enumerate(steps) if amount is None]
    homes = variables(e, [arguments[n] for n in carried])
    assign(e, op, homes, [initial[n] for n in carried])
    kind = c_type(variable.type)
    counter = e.fresh("n")
    wide = "uint64_t" if op.attributes.get("unsigned") else "int64_t"
    bound = f"(uint{variable.type.bits}_t)" if op.attributes.get("unsigned") else ""
    name = e.fresh("x")
    e.homes[variable] = name
    e.line(
        f"for ({wide} {counter} = {bound}{first}, l{counter} = {bound}{limit}; {counter} < l{counter}; {counter} += {bound}{step}) {{"
    )
    e.line(f"const {kind} {name} = ({kind}){counter};")
    e.block(block)
    assign(e, block.terminator, homes, [yielded[n] for n in carried])
    for amount, growth in zip(steps, counters, strict=False):
        if amount is not None:
            e.line(f"{growth} += {e.scalar(amount)};")
    e.done.add(block.terminator)
    e.line("}")
    for n, home in zip(carried, homes, strict=False):
        e.homes[op.results[n]] = home


def while_loop(e: FunctionEmitter, op: Operation) -> None:
    prepare(e, op)
    before, after = (region.blocks[0] for region in op.regions)
    homes = variables(e, before.arguments)
    assign(e, op, homes, op.operands)
    results = variables(e, op.results)
    e.line("for (;;) {")
    e.block(before)
    condition, *forwarded = before.terminator.operands
    go = e.scalar(condition)
    assign(e, before.terminator, results, forwarded)
    e.done.add(before.terminator)
    e.line(f"if (!{go}) break;")
    for argument, home in zip(after.arguments, results, strict=False):
        e.homes[argument] = home
    e.block(after)
    assign(e, after.terminator, homes, after.terminator.operands)
    e.done.add(after.terminator)
    e.line("}")


def conditional(e: FunctionEmitter, op: Operation) -> None:
    prepare(e, op)
    results = variables(e, op.results)
    e.line(f"if ({e.scalar(op.operands[0])}) {{")
    for number, region in enumerate(op.regions):
        if number and region.blocks:
            e.line("} else {")
        for block in region.blocks:
            e.block(block)
            assign(e, block.terminator, results, block.terminator.operands)
            e.done.add(block.terminator)
    e.line("}")


def graph(e: FunctionEmitter, region: Region) -> None:
    """The blocks of a function, with jumps between them."""
    labels = {block: e.fresh("block") for block in region.blocks}
    for block in region.blocks[1:]:
        variables(e, block.arguments)
    for number, block in enumerate(region.blocks):
        if number:
            e.line(f"{labels[block]}:;")
        e.block(block)
        if len(region.blocks) > 1:
            others = [v for other in region.blocks if other is not block for op in other_operands(other) for v in op]
            mine = {value for op in block.operations for value in op.results}
            groups.materialise(e, groups.pending(e, [value for value in dict.fromkeys(others) if value in mine]))
        leave(e, block, labels)
        e.done.add(block.terminator)


def other_operands(block: Block) -> list[list[Value]]:
    found = []
    for op in block.operations:
        for inner in op.walk():
            found.append([*inner.operands, *(v for s in inner.successors for v in s.arguments)])
    return found


def leave(e: FunctionEmitter, block: Block, labels: dict[Block, str]) -> None:
    op = block.terminator
    if op.name == "tt.return":
        for number, value in enumerate(op.operands):
            if is_tensor(value):
                array = e.array(value)
                e.line(copy(f"result{number}", array.name, array))
            else:
                e.line(f"*result{number} = {e.scalar(value)};")
        e.line("return;")
        return
    if op.name not in ("cf.br", "cf.cond_br"):
        raise Unsupported(f"line {op.line}: {op.name} at the end of a block")
    targets = op.successors
    if op.name == "cf.cond_br":
        condition = e.scalar(op.operands[0])
        groups.materialise(e, groups.pending(e, [v for s in targets for v in s.arguments]))
        for prefix, target in ((f"if ({condition}) {{", targets[0]), ("{", targets[1])):
            e.line(prefix)
            jump(e, op, target, labels)
            e.line("}")
        return
    jump(e, op, targets[0], labels)


def jump(e: FunctionEmitter, op: Operation, target: Successor, labels: dict[Block, str]) -> None:
    kept = dict(e.homes)
    assign(e, op, [e.homes[argument] for argument in target.block.arguments], target.arguments)
    e.homes = kept
    e.line(f"goto {labels[target.block]};")


def call(e: FunctionEmitter, op: Operation) -> None:
    groups.flush(e)
    groups.keep_loads(e, set(), e.order[op])
    callee = op.attributes["callee"]
    texts = ["address_offset", "program_id", "programs"]
    texts += [e.array(value).name if is_tensor(value) else e.scalar(value) for value in op.operands]
    homes = variables(e, op.results)
    texts += [home.name if isinstance(home, Array) else f"&{home}" for home in homes]
    e.line(f"{e.names[callee]}({', '.join(texts)});")


def call_scalars(
    e: FunctionEmitter, op: Operation, operands: list[str], names: dict[Value, str], lines: list[str]
) -> None:
    """A call inside a combination of scalars."""
    texts = ["address_offset", "program_id", "programs", *operands]
    for value in op.results:
        names[value] = e.fresh("x")
        lines.append(f"{c_type(value.type)} {names[value]};")
        texts.append(f"&{names[value]}")
    lines.append(f"{e.names[op.attributes['callee']]}({', '.join(texts)});")


HANDLERS = {"scf.for": for_loop, "scf.while": while_loop, "scf.if": conditional, "tt.call": call}
