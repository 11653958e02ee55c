"""Writes C++ that gives a typed kernel to every operator that this PyTorch serves on the target below autograd.

Which operators these are is read from PyTorch's native_functions.yaml, which lies in the wheel (torchgen/packaged); what
their C++ declarations are called, from its headers. Operators that this misses are boxed by their schema, so a miss costs
a little time at a call and nothing else.
"""

import argparse
import re
from pathlib import Path

ENTRY = re.compile(r"^- func: ([\w.]+)\(")
FIELD = re.compile(r"^  (\w+): *(.*)$")
DISPATCH = re.compile(r"^    ([\w, ]+):")
STRUCT = re.compile(
    r'struct TORCH_API (\w+) \{\s*using schema = ([^;]*);.*?char\* name = "aten::(\w+)";.*?char\* overload_name = "(\w*)";', re.DOTALL
)


def functions(text):
    """``{operator: {field: value, "keys": set of dispatch keys}}`` of native_functions.yaml, read line by line."""
    found, entry = {}, None
    for line in text.splitlines():
        if start := ENTRY.match(line):
            entry = found[start[1]] = {"keys": set()}
        elif entry is not None and (field := FIELD.match(line)):
            entry[field[1]] = field[2].split("#")[0].strip()
            part = field[1]
        elif entry is not None and part == "dispatch" and (keys := DISPATCH.match(line)):
            entry["keys"].update(key.strip() for key in keys[1].split(","))
    return found


def is_candidate(all_functions, operator, key):
    """The target has a kernel of its own, or PyTorch composes the operator below autograd; the library decides."""
    entry = all_functions[operator]
    if "CompositeExplicitAutograd" in entry["keys"]:
        return True
    delegate = entry.get("structured_delegate")
    if delegate in all_functions:
        entry = all_functions[delegate]
    return key in entry["keys"] or "ufunc_inner_loop" in entry and key in ("CPU", "CUDA")


def declarations(folder):
    """``{operator: (signature, C++ name, header)}``."""
    found = {}
    for header in sorted(folder.glob("*_ops.h")):
        for name, signature, operator, overload in STRUCT.findall(header.read_text()):
            found[f"{operator}.{overload}" if overload else operator] = (signature, name, header.name)
    return found


def shard(number, part):
    headers = sorted({header for _, _, header in part})
    lines = [
        '#include "typed.h"',
        *(f"#include <ATen/ops/{header}>" for header in headers),
        "namespace torch_fl::boxing {",
        f"void add_typed_{number}(KernelTable& table) {{",
        *(f"  add<at::_ops::{name}>(table);" for _, name, _ in part),
        "}",
        "}  // namespace torch_fl::boxing",
    ]
    return "\n".join(lines) + "\n"


def dealt(chosen, count, signatures):
    """Operators of one signature share a kernel's code, so they stay together: big groups first, each to the smallest shard.

    Of so many signatures, those of the most operators; the others' operators are left to be boxed by their schema.
    """
    groups = {}
    for entry in chosen:
        groups.setdefault(entry[0], []).append(entry)
    shards = [[] for _ in range(count)]
    weights = [0] * count
    for _, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))[: signatures or None]:
        smallest = weights.index(min(weights))
        shards[smallest] += group
        weights[smallest] += 10 + len(group)  # about what they cost to compile
    return shards


def all_shards(count):
    lines = ['#include "library.h"', "namespace torch_fl::boxing {"]
    lines += [f"void add_typed_{number}(KernelTable& table);" for number in range(count)]
    lines += ["void add_typed(KernelTable& table) {"]
    lines += [f"  add_typed_{number}(table);" for number in range(count)]
    return "\n".join([*lines, "}", "}  // namespace torch_fl::boxing"]) + "\n"


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    path.touch()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=Path, required=True, help="native_functions.yaml")
    parser.add_argument("--headers", type=Path, required=True, help="the folder ATen/ops")
    parser.add_argument("--key", required=True, help="dispatch key of the target: CUDA")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--signatures", type=int, default=0, help="at most so many signatures, those of the most operators; 0: all")
    arguments = parser.parse_args()
    known = functions(arguments.functions.read_text())
    declared = declarations(arguments.headers)
    chosen = sorted({declared[op] for op in known if op in declared and is_candidate(known, op, arguments.key)})
    if len(chosen) < 200:
        parser.error(
            f"{arguments.functions} names only {len(chosen)} operators with a {arguments.key} kernel that "
            f"{arguments.headers} declares; are both of one PyTorch?"
        )
    arguments.output.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(dealt(chosen, arguments.shards, arguments.signatures)):
        write(arguments.output / f"typed_{number}.cpp", shard(number, sorted(part)))
    write(arguments.output / "all_typed.cpp", all_shards(arguments.shards))


if __name__ == "__main__":
    main()
