"""Writes the kernels of `tables/*.toml` as C++, with the signatures of the PyTorch that they are compiled against.

    python generate.py --aten <folder with ATen/ops> --output <folder> tables/*.toml

A table is a list of groups. `operators` maps an operator, "name.overload" as its functional form is called, to what `{}` in
`call` stands for; the in-place and out= forms follow from the schemas in PyTorch's headers. `op` in a call is the operator's
structured class, an iterator for those that have one; `self`, `dim` and so on are its arguments.

    iterator = "..."       for operators that PyTorch has not structured: makes the iterator, whose output is `result`
    composed = true        PyTorch's own composition of other operators serves them: their parts are routed, not they
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

from torchgen import local
from torchgen.api.types import DispatcherSignature
from torchgen.model import FunctionSchema, SchemaKind

HEAD = """// Written by src/platforms/musa/kernels/generate.py from tables/{table}.toml.
#include <ATen/TensorIterator.h>
#include <flagos_kernels.h>
{includes}
#include "bodies.h"
#include "structured.h"

namespace torch_fl::mudnn {{
namespace {{

"""


@dataclass(frozen=True)
class Operator:
    """One entry of a table, with the forms of it that this PyTorch has."""

    name: str
    base: str
    forms: tuple[FunctionSchema, ...]
    structured: str | None
    outputs: int

    @property
    def functional(self) -> FunctionSchema:
        return self.forms[0]


def schemas(aten: Path, base: str) -> list[FunctionSchema]:
    header = aten / "ATen" / "ops" / f"{base}_ops.h"
    if not header.is_file():
        raise SystemExit(f"generate.py: PyTorch has no operator {base}: there is no {header}")
    return [FunctionSchema.parse(text) for text in re.findall(r'schema_str = "(.*)";', header.read_text())]


def read_operator(aten: Path, name: str, table: Path) -> Operator:
    base = name.split(".")[0]
    all_forms = schemas(aten, base)
    functional = next((form for form in all_forms if str(form.name) == name), None)
    if functional is None:
        known = ", ".join(str(form.name) for form in all_forms)
        raise SystemExit(f"{table}: PyTorch has no operator {name}; of this name it has {known}")
    wanted = functional.signature()
    others = [form for form in all_forms if form is not functional and form.signature() == wanted]
    meta = aten / "ATen" / "ops" / f"{base}_meta.h"
    structured = "structured_" + name.replace(".", "_")
    found = meta.is_file() and re.search(rf"\b{structured} :", meta.read_text())
    return Operator(name, base, (functional, *others), structured if found else None, len(functional.returns))


def identifier(form: FunctionSchema) -> str:
    return "kernel_" + str(form.name).replace(".", "_")


def structured_body(operator: Operator, form: FunctionSchema, call: str) -> str:
    meta = f"at::meta::{operator.structured}"
    given = {
        SchemaKind.functional: "",
        SchemaKind.inplace: "(Variant::inplace, self)",
        SchemaKind.out: "(Variant::out, " + ", ".join(a.name for a in form.arguments.out) + ")",
    }[form.kind()]
    names = [a.name for a in operator.functional.arguments.flat_all]
    lines = [f"Structured<{meta}, {operator.outputs}> op{given};", f"op.meta({', '.join(names)});", f"{call};"]
    results = [f"op.finish({i})" for i in range(operator.outputs)]
    if form.kind() == SchemaKind.functional:
        value = results[0] if len(results) == 1 else f"{{{', '.join(results)}}}"
        return "\n  ".join([*lines, f"return {value};"])
    targets = ["self"] if form.kind() == SchemaKind.inplace else [a.name for a in form.arguments.out]
    value = targets[0] if len(targets) == 1 else f"{{{', '.join(targets)}}}"
    return "\n  ".join([*lines, *(f"{result};" for result in results), f"return {value};"])


def iterator_body(form: FunctionSchema, iterator: str, call: str) -> str:
    result = {SchemaKind.functional: "at::Tensor()", SchemaKind.inplace: "self", SchemaKind.out: "out"}[form.kind()]
    value = "op.output()" if form.kind() == SchemaKind.functional else result
    return f"at::Tensor result = {result};\n  auto op = {iterator};\n  {call};\n  return {value};"


def composed_body(operator: Operator, form: FunctionSchema) -> str:
    names = [a.name for a in form.arguments.flat_all if a not in form.arguments.out]
    if form.kind() == SchemaKind.out:
        name, names = f"{operator.base}_out", [a.name for a in form.arguments.out] + names
    else:
        name = str(form.name.name)
    return f"return at::compositeexplicitautograd::{name}({', '.join(names)});"


def has_composition(aten: Path, form: FunctionSchema) -> bool:
    """Whether PyTorch composes this form (and not only some other form of the operator) explicitly."""
    header = aten / "ATen" / "ops" / f"{form.name.name.base}_compositeexplicitautograd_dispatch.h"
    signature = DispatcherSignature.from_schema(form, symint=False)
    name = f"{form.name.name.base}_out" if form.kind() == SchemaKind.out else str(form.name.name)
    types = {re.sub(r"\s+", "", a.type) for a in signature.arguments()}
    for declared in re.findall(rf"TORCH_API .*[ &]{name}\((.*)\);", header.read_text()):
        if all(t in re.sub(r"\s+", "", declared) for t in types):
            return True
    return False


def write(aten: Path, table: Path) -> tuple[str, list[str]]:
    functions, entries, includes = [], [], set()
    for group in tomllib.loads(table.read_text())["group"]:
        for name, mode in group["operators"].items():
            operator = read_operator(aten, name, table)
            call = group.get("call", "{}").replace("{}", mode)
            composed, iterator = group.get("composed", False), group.get("iterator")
            if not composed and not iterator and operator.structured is None:
                raise SystemExit(f"{table}: {name} is not structured in this PyTorch; its group needs `iterator`")
            for form in operator.forms:
                if composed and not has_composition(aten, form):
                    continue
                if composed:
                    body = composed_body(operator, form)
                elif iterator:
                    body = iterator_body(form, iterator, call)
                else:
                    body = structured_body(operator, form, call)
                signature = DispatcherSignature.from_schema(form, symint=False)
                functions.append(f"{signature.decl(identifier(form))} {{\n  {body}\n}}\n")
                entries.append(f'  table.add<"{form.name}", &{identifier(form)}>({{.may_decline = {str(not composed).lower()}}});')
            part = "compositeexplicitautograd_dispatch" if composed else "meta"
            if composed or not iterator:
                includes.add(f"#include <ATen/ops/{operator.base}_{part}.h>")
    head = HEAD.format(table=table.stem, includes="\n".join(sorted(includes)))
    tail = f"}}  // namespace\n\nvoid add_{table.stem}(KernelTable& table) {{\n" + "\n".join(entries) + "\n}\n\n}  // namespace torch_fl::mudnn\n"
    return head + "\n".join(functions) + "\n" + tail, entries


def put(path: Path, text: str) -> None:
    """Leaves an unchanged file alone, so that it is not compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aten", type=Path, required=True, help="PyTorch's include folder")
    parser.add_argument("--output", type=Path, required=True, help="folder for the C++ files")
    parser.add_argument("tables", type=Path, nargs="+")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for table in arguments.tables:
        # The dispatcher's types of tensors, as PyTorch's own device kernels have them.
        with local.parametrize(use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False):
            text, entries = write(arguments.aten, table)
        put(arguments.output / f"{table.stem}.cpp", text)
        print(f"{table.stem}: {len(entries)} kernels", file=sys.stderr)
    stems = sorted(table.stem for table in arguments.tables)
    declared = "\n".join(f"void add_{stem}(KernelTable& table);" for stem in stems)
    called = "\n".join(f"  add_{stem}(table);" for stem in stems)
    put(
        arguments.output / "all_tables.cpp",
        f"// Written by src/platforms/musa/kernels/generate.py.\n#include <flagos_kernels.h>\n\n"
        f"namespace torch_fl::mudnn {{\n\n{declared}\n\nvoid add_tables(KernelTable& table) {{\n{called}\n}}\n\n"
        f"}}  // namespace torch_fl::mudnn\n",
    )


if __name__ == "__main__":
    main()
