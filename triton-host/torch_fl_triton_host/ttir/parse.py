"""From the text of a TTIR module to the model: modules, functions, regions, blocks and the frame of an operation.

What stands between an operation's name and the end of it is its form, and is read in ``forms.py`` and ``control.py``.
Reference: the MLIR language reference, and the assembly formats in the dialects' definitions of Triton 3.7.1.
"""

from __future__ import annotations

from . import control, forms
from .attributes import read_attribute, read_dictionary
from .ir import Block, Function, Module, Operation, Region, Successor, Value
from .lexer import Lexer, ParseError
from .scope import Scope


def parse(text: str) -> Module:
    """The module that ``text`` describes: the pretty or the generic form that MLIR prints.

    :raises ParseError: where the text is not what this reader knows; names the line.
    """
    return Reader(text).module()


class Reader(Scope):
    """A recursive descent over the tokens; one method for each non-terminal of the grammar."""

    def __init__(self, text: str):
        super().__init__(Lexer(text))

    def module(self) -> Module:
        self.aliases()
        wrapped = self.lexer.accept("module")
        if wrapped:
            if self.lexer.kind == "symbol":
                self.lexer.advance()
            if self.lexer.accept("attributes"):
                read_dictionary(self.lexer)
            self.lexer.expect("{")
        functions = []
        while self.lexer.at("tt.func"):
            functions.append(self.function())
        if wrapped:
            self.lexer.expect("}")
            self.skip_location()
        self.aliases()
        if self.lexer.kind != "end":
            raise self.lexer.unexpected("'tt.func' or the end of the module")
        return Module(functions)

    def aliases(self) -> None:
        """Passes over ``#name = ...``: in TTIR they are locations."""
        while self.lexer.kind == "alias":
            self.lexer.advance()
            self.lexer.expect("=")
            if self.lexer.at("loc"):
                self.skip_location()
            else:
                read_attribute(self.lexer)

    def function(self) -> Function:
        self.lexer.expect("tt.func")
        public = not self.lexer.accept("private") and (self.lexer.accept("public") or True)
        name = self.lexer.take("symbol", "a function's name")[1:].strip('"')
        self.values = {}
        arguments, attributes = [], []
        self.lexer.expect("(")
        while not self.lexer.accept(")"):
            argument = self.argument()
            self.lexer.expect(":")
            argument.type = self.type()
            attributes.append(read_dictionary(self.lexer) if self.lexer.at("{") else {})
            arguments.append(argument)
            self.skip_location()
            self.lexer.accept(",")
        results = self.types() if self.lexer.accept("->") else []
        if self.lexer.accept("attributes"):
            read_dictionary(self.lexer)
        body = self.region(arguments)
        self.skip_location()
        return Function(name, arguments, body, results, attributes, public)

    def region(self, arguments: list[Value] | None = None) -> Region:
        """``{ blocks }``; ``arguments`` are those of an entry block whose header the form leaves out."""
        self.lexer.expect("{")
        labels: dict[str, Block] = {}
        self.blocks.append(labels)
        region = Region()
        if self.lexer.kind != "block":
            entry = Block(list(arguments or []))
            region.blocks.append(entry)
            self.operations(entry)
        while self.lexer.kind == "block":
            block = self.block()
            if block in region.blocks:
                raise self.lexer.error("a block is defined twice")
            region.blocks.append(block)
            if self.lexer.accept("("):
                while not self.lexer.accept(")"):
                    argument = self.argument()
                    self.lexer.expect(":")
                    argument.type = self.type()
                    block.arguments.append(argument)
                    self.skip_location()
                    self.lexer.accept(",")
            self.lexer.expect(":")
            self.operations(block)
        self.lexer.expect("}")
        for name, block in self.blocks.pop().items():
            if block not in region.blocks:
                raise self.lexer.error(f"block {name} is not defined")
        return region

    def operations(self, block: Block) -> None:
        while self.lexer.kind in ("value", "word", "string"):
            block.operations.append(self.operation())

    def operation(self) -> Operation:
        """``%results = name form location``; defines the results."""
        line = self.lexer.line
        names = self.result_names()
        if self.lexer.kind == "string":
            operation = self.generic(self.lexer.take_string())
        else:
            name = self.lexer.take("word", "an operation")
            read = control.FORMS.get(name) or forms.FORMS.get(name)
            if read is None:
                raise ParseError(f"line {line}: operation '{name}' is not one that the host executes")
            operation = read(self, name)
        self.skip_location()
        operation.line = line
        if names and sum(count for _, count in names) != len(operation.results):
            raise ParseError(
                f"line {line}: '{operation.name}' has {len(operation.results)} results, not {sum(count for _, count in names)}"
            )
        start = 0
        for name, count in names:
            values = operation.results[start : start + count]
            for number, value in enumerate(values):
                value.name = name if count == 1 else f"{name}#{number}"
            self.define(name, values)
            start += count
        return operation

    def result_names(self) -> list[tuple[str, int]]:
        names = []
        while self.lexer.kind == "value":
            name = self.lexer.take("value", "a result")[1:]
            names.append((name, self.lexer.take_integer() if self.lexer.accept(":") else 1))
            if not self.lexer.accept(","):
                self.lexer.expect("=")
        return names

    def generic(self, name: str) -> Operation:
        """``"name"(operands)[successors] <{properties}> (regions) {attributes} : (types) -> types``."""
        operands = self.uses_in_brackets()
        successors, regions, attributes = [], [], {}
        if self.lexer.accept("["):
            while not self.lexer.accept("]"):
                successors.append(Successor(self.block()))
                self.lexer.accept(",")
        if self.lexer.accept("<"):
            attributes.update(read_dictionary(self.lexer))
            self.lexer.expect(">")
        if self.lexer.accept("("):
            while not self.lexer.accept(")"):
                regions.append(self.region())
                self.lexer.accept(",")
        if self.lexer.at("{"):
            attributes.update(read_dictionary(self.lexer))
        self.lexer.expect(":")
        _, types = self.functional_type()
        return Operation(name, operands, [Value(kind) for kind in types], attributes, regions, successors)
