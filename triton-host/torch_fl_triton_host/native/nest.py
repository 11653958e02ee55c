"""Loops over the elements of one shape, and the values computed in them.

Each value is computed in the outermost loop that knows its index, so that what does not depend on the inner loops is outside
them. ``before[k]`` runs inside ``k`` loops, ahead of the next loop; ``after[k]`` runs when that loop has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ..ttir.ir import Operation, Value
from .bits import ONE, ZERO, Bits, Index, join
from .elementwise import c_type, expression, from_memory, literal, memory_type
from .sums import Sum, times
from .values import Array, array_type, children, selector, splat_value

if TYPE_CHECKING:
    from .function import FunctionEmitter


#: Functions worth a loop of vector instructions even where elements are not neighbours.
VECTOR_CALLS = (
    "expf(",
    "logf(",
    "sinf(",
    "cosf(",
    "tanhf(",
    "erff(",
    "powf(",
    "exp2f(",
    "log2f(",
    "exp(",
    "log(",
    "tanf(",
)


@dataclass
class Loop:
    """One loop: bits ``low`` to ``high`` (excluded) of the group's number."""

    low: int
    high: int
    variable: str
    reverse: bool = False

    @property
    def extent(self) -> int:
        return 1 << (self.high - self.low)


@dataclass
class Split:
    """A loop that is cut in two at the limit that ``lines`` compute.

    ``first`` is the code up to there, for steps of one element if ``units`` hold; ``other`` is the same for any steps.
    ``rest`` is false if nothing is left to do behind the limit.
    """

    loop: int
    lines: list[str]
    units: list[str]
    first: list[list[str]]
    other: list[list[str]]
    rest: bool


class Nest:
    """The loops of one group; ``cuts`` are the positions between bits at which a loop ends."""

    def __init__(self, emitter: FunctionEmitter, size_bits: int, cuts: set[int]):
        self.emitter = emitter
        edges = sorted({0, size_bits} | {cut for cut in cuts if 0 < cut < size_bits}, reverse=True)
        self.loops = [Loop(low, high, emitter.fresh("i")) for high, low in pairwise(edges)]
        self.before: list[list[str]] = [[] for _ in range(len(self.loops) + 1)]
        self.after: list[list[str]] = [[] for _ in range(len(self.loops) + 1)]
        self.memo: dict[tuple[Value, Index], tuple[str, int]] = {}
        self.sums: dict[tuple[Value, Index], Sum] = {}
        self.independent = True
        self.split: Split | None = None
        #: Symbols that are steps of the innermost loop, found while addresses are written, and those taken to be 1.
        self.steps: dict[str, None] = {}
        self.units: set[str] = set()
        #: The loop before whose limit no remainder wraps, while code for that is written; the limits that make it so.
        self.assumed: int | None = None
        self.wraps: dict[str, str] = {}
        self.remainders = False

    @property
    def depth(self) -> int:
        return len(self.loops)

    def bind(self, kind: str, text: str, depth: int) -> tuple[str, int]:
        """Gives an expression a name, computed inside ``depth`` loops."""
        if text.replace("_", "").isalnum():
            return text, depth
        name = self.emitter.fresh("t")
        self.before[depth].append(f"const {kind} {name} = {text};")
        return name, depth

    def position(self, bits: Bits) -> tuple[dict[int, int], int]:
        """A number as loop variables times powers of two, and a constant."""
        factors: dict[int, int] = {}
        constant = 0
        for place, bit in enumerate(bits):
            if bit == ONE:
                constant += 1 << place
            if bit < 0:
                continue
            for number, loop in enumerate(self.loops):
                if loop.low == bit:
                    factors[number] = factors.get(number, 0) + (1 << place)
        return factors, constant

    def number(self, bits: Bits) -> tuple[str, int]:
        """A number as a C expression, and the depth at which it is known."""
        factors, constant = self.position(bits)
        parts = [
            self.loops[loop].variable if factor == 1 else f"{self.loops[loop].variable} * {factor}"
            for loop, factor in factors.items()
        ]
        if constant or not parts:
            parts.append(str(constant))
        return " + ".join(parts), max((loop + 1 for loop in factors), default=0)

    def element(self, array: Array, index: Index) -> tuple[str, int]:
        """An element of an array that holds a value."""
        place, depth = self.number(join(index))
        return f"{array.name}[{place}]", depth

    def value(self, value: Value, index: Index) -> tuple[str, int]:
        """The name of an element of a value, and the depth at which it is known."""
        key = (value, index)
        if key not in self.memo:
            self.memo[key] = self.compute(value, index)
        return self.memo[key]

    def compute(self, value: Value, index: Index) -> tuple[str, int]:
        home = self.emitter.homes.get(value)
        kind = c_type(value.type)
        if isinstance(home, Array):
            return self.bind(kind, *self.element(home, index))
        if home is not None:
            return home, 0
        op = self.emitter.producer(value)
        if op.name == "tt.load":
            return self.load(op, index)
        if op.name == "arith.constant":
            single = splat_value(op)
            if single is not None:
                return literal(value.type.scalar, single), 0
            return self.bind(kind, *self.element(self.emitter.constant_array(op), index))
        if op.name == "ub.poison":
            return "0", 0
        if op.name == "tt.make_range":
            place, depth = self.number(index[0])
            return self.bind(kind, f"{op.attributes['start']} + {place}", depth)
        if op.name == "tt.gather":
            return self.gather(op, index)
        parts = [self.value(*child) for child in children(op, value, index)]
        depth = max((depth for _, depth in parts), default=0)
        bit = selector(op, index)
        if bit is not None:
            if bit in (ZERO, ONE):
                return parts[0 if bit == ZERO else 1]
            place, known = self.number((bit,))
            return self.bind(kind, f"({place}) ? {parts[1][0]} : {parts[0][0]}", max(depth, known))
        text = expression(op, [text for text, _ in parts])
        if text is None:  # an operation that only rearranges
            return parts[0]
        return self.bind(kind, text, depth)

    def gather(self, op: Operation, index: Index) -> tuple[str, int]:
        source, axis = self.emitter.homes[op.operands[0]], op.attributes["axis"]
        assert isinstance(source, Array)
        chosen, depth = self.value(op.operands[1], index)
        shape = op.operands[0].type.shape
        stride = 1
        parts = []
        for dimension in range(len(shape) - 1, -1, -1):
            if dimension == axis:
                parts.append(f"(int64_t){chosen} * {stride}")
            else:
                place, known = self.number(index[dimension])
                parts.append(f"({place}) * {stride}")
                depth = max(depth, known)
            stride *= shape[dimension]
        return self.bind(c_type(op.results[0].type), f"{source.name}[{' + '.join(parts)}]", depth)

    # Addresses

    def sum(self, value: Value, index: Index) -> Sum:
        """A number that serves as an address, taken apart into a sum.

        Numbers of 32 bits are added in 64: an address that depends on their wrapping would lie outside any tensor.
        """
        key = (value, index)
        if key not in self.sums:
            self.sums[key] = self.take_apart(value, index)
        return self.sums[key]

    def take_apart(self, value: Value, index: Index) -> Sum:
        op = self.emitter.producer(value) if value not in self.emitter.homes else None
        result = Sum()
        name = op.name if op else ""
        if name == "arith.constant" and splat_value(op) is not None:
            result.terms.append((str(int(splat_value(op))), 0))
        elif name == "tt.make_range":
            factors, constant = self.position(index[0])
            result.factors = {loop: [(factor, "")] for loop, factor in factors.items()}
            result.terms.append((str(op.attributes["start"] + constant), 0))
        elif name in ("arith.addi", "arith.subi", "tt.addptr"):
            first, second = (self.sum(*child) for child in children(op, value, index))
            result.add(first)
            size = op.results[0].type.pointee.bytes if name == "tt.addptr" else 1
            result.add(second, (-1 if name == "arith.subi" else size, ""))
        elif (
            name == "arith.muli"
            and self.product(op, value, index, result)
            or name == "arith.remsi"
            and self.remainder(op, value, index, result)
        ):
            pass
        elif name in (
            "tt.splat",
            "tt.broadcast",
            "tt.expand_dims",
            "tt.trans",
            "tt.reshape",
            "arith.extsi",
            "arith.index_cast",
        ):
            ((operand, inner),) = children(op, value, index)
            if operand.type.element == "i1":
                result.terms.append(self.opaque(value, index))
            else:
                result.add(self.sum(operand, inner))
        else:
            result.terms.append(self.opaque(value, index))
        return result

    def opaque(self, value: Value, index: Index) -> tuple[str, int]:
        text, depth = self.value(value, index)
        return f"(int64_t){text}", depth

    def remainder(self, op: Operation, value: Value, index: Index, result: Sum) -> bool:
        """Numbers in a row modulo a number: still in a row, up to where they wrap; that becomes a limit of the loop."""
        dividend, divisor = (self.sum(*child) for child in children(op, value, index))
        row = {n: dividend.whole(n) for n in dividend.factors}
        if divisor.factors or any(depth for _, depth in divisor.terms) or not row:
            return False
        self.remainders = True
        split = self.assumed
        if split is None or any(depth > split for _, depth in dividend.terms):
            return False
        inner = {n: factor for n, factor in row.items() if n >= split}
        if len(inner) != self.depth - split or any(factor != 1 << self.loops[n].low for n, factor in inner.items()):
            return False
        outer = [
            times(self.loops[n].variable, one)
            for n, factors in dividend.factors.items()
            if n < split
            for one in factors
        ]
        first = " + ".join([*(term for term, _ in dividend.terms), *outer])
        modulus = " + ".join(term for term, _ in divisor.terms)
        name = self.emitter.fresh("w")
        self.before[split].append(f"const int64_t {name} = remsi64({first}, {modulus});")
        self.wraps[f"{modulus} - {name}"] = f"{name} >= 0"
        result.terms.append((name, split))
        result.factors = {n: [(factor, "")] for n, factor in inner.items()}
        return True

    def product(self, op: Operation, value: Value, index: Index, result: Sum) -> bool:
        """A product with a number that no loop changes."""
        sides = children(op, value, index)
        for (left, left_index), (right, right_index) in (sides, sides[::-1]):
            scale = self.sum(left, left_index)
            if not scale.factors and all(depth == 0 for _, depth in scale.terms):
                literals = [term for term, _ in scale.terms]
                if all(term.lstrip("-").isdigit() for term in literals):
                    factor = (sum(map(int, literals)), "")
                else:
                    factor = (1, f"({' + '.join(literals)})")
                result.add(self.sum(right, right_index), factor)
                return True
        return False

    def address(self, value: Value, index: Index, depth: int) -> str:
        """An lvalue for what the pointer ``value`` points to, for use inside ``depth`` loops."""
        pointee = memory_type(value.type.pointee)
        size = value.type.pointee.bytes
        parts = self.sum(value, index)
        base = self.known_address(parts, depth)
        if not depth:
            return f"AT({pointee}, {base})"
        loop = depth - 1
        factors = parts.factors.get(loop, [])
        if depth == self.depth and len(factors) == 1 and factors[0][0] == size and factors[0][1]:
            self.steps[factors[0][1]] = None
            if factors[0][1] in self.units:
                factors = [(size, "")]
        here = [term for term, known in parts.terms if known == depth]
        if not here and factors and not any(symbol for _, symbol in factors):
            step = sum(number for number, _ in factors)
            if step % size == 0:
                step //= size
                variable = self.loops[loop].variable
                return f"(({pointee} *){base})[{variable if step == 1 else f'{variable} * INT64_C({step})'}]"
        here += [times(self.loops[loop].variable, factor) for factor in factors]
        return f"*({pointee} *)({' + '.join([base, *here])})"

    def known_address(self, parts: Sum, depth: int) -> str:
        """A ``char *`` of all that is known outside the innermost of ``depth`` loops."""
        base = ""
        for level in range(max(depth, 1)):
            added = [term for term, known in parts.terms if known == level and term != "0"]
            if level:
                added += [times(self.loops[level - 1].variable, factor) for factor in parts.factors.get(level - 1, [])]
            if depth == 0:
                return " + ".join(added) or "0"
            if level == 0:
                base = f"(char *)(uintptr_t)({' + '.join(['address_offset', *added])})"
            elif added:
                base = f"{base} + ({' + '.join(added)})"
            else:
                continue
            name = self.emitter.fresh("p")
            self.before[level].append(f"char *{name} = {base};")
            base = name
        return base

    def depth_of(self, value: Value, index: Index) -> int:
        parts = self.sum(value, index)
        return max([depth for _, depth in parts.terms] + [loop + 1 for loop in parts.factors], default=0)

    def load(self, op: Operation, index: Index) -> tuple[str, int]:
        pointer, mask, other = (op.operands + [None, None])[:3]
        kind = op.results[0].type
        indices = [i for _, i in children(op, op.results[0], index)]
        depth = self.depth_of(pointer, indices[0])
        condition, known = self.value(mask, indices[1]) if mask else ("1", 0)
        depth = max(depth, known)
        fallback = "0"
        if other is not None:
            fallback, known = self.value(other, indices[2])
            depth = max(depth, known)
        text = from_memory(kind, self.address(pointer, indices[0], depth))
        if condition in ("0", "false"):
            return fallback, depth
        if condition != "1":
            text = f"{condition} ? {text} : {fallback}"
        name = self.emitter.fresh("t")
        self.before[depth].append(f"const {c_type(kind)} {name} = {text};")
        return name, depth

    # Text

    def write(self) -> list[str]:
        """The loops as C text, in braces of their own."""
        return ["{", *self.level(0), "}"]

    def level(self, depth: int) -> list[str]:
        lines = list(self.before[depth])
        if depth < self.depth:
            loop = self.loops[depth]
            variable = loop.variable
            independent = ["INDEPENDENT"] if depth == self.depth - 1 and self.independent else []
            if self.split is not None and self.split.loop == depth:
                lines += self.cut_loop(self.split, loop, independent)
            elif loop.reverse:
                lines += [*independent, f"for (int {variable} = {loop.extent - 1}; {variable} >= 0; --{variable}) {{"]
                lines += [*self.level(depth + 1), "}"]
            else:
                lines += [*independent, f"for (int {variable} = 0; {variable} < {loop.extent}; ++{variable}) {{"]
                lines += [*self.level(depth + 1), "}"]
        return lines + self.after[depth]

    def cut_loop(self, split: Split, loop: Loop, independent: list[str]) -> list[str]:
        variable = loop.variable
        before_limit = [*independent, f"for (; {variable} < (int)limit; ++{variable}) {{"]
        lines = ["{", *split.lines, f"int {variable} = 0;"]
        if split.units:
            lines.append(f"if ({' & '.join(f'({symbol} == 1)' for symbol in split.units)})")
        lines += ["{", *before_limit, *self.inside(split.loop + 1, split.first), "}", "}"]
        if split.units:
            short = (
                ["SCALAR;"]
                if not any(call in text for level in split.other for text in level for call in VECTOR_CALLS)
                else []
            )
            lines += ["else {", *before_limit, *short, *self.inside(split.loop + 1, split.other), "}", "}"]
        if split.rest:
            lines += [
                f"for (; {variable} < {loop.extent}; ++{variable}) {{",
                "SCALAR;",
                *self.level(split.loop + 1),
                "}",
            ]
        return [*lines, "}"]

    def inside(self, depth: int, code: list[list[str]]) -> list[str]:
        """The loops inside ``depth`` loops with other code in them."""
        general = self.before
        self.before = [*general[:depth], *code]
        lines = self.level(depth)
        self.before = general
        return lines

    def again(
        self, split: int, assumed: list[tuple[Value, Index]], units: set[str], fill: Callable[[], None]
    ) -> list[list[str]]:
        """The code inside loop ``split`` written anew where the masks ``assumed`` hold and ``units`` are 1."""
        kept, memo, sums = self.before[split + 1 :], self.memo, self.sums
        self.sums = {}
        self.memo = {key: place for key, place in memo.items() if place[1] <= split} | {
            mask: ("1", 0) for mask in assumed
        }
        self.before[split + 1 :] = [[] for _ in kept]
        self.units, self.assumed = units, split
        fill()
        first, self.before[split + 1 :] = self.before[split + 1 :], kept
        self.memo, self.sums, self.units, self.assumed = memo, sums, set(), None
        return first


def declare(array: Array) -> str:
    return f"_Alignas(64) {array_type(array.kind)} {array.name}[{array.kind.size}];"
