"""The forms of operations that direct the flow: loops, branches, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .attributes import read_dictionary
from .forms import Form, attributes
from .ir import Operation, Region, Successor, Value

if TYPE_CHECKING:
    from .parse import Reader


def for_loop(reader: Reader, name: str) -> Operation:
    """``%i = first to limit step s iter_args(%a = %b) -> (types) : type { }``.

    Operands: first, limit, step, initial values. The body's arguments: induction variable, carried values. The
    attribute ``unsigned`` says how bounds compare.
    """
    lexer = reader.lexer
    unsigned = lexer.accept("unsigned")
    variable = reader.argument()
    lexer.expect("=")
    first = reader.use()
    lexer.expect("to")
    limit = reader.use()
    lexer.expect("step")
    step = reader.use()
    pairs, types = [], []
    if lexer.accept("iter_args"):
        pairs = reader.bindings()
        lexer.expect("->")
        types = reader.types()
    variable.type = reader.type() if lexer.accept(":") else first.type
    region = reader.region([variable, *(argument for argument, _ in pairs)])
    found = read_dictionary(lexer) if lexer.at("{") else {}
    operands = [first, limit, step, *(initial for _, initial in pairs)]
    return Operation(name, operands, [Value(kind) for kind in types], {**found, "unsigned": unsigned}, [region])


def while_loop(reader: Reader, name: str) -> Operation:
    """``(%a = %b) : (types) -> types { before } do { after }``; ``before`` ends in ``scf.condition``."""
    lexer = reader.lexer
    pairs = reader.bindings() if lexer.at("(") else []
    lexer.expect(":")
    _, types = reader.functional_type()
    before = reader.region([argument for argument, _ in pairs])
    lexer.expect("do")
    after = reader.region()
    found = {}
    if lexer.accept("attributes") or lexer.at("{"):
        found = read_dictionary(lexer)
    return Operation(name, [initial for _, initial in pairs], [Value(kind) for kind in types], found, [before, after])


def conditional(reader: Reader, name: str) -> Operation:
    """``condition -> (types) { } else { }``: two regions, the second without blocks where ``else`` is absent."""
    lexer = reader.lexer
    condition = reader.use()
    types = reader.types() if lexer.accept("->") else []
    then = reader.region()
    otherwise = reader.region() if lexer.accept("else") else Region()
    found = read_dictionary(lexer) if lexer.at("{") else {}
    for region in (then, otherwise):
        add_yield(region, "scf.yield")
    return Operation(name, [condition], [Value(kind) for kind in types], found, [then, otherwise])


def add_yield(region: Region, name: str) -> None:
    """MLIR leaves out a terminator without operands; the model has it."""
    for block in region.blocks:
        if not block.operations or block.terminator.name != name:
            block.operations.append(Operation(name, [], []))


def loop(reader: Reader, name: str) -> Operation:
    operation = for_loop(reader, name)
    add_yield(operation.regions[0], "scf.yield")
    return operation


def yields(reader: Reader, name: str) -> Operation:
    operands = reader.uses()
    if reader.lexer.accept(":"):
        reader.types()
    return Operation(name, operands, [])


def condition(reader: Reader, name: str) -> Operation:
    """``(condition) values : types``: operands are the condition, then the values."""
    operands = reader.uses_in_brackets()
    operands += reader.uses()
    if reader.lexer.accept(":"):
        reader.types()
    return Operation(name, operands, [])


def successor(reader: Reader) -> Successor:
    """``^block`` or ``^block(values : types)``."""
    target = Successor(reader.block())
    if reader.lexer.accept("("):
        target.arguments = reader.uses()
        reader.lexer.expect(":")
        reader.types()
        reader.lexer.expect(")")
    return target


def branch(reader: Reader, name: str) -> Operation:
    return Operation(name, [], [], {}, [], [successor(reader)])


def conditional_branch(reader: Reader, name: str) -> Operation:
    """``condition weights([a, b]), ^taken, ^otherwise``."""
    test = reader.use()
    found = {}
    if reader.lexer.accept("weights"):
        reader.lexer.expect("(")
        reader.lexer.expect("[")
        found["weights"] = []
        while not reader.lexer.accept("]"):
            found["weights"].append(reader.lexer.take_integer())
            reader.lexer.accept(",")
        reader.lexer.expect(")")
    reader.lexer.expect(",")
    taken = successor(reader)
    reader.lexer.expect(",")
    return Operation(name, [test], [], found, [], [taken, successor(reader)])


def call(reader: Reader, name: str) -> Operation:
    """``@function(values) : (types) -> types``."""
    callee = reader.lexer.take("symbol", "a function's name")[1:].strip('"')
    operands = reader.uses_in_brackets()
    found = attributes(reader, {"callee": callee})
    reader.lexer.expect(":")
    _, types = reader.functional_type()
    return Operation(name, operands, [Value(kind) for kind in types], found)


FORMS: dict[str, Form] = {
    "scf.for": loop,
    "scf.while": while_loop,
    "scf.if": conditional,
    "scf.yield": yields,
    "scf.condition": condition,
    "cf.br": branch,
    "cf.cond_br": conditional_branch,
    "tt.call": call,
}
