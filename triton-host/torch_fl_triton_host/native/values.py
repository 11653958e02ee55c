"""How values are held in the C code, and which operations it is cheap to repeat."""

from __future__ import annotations

from dataclasses import dataclass

from ..ttir.ir import Dense, Operation, Type, Value
from .bits import ONE, ZERO, Bits, Index, join, split
from .elementwise import c_type, expression

#: Integer and pointer arithmetic that a second loop may compute again: cheaper than an array of the results.
REPEATABLE = {f"arith.{name}" for name in ["constant", "addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui", "minsi", "maxsi", "minui", "maxui", "cmpi", "select", "extsi", "extui", "trunci", "index_cast", "bitcast"]} | {f"tt.{name}" for name in ["make_range", "splat", "broadcast", "expand_dims", "trans", "reshape", "addptr", "int_to_ptr", "ptr_to_int", "bitcast"]} | {"ub.poison"}  # fmt: skip
#: Operations that rearrange elements, and compute nothing.
REARRANGING = {
    f"tt.{name}" for name in ["splat", "broadcast", "expand_dims", "trans", "reshape", "split", "join", "cat"]
}
#: Cheap on a few elements but not worth repeating for each row of a tile.
LIGHT = (
    REPEATABLE
    | REARRANGING
    | {"tt.load", "arith.extf", "arith.truncf", "arith.addf", "arith.subf", "arith.mulf", "arith.cmpf"}
)


@dataclass
class Array:
    """A value in memory of its own: ``name`` is a C pointer or array, row-major, of :func:`array_type`."""

    name: str
    kind: Type


def array_type(kind: Type) -> str:
    return "uint8_t" if kind.element == "i1" else c_type(kind)


def is_tensor(value: Value) -> bool:
    return bool(value.type.shape)


def is_lazy(op: Operation) -> bool:
    """True if the operation is computed element by element where its result is needed."""
    if not op.results or not is_tensor(op.results[0]):
        return False
    name = op.name
    if name in REARRANGING or name in ("arith.constant", "tt.make_range", "tt.load", "tt.gather", "ub.poison"):
        return True
    return expression(op, ["a", "b", "c"][: len(op.operands)]) is not None if len(op.operands) <= 3 else False


def children(op: Operation, result: Value, index: Index) -> list[tuple[Value, Index]]:
    """The elements of operands that the element ``index`` of a lazy operation's result is computed from."""
    name = op.name
    operand = op.operands[0] if op.operands else None
    if name == "tt.splat":
        return [(operand, ())]
    if name == "tt.broadcast":
        return [
            (
                operand,
                tuple(bits if extent > 1 else () for bits, extent in zip(index, operand.type.shape, strict=False)),
            )
        ]
    if name == "tt.expand_dims":
        axis = op.attributes["axis"]
        return [(operand, index[:axis] + index[axis + 1 :])]
    if name == "tt.trans":
        source: list[Bits] = [()] * len(index)
        for position, origin in enumerate(op.attributes["order"]):
            source[origin] = index[position]
        return [(operand, tuple(source))]
    if name == "tt.reshape":
        return [(operand, split(join(index), operand.type.shape))]
    if name == "tt.split":
        return [(operand, (*index, (ZERO if result is op.results[0] else ONE,)))]
    if name == "tt.join":
        return [(operand, index[:-1]) for operand in op.operands]
    if name == "tt.cat":
        return [
            (operand, (*index[:-1], index[-1][:-1]) if len(index) == 1 else (index[0][:-1], *index[1:]))
            for operand in op.operands
        ]
    if name == "tt.gather":
        return [(op.operands[1], index)]
    return [(operand, index if is_tensor(operand) else ()) for operand in op.operands]


def selector(op: Operation, index: Index) -> int | None:
    """The bit that tells which operand of ``tt.join`` or ``tt.cat`` an element comes from."""
    if op.name == "tt.join":
        return index[-1][0]
    return index[0][-1] if op.name == "tt.cat" else None


def splat_value(op: Operation) -> object | None:
    """The value of a constant that is the same for all elements."""
    value = op.attributes.get("value") if op.name == "arith.constant" else None
    if isinstance(value, Dense):
        return value.values[0] if value.splat else None
    return value
