"""Operations that are more than an expression of one element: atomics, scans, products of matrices, histograms, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ttir.ir import Operation, Type, Value
from . import groups
from .bits import join, whole, width
from .elementwise import c_type, from_memory, memory_type, to_memory
from .nest import Nest
from .unsupported import Unsupported
from .values import Array, is_tensor

if TYPE_CHECKING:
    from .function import FunctionEmitter

ORDERS = {
    "relaxed": "__ATOMIC_RELAXED", "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE", "acq_rel": "__ATOMIC_ACQ_REL",
}  # fmt: skip
#: Read-modify-write operations as an expression of the old value and the operand.
MODIFY = {
    "fadd": "{a} + {b}", "add": "{a} + {b}", "and": "{a} & {b}", "or": "{a} | {b}", "xor": "{a} ^ {b}", "exch": "{b}",
    "max": "{a} > {b} ? {a} : {b}", "min": "{a} < {b} ? {a} : {b}",
    "umax": "({U}){a} > ({U}){b} ? {a} : {b}", "umin": "({U}){a} < ({U}){b} ? {a} : {b}",
}  # fmt: skip


def own_nest(e: FunctionEmitter, op: Operation, values: list[Value], cut: set[int] = frozenset()) -> Nest:
    """Loops for one operation over the shape of ``values``, which are planned for; order of the elements is kept."""
    groups.flush(e)
    shape_bits = width(values[0].type.size)
    found, kept = groups.plan(e, shape_bits, [(value, whole(value.type)) for value in values], {op})
    nest = Nest(e, shape_bits, found.cuts | set(cut))
    nest.independent = False
    for value in kept:
        array = e.new_array(value)
        e.declare(array)
        text, _ = nest.value(value, whole(value.type))
        nest.before[nest.depth].append(f"{nest.element(array, whole(value.type))[0]} = {text};")
        e.homes[value] = array
    e.done.update(found.included)
    return nest


def atomic(e: FunctionEmitter, op: Operation) -> None:
    """``tt.atomic_rmw`` and ``tt.atomic_cas``: an exchange that is tried until nobody came between."""
    tensor = is_tensor(op.operands[0])
    groups.flush(e)
    groups.keep_loads(e, groups.depends(e, op), e.order[op])
    pointer = op.operands[0]
    kind = pointer.type.pointee
    used = bool(op.results and e.users[op.results[0]])
    lines: list[str] = []
    if tensor:
        nest = own_nest(e, op, op.operands)
        names = [nest.value(value, whole(value.type))[0] for value in op.operands[1:]]
        place = nest.address(pointer, whole(pointer.type), nest.depth)
        lines = nest.before[nest.depth]
    else:
        names = [e.scalar(value) for value in op.operands[1:]]
        place = f"AT({memory_type(kind)}, {e.scalar(pointer)})"
    mask = names[1] if op.name == "tt.atomic_rmw" and len(names) > 1 else "1"
    old = e.fresh("o")
    lines.append(f"{c_type(kind)} {old} = 0;")
    lines.append(f"if ({mask}) {{")
    exchange(e, op, kind, place, names, old, lines)
    lines.append("}")
    if not tensor:
        e.lines(lines)
        if op.results:
            e.homes[op.results[0]] = old
        return
    if used:
        result = op.results[0]
        array = e.new_array(result)
        e.declare(array)
        lines.append(f"{nest.element(array, whole(result.type))[0]} = {old};")
        e.homes[result] = array
    e.lines(nest.write())


def exchange(
    e: FunctionEmitter, op: Operation, kind: Type, place: str, names: list[str], old: str, lines: list[str]
) -> None:
    memory = memory_type(kind)
    bits = {"float": "uint32_t", "double": "uint64_t"}.get(memory, memory)
    order = ORDERS[op.attributes["order"]]
    failure = "__ATOMIC_RELAXED" if order in ("__ATOMIC_RELAXED", "__ATOMIC_RELEASE") else "__ATOMIC_ACQUIRE"
    address, seen, wanted = e.fresh("p"), e.fresh("o"), e.fresh("o")
    lines.append(f"{bits} *{address} = ({bits} *)&{place};")
    lines.append(f"{bits} {seen} = __atomic_load_n({address}, __ATOMIC_RELAXED), {wanted};")

    def decode(text: str) -> str:
        if memory in ("float", "double"):
            return f"bits_{memory}({text})"
        return from_memory(kind, text)

    def encode(text: str) -> str:
        if memory in ("float", "double"):
            return f"{memory}_bits({text})"
        return to_memory(kind, text)

    swap = f"__atomic_compare_exchange_n({address}, &{seen}, {wanted}, 0, {order}, {failure})"
    if op.name == "tt.atomic_cas":
        expected = f"({bits})({encode(names[0])})"
        lines.append(f"{wanted} = {encode(names[1])};")
        lines.append(f"while ({seen} == {expected} && !{swap}) {{}}")
    else:
        unsigned = bits if bits.startswith("u") else f"u{bits}"
        if op.attributes["operation"] not in MODIFY:
            raise Unsupported(f"line {op.line}: atomic operation '{op.attributes['operation']}'")
        text = MODIFY[op.attributes["operation"]].format(a=decode(seen), b=names[0], U=unsigned)
        if kind.is_float and op.attributes["operation"] == "fadd":
            text = f"({c_type(kind)})({text})"
        lines.append(f"do {wanted} = {encode(text)}; while (!{swap});")
    lines.append(f"{old} = {decode(seen)};")


def scan(e: FunctionEmitter, op: Operation) -> None:
    """``tt.scan``: each element is combined with the result before it."""
    axis, shape = op.attributes["axis"], op.operands[0].type.shape
    low = sum(width(extent) for extent in shape[axis + 1 :])
    high = low + width(shape[axis])
    nest = own_nest(e, op, op.operands, {low, high})
    loops = [loop for loop in nest.loops if low <= loop.low and loop.high <= high]
    reverse = bool(op.attributes.get("reverse"))
    for loop in loops:
        loop.reverse = reverse
    nest.independent = not loops or nest.loops[-1] not in loops
    arrays = [e.new_array(value) for value in op.results]
    body = nest.before[nest.depth]
    values = [nest.value(value, whole(value.type))[0] for value in op.operands]
    place = nest.number(join(whole(op.operands[0].type)))[0]
    edge = " && ".join(f"{loop.variable} == {loop.extent - 1 if reverse else 0}" for loop in loops) or "1"
    body.append(f"if ({edge}) {{")
    body += [f"{array.name}[{place}] = {value};" for array, value in zip(arrays, values, strict=False)]
    body.append("} else {")
    before = f"{place} {'+' if reverse else '-'} {1 << low}"
    old = [e.named(body, array.kind.scalar, f"{array.name}[{before}]") for array in arrays]
    results = e.combine(op.regions[0], [*old, *values], body)
    body += [f"{array.name}[{place}] = {result};" for array, result in zip(arrays, results, strict=False)]
    body.append("}")
    for value, array in zip(op.results, arrays, strict=False):
        e.declare(array)
        e.homes[value] = array
    e.lines(nest.write())


def dot(e: FunctionEmitter, op: Operation) -> None:
    """``tt.dot``: c + a @ b; float operands of 32 bits are multiplied as such whatever the input precision allows."""
    a, b, c = (e.array(value) for value in op.operands[:3])
    kind = op.results[0].type
    array = c if may_overwrite(e, op, op.operands[2], c) else e.new_array(op.results[0])
    *batch, rows, columns = kind.shape
    inner = a.kind.shape[-1]
    count = 1
    for extent in batch:
        count *= extent
    name = {"f64": "double", "i32": "int32"}.get(kind.element, "float")
    function = f"dot_{name}" if a.kind.element != "i8" else "dot_int8"
    size = kind.size
    if array is not c:
        e.declare(array)
        e.line(f"__builtin_memcpy({array.name}, {c.name}, sizeof *{array.name} * {size});")
    for number in range(count):
        e.line(
            f"{function}({rows}, {columns}, {inner}, {a.name} + {number * rows * inner}, {b.name} + {number * inner * columns}, "
            f"{array.name} + {number * rows * columns});"
        )
    if kind.element in ("f16", "bf16"):
        e.line(f"for (int j = 0; j < {size}; ++j) {array.name}[j] = round_{kind.element}({array.name}[j]);")
    e.homes[op.results[0]] = array


def may_overwrite(e: FunctionEmitter, op: Operation, value: Value, array: Array) -> bool:
    """True if an array holds a value of this block that only ``op`` still needs, and nothing else."""
    here = e.current is not None and (value in e.current.arguments or e.producers.get(value) in e.current.operations)
    only = all(user is op or user in e.done for user in e.users[value])
    return here and only and array.name in e.declared and sum(home is array for home in e.homes.values()) <= 1


def histogram(e: FunctionEmitter, op: Operation) -> None:
    """``tt.histogram``: how often each number occurs; numbers outside the result are left out."""
    source = e.array(op.operands[0])
    mask = e.array(op.operands[1]) if len(op.operands) > 1 else None
    kind = op.results[0].type
    array = e.new_array(op.results[0])
    e.declare(array)
    unsigned = f"(uint64_t){source.name}[j] < {kind.size}"
    condition = f"{unsigned} && {mask.name}[j]" if mask else unsigned
    e.line(f"for (int j = 0; j < {kind.size}; ++j) {array.name}[j] = 0;")
    e.line(f"for (int j = 0; j < {source.kind.size}; ++j) if ({condition}) ++{array.name}[{source.name}[j]];")
    e.homes[op.results[0]] = array


def message_text(text: str) -> str:
    """A C string."""
    escaped = "".join(
        f"\\{byte:03o}" if byte < 32 or byte > 126 or byte in b'"\\?' else chr(byte) for byte in text.encode()
    )
    return f'"{escaped}"'


def check(e: FunctionEmitter, op: Operation) -> None:
    """``tt.assert``: the first failure is kept, and the program ends."""
    groups.flush(e)
    condition = op.operands[0]
    statement = f"{{ runtime->fail(&failure, {message_text(op.attributes['message'])}, program_id); return; }}"
    if is_tensor(condition):
        nest = own_nest(e, op, [condition])
        name, depth = nest.value(condition, whole(condition.type))
        nest.before[depth].append(f"if (!{name}) {statement}")
        e.lines(nest.write())
    else:
        e.line(f"if (!{e.scalar(condition)}) {statement}")


def show(e: FunctionEmitter, op: Operation) -> None:
    """``tt.print``: one line an element, as on a GPU: program, index, text, value."""
    groups.flush(e)
    signed = op.attributes.get("isSigned") or [1] * len(op.operands)
    prefix = op.attributes["message"]
    if not op.operands:
        e.line(f'printf("pid (%d, %d, %d)%s\\n", program_id[0], program_id[1], program_id[2], {message_text(prefix)});')
    for number, (value, sign) in enumerate(zip(op.operands, signed, strict=False)):
        tail = f" (operand {number})" if len(op.operands) > 1 else ""
        if is_tensor(value):
            nest = own_nest(e, op, [value])
            name, _ = nest.value(value, whole(value.type))
            shape = value.type.shape
            places = [nest.number(bits)[0] for bits in whole(value.type)]
            index = "(" + ", ".join(["%d"] * len(shape)) + ")"
            nest.before[nest.depth].append(show_line(value.type, name, index, places, prefix + tail, sign, op))
            e.lines(nest.write())
        else:
            e.line(show_line(value.type, e.scalar(value), "()", [], prefix + tail, sign, op))


def show_line(kind: Type, name: str, index: str, places: list[str], prefix: str, sign: int, op: Operation) -> str:
    if kind.is_float:
        form, text = "%f", f"(double){name}"
    elif kind.is_pointer or op.attributes.get("hex"):
        form, text = f"0x%0{max(kind.bits // 4, 1)}llx", f"(unsigned long long){name}" + (
            f" & 0x{(1 << kind.bits) - 1:x}ull" if kind.bits < 64 else ""
        )  # fmt: skip
    else:
        form, text = ("%lld", f"(long long){name}") if sign else ("%llu", f"(unsigned long long){name}")
    places = ["program_id[0]", "program_id[1]", "program_id[2]", *places]
    return f'printf("pid (%d, %d, %d) idx {index}%s{form}\\n", {", ".join(places)}, {message_text(prefix)}, {text});'


def barrier(e: FunctionEmitter, op: Operation) -> None:
    """A program is one thread: what stands before has happened."""
    groups.flush(e)
    groups.keep_loads(e, set(), e.order[op])


def assume(e: FunctionEmitter, op: Operation) -> None:
    """A hint, which is not needed."""


def refuse(e: FunctionEmitter, op: Operation) -> None:
    raise Unsupported(
        f"line {op.line}: inline assembly ('{op.attributes['assembly'].strip()[:40]}') runs on the GPU that it was written for"
    )


HANDLERS = {
    "tt.atomic_rmw": atomic,
    "tt.atomic_cas": atomic,
    "tt.scan": scan,
    "tt.dot": dot,
    "tt.histogram": histogram,
    "tt.assert": check,
    "tt.print": show,
    "gpu.barrier": barrier,
    "ttg.barrier": barrier,
    "llvm.intr.assume": assume,
    "tt.elementwise_inline_asm": refuse,
}
