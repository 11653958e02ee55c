"""The forms of operations that compute: how each is written between its name and the end of it.

One function for each family of forms; :data:`FORMS` maps an operation's name to it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from .attributes import number, read_angle, read_attribute, read_dense, read_dictionary
from .ir import Operation, Type, Value

if TYPE_CHECKING:
    from .parse import Reader

Form = Callable[["Reader", str], Operation]


def attributes(reader: Reader, found: dict[str, Any]) -> dict[str, Any]:
    """What may stand between operands and the colon: keywords, ``key = value``, ``key<words>``, a dictionary."""
    lexer = reader.lexer
    while True:
        lexer.accept(",")
        if lexer.at("{"):
            found.update(read_dictionary(lexer))
        elif lexer.kind == "word" and not lexer.at("loc"):
            key = lexer.text
            lexer.advance()
            if lexer.accept("="):
                found[key] = read_attribute(lexer)
            else:
                found[key] = read_angle(lexer) if lexer.at("<") else True
        else:
            return found


def same(reader: Reader, name: str) -> Operation:
    """``operands : type``, the type being the result's (arithmetic)."""
    operands = reader.uses()
    found = attributes(reader, {})
    reader.lexer.expect(":")
    return Operation(name, operands, [Value(reader.type())], found)


def cast(reader: Reader, name: str) -> Operation:
    """``operands : type -> type`` or ``to``."""
    operands = reader.uses()
    found = attributes(reader, {})
    reader.lexer.expect(":")
    source = reader.type()
    result = reader.type() if reader.lexer.accept("to") or reader.lexer.accept("->") else source
    return Operation(name, operands, [Value(result)], found)


def function_typed(reader: Reader, name: str) -> Operation:
    """``operands : (types) -> types``."""
    operands = reader.uses()
    found = attributes(reader, {})
    reader.lexer.expect(":")
    _, types = reader.functional_type()
    return Operation(name, operands, [Value(kind) for kind in types], found)


def keyword_first(keys: tuple[str, ...], form: Form, reader: Reader, name: str) -> Operation:
    """``word, word, operands ...``: the words become attributes (predicate, memory order, axis)."""
    found = {}
    for key in keys:
        found[key] = reader.lexer.take("word", f"the {key}")
        reader.lexer.accept(",")
    operation = form(reader, name)
    operation.attributes = {**found, **operation.attributes}
    return operation


def compare(reader: Reader, name: str) -> Operation:
    operation = keyword_first(("predicate",), same, reader, name)
    kind = operation.results[0].type
    operation.results = [Value(Type("i1", kind.shape, None, kind.ranked))]
    return operation


def select(reader: Reader, name: str) -> Operation:
    """``c, a, b : type`` or, for a tensor of conditions, ``: condition type, type``."""
    operation = same(reader, name)
    if reader.lexer.accept(","):
        operation.results = [Value(reader.type())]
    return operation


def extended(reader: Reader, name: str) -> Operation:
    """``a, b : type`` with two results: low and high half, or sum and overflow."""
    operation = same(reader, name)
    kind = operation.results[0].type
    if name == "arith.addui_extended":
        flags = reader.type() if reader.lexer.accept(",") else Type("i1", kind.shape, None, kind.ranked)
        operation.results.append(Value(flags))
    else:
        operation.results.append(Value(kind))
    return operation


def constant(reader: Reader, name: str) -> Operation:
    lexer = reader.lexer
    found = read_dictionary(lexer) if lexer.at("{") else {}
    if lexer.at("dense"):
        value, kind = read_dense(lexer)
    elif lexer.at("true") or lexer.at("false"):
        value, kind = lexer.text == "true", Type("i1")
        lexer.advance()
    else:
        text = lexer.take("number", "a number")
        lexer.expect(":")
        kind = reader.type()
        value = number(lexer, text, kind.element)
    return Operation(name, [], [Value(kind)], {**found, "value": value})


def poison(reader: Reader, name: str) -> Operation:
    """``: type``, in some versions with ``<value>`` in front."""
    if reader.lexer.at("<"):
        read_angle(reader.lexer)
    return same(reader, name)


def memory(reader: Reader, name: str) -> Operation:
    """``pointer, ... key = value : pointer type``; a load's result is what the pointer points to."""
    operation = same(reader, name)
    kind = operation.results[0].type
    if kind.pointee is None:
        raise reader.lexer.error(f"'{name}' of {kind}, which is no pointer")
    element = kind.pointee
    loaded = Type(element.element, kind.shape, element.pointee, kind.ranked)
    operation.results = [Value(loaded)] if name == "tt.load" else []
    return operation


def addptr(reader: Reader, name: str) -> Operation:
    operation = same(reader, name)
    reader.lexer.expect(",")
    reader.type()
    return operation


def unsplat(reader: Reader, name: str) -> Operation:
    operation = same(reader, name)
    operation.results = [Value(operation.results[0].type.scalar)]
    return operation


def split(reader: Reader, name: str) -> Operation:
    operation = cast(reader, name)
    operation.results.append(Value(operation.results[0].type))
    return operation


def dot(reader: Reader, name: str) -> Operation:
    """``a, b, c, inputPrecision = word : type * type -> type``."""
    operands = reader.uses()
    found = attributes(reader, {})
    reader.lexer.expect(":")
    reader.type()
    reader.lexer.expect("*")
    reader.type()
    reader.lexer.expect("->")
    return Operation(name, operands, [Value(reader.type())], found)


def dot_scaled(reader: Reader, name: str) -> Operation:
    """``a scale x, b scale y, c lhs = kind rhs = kind : type, type * type, type -> type``; scales may be absent."""
    lexer = reader.lexer
    operands, found = [], {}
    for side in ("a", "b"):
        operands.append(reader.use())
        found[f"has_{side}_scale"] = lexer.accept("scale")
        if found[f"has_{side}_scale"]:
            operands.append(reader.use())
        lexer.expect(",")
    operands.append(reader.use())
    attributes(reader, found)
    lexer.expect(":")
    for mark in ("*", "->"):
        while not lexer.accept(mark):
            reader.type()
            lexer.accept(",")
    return Operation(name, operands, [Value(reader.type())], found)


def gather(reader: Reader, name: str) -> Operation:
    """``source[indices] : (types) -> type``."""
    operands = [reader.use()]
    reader.lexer.expect("[")
    operands.append(reader.use())
    reader.lexer.expect("]")
    operation = function_typed(reader, name)
    operation.operands = operands
    return operation


def inline_assembly(reader: Reader, name: str) -> Operation:
    """``"text" {attributes} operands : types -> types``."""
    found = {"assembly": reader.lexer.take_string()}
    attributes(reader, found)
    operands = reader.uses()
    if reader.lexer.accept(":"):
        reader.types()
    reader.lexer.expect("->")
    return Operation(name, operands, [Value(kind) for kind in reader.types()], found)


def message(reader: Reader, name: str) -> Operation:
    """``"prefix" {attributes} : operands : types`` or ``condition, "message" : type`` (print, assert)."""
    operands = reader.uses()
    reader.lexer.accept(",")
    found = {"message": reader.lexer.take_string()}
    attributes(reader, found)
    while reader.lexer.accept(":"):
        if reader.lexer.kind == "value":
            operands += reader.uses()
        else:
            reader.types()
    return Operation(name, operands, [], found)


def bare(reader: Reader, name: str) -> Operation:
    """Operands and types, if any, without a result."""
    operands = reader.uses()
    found = attributes(reader, {})
    if reader.lexer.accept(":"):
        reader.types()
    return Operation(name, operands, [], found)


def bare_barrier(reader: Reader, name: str) -> Operation:
    """A name alone, or a dictionary, or ``memfence [spaces]``."""
    lexer = reader.lexer
    found = {}
    if lexer.accept("memfence"):
        found["memfence"] = read_attribute(lexer)
    if lexer.at("{"):
        found.update(read_dictionary(lexer))
    return Operation(name, [], [], found)


SAME = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "minsi",
    "maxsi",
    "minui",
    "maxui",
    "addf",
    "subf",
    "mulf",
    "divf",
    "remf",
    "negf",
    "minimumf",
    "maximumf",
    "minnumf",
    "maxnumf",
]
CASTS = [
    "extsi",
    "extui",
    "extf",
    "trunci",
    "truncf",
    "sitofp",
    "uitofp",
    "fptosi",
    "fptoui",
    "bitcast",
    "index_cast",
    "index_castui",
    "convertf",
]
MATH = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "cbrt",
    "erf",
    "erfc",
    "floor",
    "ceil",
    "round",
    "roundeven",
    "trunc",
    "absf",
    "absi",
    "copysign",
    "fma",
    "atan2",
    "powf",
    "fpowi",
    "ipowi",
    "ctlz",
    "cttz",
    "ctpop",
    "isnan",
    "isinf",
    "isfinite",
]
FORMS: dict[str, Form] = {
    **{f"arith.{name}": same for name in SAME},
    **{f"arith.{name}": cast for name in CASTS},
    **{f"math.{name}": same for name in MATH},
    **{f"tt.{name}": same for name in ("precise_sqrt", "precise_divf", "mulhiui", "clampf", "make_range")},
    **{
        f"tt.{name}": cast
        for name in [
            "int_to_ptr",
            "ptr_to_int",
            "bitcast",
            "fp_to_fp",
            "splat",
            "expand_dims",
            "reshape",
            "broadcast",
            "cat",
            "join",
            "trans",
            "histogram",
        ]
    },
    **{f"tt.{name}": partial(keyword_first, ("axis",), same) for name in ("get_program_id", "get_num_programs")},
    **{f"tt.{name}": memory for name in ("load", "store")},
    **{f"tt.{name}": message for name in ("print", "assert")},
    "arith.constant": constant,
    "arith.cmpi": compare,
    "arith.cmpf": compare,
    "arith.select": select,
    "arith.addui_extended": extended,
    "arith.mulsi_extended": extended,
    "arith.mului_extended": extended,
    "ub.poison": poison,
    "tt.addptr": addptr,
    "tt.unsplat": unsplat,
    "tt.split": split,
    "tt.dot": dot,
    "tt.dot_scaled": dot_scaled,
    "tt.gather": gather,
    "tt.extern_elementwise": function_typed,
    "tt.elementwise_inline_asm": inline_assembly,
    "tt.atomic_rmw": partial(keyword_first, ("operation", "order", "scope"), function_typed),
    "tt.atomic_cas": partial(keyword_first, ("order", "scope"), function_typed),
    "tt.reduce.return": bare,
    "tt.scan.return": bare,
    "tt.map_elementwise.return": bare,
    "tt.return": bare,
    "llvm.intr.assume": bare,
    "gpu.barrier": bare_barrier,
    "ttg.barrier": bare_barrier,
}
