"""One function of Triton IR as one C function: its state, and the operations in the order of the text."""

from __future__ import annotations

from ..ttir.ir import Block, Function, Module, Operation, Region, Type, Value
from . import control, effects, groups
from .elementwise import c_type, expression, from_memory, literal, memory_type, to_memory
from .nest import declare
from .unsupported import Unsupported
from .values import Array, array_type, is_lazy, is_tensor


class FunctionEmitter:
    """Emits C text into ``text``.

    ``homes`` says where a computed value is (a name, or an array), ``producers`` which operation computes one that is not;
    ``done`` holds operations that need not be looked at again.
    """

    def __init__(self, module: Module, function: Function, names: dict[str, str], constants: list[str]):
        self.module, self.function, self.names, self.constants = module, function, names, constants
        self.text: list[str] = []
        self.homes: dict[Value, str | Array] = {}
        self.producers: dict[Value, Operation] = {}
        self.users: dict[Value, list[Operation]] = {}
        self.order: dict[Operation, int] = {}
        self.done: set[Operation] = set()
        self.loads: dict[Operation, None] = {}
        self.repeatable: dict[Value, bool] = {}
        self.declared: set[str] = set()
        self.group: groups.Group | None = None
        self.count = 0
        self.current: Block | None = None
        for number, op in enumerate(function.body.walk()):
            self.order[op] = number
            used = [*op.operands, *(value for successor in op.successors for value in successor.arguments)]
            for value in used:
                self.users.setdefault(value, []).append(op)
            for value in op.results:
                self.producers[value] = op
                self.users.setdefault(value, [])
        for region in self.regions(function.body):
            for block in region.blocks:
                for argument in block.arguments:
                    self.users.setdefault(argument, [])

    def regions(self, region: Region) -> list[Region]:
        return [region, *(inner for op in region.walk() for inner in op.regions)]

    # Names and text

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, text: str) -> None:
        self.text.append(text)

    def lines(self, text: list[str]) -> None:
        self.text.extend(text)

    def new_array(self, value: Value) -> Array:
        return Array(self.fresh("a"), value.type)

    def declare(self, array: Array) -> None:
        self.declared.add(array.name)
        self.line(declare(array))

    def named(self, lines: list[str], kind: Type, text: str) -> str:
        name = self.fresh("t")
        lines.append(f"const {c_type(kind)} {name} = {text};")
        return name

    def constant_array(self, op: Operation) -> Array:
        """A table of a constant's elements, outside the function."""
        array = self.homes.get(op.results[0])
        if not isinstance(array, Array):
            kind = op.results[0].type
            array = Array(self.fresh(f"{self.names[self.function.name]}_c"), kind)
            values = ", ".join(literal(kind.scalar, value) for value in op.attributes["value"].values)
            self.constants.append(f"static const {array_type(kind)} {array.name}[{kind.size}] = {{{values}}};")
            self.homes[op.results[0]] = array
        return array

    # Values

    def producer(self, value: Value) -> Operation:
        return self.producers[value]

    def scalar(self, value: Value) -> str:
        """The name of a scalar."""
        if value not in self.homes:
            groups.flush(self)
        home = self.homes[value]
        assert isinstance(home, str)
        return home

    def array(self, value: Value) -> Array:
        """A tensor in an array; computes it if it is not there yet."""
        if value not in self.homes:
            groups.flush(self)
        if value in self.homes:
            home = self.homes[value]
        else:
            again = groups.repeatable(self, value)
            groups.materialise(self, [value])
            # What can be computed anew is better computed in other loops than read there.
            home = self.homes.pop(value) if again else self.homes[value]
        assert isinstance(home, Array)
        return home

    def combine(self, region: Region, arguments: list[str], lines: list[str]) -> list[str]:
        """Writes a region of scalars for these arguments; returns what it gives back."""
        block = region.blocks[0]
        names = dict(zip(block.arguments, arguments, strict=False))
        for op in block.operations[:-1]:
            if op.name == "arith.constant":
                names[op.results[0]] = literal(op.results[0].type, op.attributes["value"])
                continue
            operands = [names.get(value) or self.scalar(value) for value in op.operands]
            if op.name == "tt.call":
                control.call_scalars(self, op, operands, names, lines)
                continue
            text = expression(op, operands)
            if text is None:
                raise Unsupported(f"line {op.line}: {op.name} inside a reduction or scan")
            names[op.results[0]] = self.named(lines, op.results[0].type, text)
        return [names.get(value) or self.scalar(value) for value in block.terminator.operands]

    # Operations

    def block(self, block: Block) -> None:
        """All operations of a block but its terminator, then what others still need of them."""
        outer, self.loads = self.loads, {}
        for op in block.operations[:-1]:
            self.current = block
            self.operation(op)
        groups.flush(self)
        self.current = block
        self.loads = outer

    def operation(self, op: Operation) -> None:
        if is_lazy(op):
            if op.name == "tt.load":
                self.loads[op] = None
        elif op.name in ("tt.store", "tt.reduce") and is_tensor(op.operands[0]):
            groups.add_sink(self, op, op.operands[0].type.shape)
        else:
            handler = control.HANDLERS.get(op.name) or effects.HANDLERS.get(op.name)
            if handler is not None:
                handler(self, op)
            else:
                self.scalar_operation(op)
            self.done.add(op)

    def scalar_operation(self, op: Operation) -> None:
        """An operation on scalars, written where it stands."""
        kind = op.results[0].type if op.results else None
        if op.name == "arith.constant":
            self.homes[op.results[0]] = literal(kind, op.attributes["value"])
            return
        if op.name == "ub.poison":
            self.homes[op.results[0]] = "0"
            return
        if op.name == "tt.unsplat":
            self.homes[op.results[0]] = self.named(self.text, kind, f"{self.array(op.operands[0]).name}[0]")
            return
        if op.name in ("tt.get_program_id", "tt.get_num_programs"):
            source = "program_id" if op.name.endswith("id") else "programs"
            self.homes[op.results[0]] = self.named(self.text, kind, f"{source}[{'xyz'.index(op.attributes['axis'])}]")
            return
        names = [self.scalar(value) for value in op.operands]
        if op.name == "tt.load":
            groups.flush(self)
            text = from_memory(kind, f"AT({memory_type(kind)}, {names[0]})")
            if len(names) > 1:
                text = f"{names[1]} ? {text} : {names[2] if len(names) > 2 else '0'}"
        elif op.name == "tt.store":
            groups.flush(self)
            groups.keep_loads(self, set(), self.order[op])
            pointee = op.operands[0].type.pointee
            condition = f"if ({names[2]}) " if len(names) > 2 else ""
            self.line(f"{condition}AT({memory_type(pointee)}, {names[0]}) = {to_memory(pointee, names[1])};")
            return
        elif op.name in ("tt.splat", "tt.broadcast", "tt.reshape"):
            text = names[0]
        else:
            text = expression(op, names) if op.results else None
        if text is None or kind.shape:
            raise Unsupported(f"line {op.line}: {op.name} has no C form")
        self.homes[op.results[0]] = self.named(self.text, kind, text)

    # The function

    def parameters(self) -> list[str]:
        """The C parameters of a function that a kernel calls: values, then where results go."""
        texts = ["const int64_t address_offset", "const int32_t *program_id", "const int32_t *programs"]
        for argument in self.function.arguments:
            name = self.fresh("v")
            if is_tensor(argument):
                self.homes[argument] = Array(name, argument.type)
                texts.append(f"const {array_type(argument.type)} *{name}")
            else:
                self.homes[argument] = name
                texts.append(f"const {c_type(argument.type)} {name}")
        texts += [f"{array_type(kind)} *result{number}" for number, kind in enumerate(self.function.results)]
        return texts

    def body(self) -> None:
        control.graph(self, self.function.body)
