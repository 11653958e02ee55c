"""Reductions: partial results in lanes, which are combined at the end.

Along the last dimension the elements are dealt out to LANES partial results, so that the loop over lanes becomes vector
instructions; the combination is associative and commutative, as Triton requires. The order is fixed by the shape alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ttir.ir import Operation, Value
from .bits import join, whole, width
from .elementwise import c_type
from .nest import Nest
from .values import Array, array_type, is_tensor

if TYPE_CHECKING:
    from .function import FunctionEmitter

LANE_BITS = 5
#: Combinations of one operation, and the value that changes nothing.
IDENTITY = {
    "arith.addf": "-0.0f", "arith.addi": "0", "arith.mulf": "1", "arith.muli": "1", "arith.ori": "0", "arith.xori": "0",
    "arith.maxnumf": '__builtin_nanf("")', "arith.minnumf": '__builtin_nanf("")', "arith.maximumf": "-__builtin_inff()",
    "arith.minimumf": "__builtin_inff()",
}  # fmt: skip


class Reduction:
    """One ``tt.reduce`` while its group's loops are written."""

    def __init__(self, emitter: FunctionEmitter, op: Operation):
        self.emitter, self.op = emitter, op
        self.shape = op.operands[0].type.shape
        axis = op.attributes["axis"]
        self.low = sum(width(extent) for extent in self.shape[axis + 1 :])
        self.high = self.low + width(self.shape[axis])
        self.lane_bits = min(self.high, LANE_BITS) if self.low == 0 else 0
        self.cuts = {self.low, self.high, self.lane_bits}
        self.results: list[str | Array] = []

    def declare_results(self) -> None:
        for value, home in zip(self.op.results, self.results, strict=False):
            if isinstance(home, Array):
                self.emitter.declare(home)
            else:
                self.emitter.line(f"{c_type(value.type)} {home};")
            self.emitter.homes[value] = home

    def identity(self) -> str | None:
        block = self.op.regions[0].blocks[0]
        if (
            len(block.operations) == 2
            and len(self.op.operands) == 1
            and set(block.operations[0].operands) == set(block.arguments)
        ):
            return IDENTITY.get(block.operations[0].name)
        return None

    def prepare(self, nest: Nest) -> None:
        """Declares the partial results around the loops, and combines them behind."""
        loops = list(enumerate(nest.loops))
        self.kinds = [operand.type.scalar for operand in self.op.operands]
        self.chunk = [n for n, loop in loops if max(self.low, self.lane_bits) <= loop.low and loop.high <= self.high]
        inner = [n for n, loop in loops if loop.high <= self.lane_bits]
        kept = [n for n, loop in loops if loop.high <= self.low or loop.low >= self.high]
        outermost = min(self.chunk + inner, default=nest.depth)
        inside = [n for n in kept if n > outermost]
        # The partial results' own numbering: lanes lowest, then the loops that run inside the reduced ones.
        place, size = [], 1
        for number in sorted(inner + inside, reverse=True):
            place.append(f"{nest.loops[number].variable} * {size}" if size > 1 else nest.loops[number].variable)
            size *= nest.loops[number].extent
        self.partial = [self.emitter.fresh("r") for _ in self.kinds]
        self.elements = [f"{name}[{' + '.join(place) or '0'}]" for name in self.partial]
        self.declarations = [
            f"_Alignas(64) {array_type(kind)} {name}[{size}];"
            for name, kind in zip(self.partial, self.kinds, strict=False)
        ]
        if outermost < nest.depth:  # else no loop is reduced, and each copy of the innermost code has its own
            nest.before[outermost] += self.declarations
            self.declarations = []
        if self.chunk and self.identity() is not None:
            nest.before[outermost].append(f"for (int j = 0; j < {size}; ++j) {self.partial[0]}[j] = {self.identity()};")
        self.finish(nest, self.partial, self.kinds, outermost, inside)

    def body(self, nest: Nest) -> None:
        """What is done with each element."""
        e, op, elements = self.emitter, self.op, self.elements
        values = [nest.value(operand, whole(operand.type))[0] for operand in op.operands]
        body = nest.before[nest.depth]
        body += self.declarations
        if not self.chunk:
            body += [f"{element} = {value};" for element, value in zip(elements, values, strict=False)]
        elif self.identity() is not None:
            results = e.combine(op.regions[0], [*elements, *values], body)
            body += [f"{element} = {result};" for element, result in zip(elements, results, strict=False)]
        else:
            first = e.fresh("t")
            body.append(f"const _Bool {first} = !({' | '.join(nest.loops[n].variable for n in self.chunk)});")
            old = [e.named(body, kind, element) for kind, element in zip(self.kinds, elements, strict=False)]
            results = e.combine(op.regions[0], [*old, *values], body)
            body += [
                f"{element} = {first} ? {value} : {result};"
                for element, value, result in zip(elements, values, results, strict=False)
            ]

    def finish(self, nest: Nest, partial: list[str], kinds: list, outermost: int, inside: list[int]) -> None:
        """Combines the lanes and writes the results."""
        e, op = self.emitter, self.op
        lines = nest.after[outermost]
        lanes = 1 << self.lane_bits
        opened = 0
        place, size = [], lanes
        for number in reversed(inside):
            place.append(f"{nest.loops[number].variable} * {size}")
            size *= nest.loops[number].extent
        for number in inside:
            loop = nest.loops[number]
            lines.append(f"for (int {loop.variable} = 0; {loop.variable} < {loop.extent}; ++{loop.variable}) {{")
            opened += 1
        base = " + ".join(place) or "0"
        if lanes > 1:
            lines.append(f"for (int s = {lanes // 2}; s > 0; s /= 2) for (int j = 0; j < s; ++j) {{")
            left = [e.named(lines, kind, f"{name}[{base} + j]") for name, kind in zip(partial, kinds, strict=False)]
            right = [
                e.named(lines, kind, f"{name}[{base} + j + s]") for name, kind in zip(partial, kinds, strict=False)
            ]
            for name, result in zip(partial, e.combine(op.regions[0], [*left, *right], lines), strict=False):
                lines.append(f"{name}[{base} + j] = {result};")
            lines.append("}")
        index = join(whole(op.operands[0].type))
        bits = tuple(bit for bit in index if not self.low <= bit < self.high)
        for value, name in zip(op.results, partial, strict=False):
            home = self.result_home(value)
            if isinstance(home, Array):
                lines.append(f"{home.name}[{nest.number(bits)[0]}] = {name}[{base}];")
            else:
                lines.append(f"{home} = {name}[{base}];")
            self.results.append(home)
        lines.extend("}" * opened)

    def result_home(self, value: Value) -> str | Array:
        return self.emitter.new_array(value) if is_tensor(value) else self.emitter.fresh("s")
