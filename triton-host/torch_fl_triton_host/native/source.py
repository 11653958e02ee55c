"""The C file of a kernel: the parts that it needs, its functions, and the loop over the grid."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ..ttir.ir import Function, Module, Type
from .elementwise import NARROW, c_type
from .function import FunctionEmitter
from .unsupported import Unsupported

#: What the process reads and sets in a loaded kernel.
STATE = """__attribute__((visibility("default"))) struct failure failure;
__attribute__((visibility("default"))) const struct runtime *runtime;"""
#: Atomic operations whose result does not depend on the order of programs, if nobody looks at the old value.
ORDERLESS = ("add", "and", "or", "xor", "max", "min", "umax", "umin")


@cache
def part(name: str) -> str:
    """A C text that lies beside this file."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def emit(module: Module) -> str:
    """The C text of a kernel module.

    :raises Unsupported: where an operation has no C form; the message names its line in the IR.
    """
    names = {function.name: f"function{number}" for number, function in enumerate(module.functions)}
    constants: list[str] = []
    bodies: list[str] = []
    for function in ordered(module):
        emitter = FunctionEmitter(module, function, names, constants)
        if function.public:
            head = [
                "const int64_t *slots",
                "const int64_t address_offset",
                "const int32_t *program_id",
                "const int32_t *programs",
            ]
            loads = []
            for number, argument in enumerate(function.arguments):
                emitter.homes[argument] = f"v{number}"
                loads.append(f"const {c_type(argument.type)} v{number} = {from_slot(argument.type, number)};")
            emitter.count = len(function.arguments)
            emitter.lines(loads)
            name = "program"
        else:
            head = emitter.parameters()
            name = names[function.name]
        emitter.body()
        bodies += [f"static void {name}({', '.join(head)}) {{", *emitter.text, "}"]
    body = "\n".join(bodies)
    parts = [part("prelude.h")]
    elements = {
        value.type.element for f in module.functions for op in f.body.walk() for value in (*op.operands, *op.results)
    }
    elements |= {
        v.type.pointee.element for f in module.functions for op in f.body.walk() for v in op.operands if v.type.pointee
    }
    if any(element in NARROW and element.startswith("f8") for element in elements):
        parts.append(part("float8.h"))
    parts.append(part("mathematics.h"))
    if "dot_" in body:
        parts.append(part("dot.h"))
    if "printf(" in body:
        parts.append("#include <stdio.h>")
    parts += [part("runtime.h"), STATE, *constants, body, f"#define SERIAL {int(is_serial(module))}", part("launch.h")]
    return "\n".join(parts)


def runtime_source() -> str:
    """The C text of the library that runs kernels."""
    return part("runtime.c").replace('#include "runtime.h"', part("runtime.h"))


def from_slot(kind: Type, number: int) -> str:
    """An argument from its slot of eight bytes."""
    slot = f"slots[{number}]"
    if kind.element == "f32":
        return f"bits_float((uint32_t){slot})"
    if kind.element == "f64":
        return f"bits_double((uint64_t){slot})"
    if kind.element in NARROW:
        return f"from_{NARROW[kind.element][1]}(({NARROW[kind.element][0]}){slot})"
    return f"{slot} & 1" if kind.element == "i1" else f"({c_type(kind)}){slot}"


def ordered(module: Module) -> list[Function]:
    """The kernel last, each function behind those that it calls.

    :raises Unsupported: if functions call each other in a circle.
    """
    found: list[Function] = []
    open_: set[str] = set()

    def add(function: Function) -> None:
        if function in found:
            return
        if function.name in open_:
            raise Unsupported(f"function {function.name} calls itself")
        open_.add(function.name)
        for op in function.body.walk():
            if op.name == "tt.call":
                add(module.function(op.attributes["callee"]))
        found.append(function)

    add(module.kernel)
    return found


def is_serial(module: Module) -> bool:
    """True if programs must run in order so that results do not depend on how threads meet."""
    for function in module.functions:
        used = {value for op in function.body.walk() for value in op.operands}
        for op in function.body.walk():
            if op.name in ("tt.atomic_cas", "tt.print"):
                return True
            if op.name == "tt.atomic_rmw" and (
                op.attributes["operation"] not in ORDERLESS or any(result in used for result in op.results)
            ):
                return True
    return False
