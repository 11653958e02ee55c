"""Names of values and blocks while a function is read, and what every operation's form needs of the text."""

from __future__ import annotations

from .attributes import read_type, read_types
from .ir import Block, Type, Value
from .lexer import Lexer


class Scope:
    """The lexer together with the values and blocks that are in sight."""

    def __init__(self, lexer: Lexer):
        self.lexer = lexer
        self.values: dict[str, list[Value]] = {}
        self.blocks: list[dict[str, Block]] = []

    def define(self, name: str, values: list[Value]) -> None:
        """Binds ``%name``; inner regions may use a name of an outer one again."""
        self.values[name] = values

    def use(self) -> Value:
        """Reads ``%name`` or ``%name#number``, which must be defined."""
        text = self.lexer.text[1:]
        name, _, number = text.partition("#")
        values = self.values.get(name)
        if self.lexer.kind != "value" or values is None or int(number or 0) >= len(values):
            if self.lexer.kind != "value":
                raise self.lexer.unexpected("a value")
            raise self.lexer.error(f"value %{text} is not defined")
        self.lexer.advance()
        return values[int(number or 0)]

    def uses(self) -> list[Value]:
        """Values with commas between them; may be none. A comma in front of something else is taken too."""
        values = []
        while self.lexer.kind == "value":
            values.append(self.use())
            if not self.lexer.accept(","):
                break
        return values

    def uses_in_brackets(self) -> list[Value]:
        self.lexer.expect("(")
        values = self.uses()
        self.lexer.expect(")")
        return values

    def block(self) -> Block:
        """Reads ``^name``, which may come later in the region."""
        name = self.lexer.take("block", "a block")
        return self.blocks[-1].setdefault(name, Block())

    def argument(self) -> Value:
        """Reads ``%name`` without a type: the type is set by who calls."""
        name = self.lexer.take("value", "an argument")[1:]
        value = Value(Type("index"), name)
        self.define(name, [value])
        return value

    def bindings(self) -> list[tuple[Value, Value]]:
        """Reads ``(%argument = %value, ...)`` as pairs; the arguments take the values' types."""
        self.lexer.expect("(")
        pairs = []
        while not self.lexer.accept(")"):
            name = self.lexer.take("value", "an argument")[1:]
            self.lexer.expect("=")
            initial = self.use()
            pairs.append((Value(initial.type, name), initial))
            self.lexer.accept(",")
        for argument, _ in pairs:
            self.define(argument.name, [argument])
        return pairs

    def type(self) -> Type:
        return read_type(self.lexer)

    def types(self) -> list[Type]:
        return read_types(self.lexer)

    def functional_type(self) -> tuple[list[Type], list[Type]]:
        """Reads ``(types) -> types``."""
        inputs = self.types()
        self.lexer.expect("->")
        return inputs, self.types()

    def skip_location(self) -> None:
        """Passes over ``loc(...)``, if it comes next."""
        if not self.lexer.accept("loc"):
            return
        self.lexer.expect("(")
        depth = 1
        while depth:
            if self.lexer.kind == "end":
                raise self.lexer.unexpected("')'")
            depth += {"(": 1, ")": -1}.get(self.lexer.text, 0) if self.lexer.kind == "mark" else 0
            self.lexer.advance()
