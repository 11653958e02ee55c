"""Places in FlagGems' source that ask for a certain device, found without running it.

A guard that refuses (`assert x.is_cuda`, `if x.device.type != "cuda": raise`) makes an operator useless on any other
device; one that chooses between ways may do so. Helpers are followed one level down.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .evidence import Guard

FOLDERS = ("", "ops", "fused", "utils", "runtime")  # of the package: what its table leads to; no vendor's own versions
DEVICES = ("cuda", "npu", "musa", "xpu", "mlu")


@dataclass
class Source:
    """One function of a module."""

    name: str
    file: Path
    node: ast.FunctionDef
    names: dict[str, tuple[str, str]] = field(default_factory=dict)  # what the module imports: name -> (module, name)


def guards_of(function: str, package: Path) -> list[Guard]:
    """The guards of a FlagGems function and of the helpers that it calls.

    Args:
        function: its name, as FlagGems' table has it.
        package: the folder ``flag_gems``.
    """
    start = next((s for s in sources(package).get(function, [])), None)
    if start is None:
        return []
    found = in_function(start, function, package, "")
    for helper in helpers(start, package):
        found += in_function(helper, function, package, helper.name)
    return found


@cache
def sources(package: Path) -> dict[str, list[Source]]:
    """All functions at the top of the package's modules: those of ``ops`` before the others."""
    result: dict[str, list[Source]] = {}
    files = [file for folder in FOLDERS for file in sorted((package / folder).glob("*.py"))]
    for file in sorted(files, key=lambda file: file.parent.name != "ops"):
        tree = ast.parse(file.read_text("utf-8"), str(file))
        names = imported(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                result.setdefault(node.name, []).append(Source(node.name, file, node, names))
            if isinstance(node, ast.ClassDef):  # a function is often `Class.apply`
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        source = Source(f"{node.name}.{method.name}", file, method, names)
                        result.setdefault(node.name, []).append(source)
    return result


def imported(tree: ast.Module) -> dict[str, tuple[str, str]]:
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def helpers(source: Source, package: Path) -> list[Source]:
    """Functions and classes of FlagGems that the function names in a call: of its own module or imported from another."""
    called = {node.func for node in ast.walk(source.node) if isinstance(node, ast.Call)}
    names = {f.id for f in called if isinstance(f, ast.Name)}
    names |= {
        f.value.id
        for f in called
        if isinstance(f, ast.Attribute) and f.attr == "apply" and isinstance(f.value, ast.Name)
    }
    found = []
    for name in sorted(names):
        module, original = source.names.get(name, ("", name))
        for candidate in sources(package).get(original, []):
            near = candidate.file == source.file or (
                module and candidate.file.stem in (module.split(".")[-1], "__init__")
            )
            if near and candidate.node is not source.node:
                found.append(candidate)
    return found


def in_function(source: Source, function: str, package: Path, through: str) -> list[Guard]:
    lines = source.file.read_text("utf-8").splitlines()
    parents = {child: parent for parent in ast.walk(source.node) for child in ast.iter_child_nodes(parent)}
    found = {}
    for node in ast.walk(source.node):
        if asks_device(node):
            found.setdefault(
                node.lineno,
                Guard(
                    function=function,
                    file=str(source.file.relative_to(package.parent)),
                    line=node.lineno,
                    text=lines[node.lineno - 1].strip(),
                    refuses=refuses(node, parents),
                    through=through,
                ),
            )
    return list(found.values())


def asks_device(node: ast.AST) -> bool:
    """``x.is_cuda``, ``x.device.type == "cuda"`` (or ``!=``, ``in``), anything of ``torch.cuda``."""
    if isinstance(node, ast.Attribute) and node.attr == "is_cuda":
        return True
    if isinstance(node, ast.Attribute) and node.attr in DEVICES:
        return isinstance(node.value, ast.Name) and node.value.id == "torch"
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    about_device = any(isinstance(s, ast.Attribute) and s.attr == "type" for s in sides)
    return about_device and any(constant in DEVICES for side in sides for constant in constants(side))


def constants(node: ast.AST) -> list[object]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]


def refuses(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether an assertion or a raise hangs on the question."""
    while node in parents:
        child, node = node, parents[node]
        if isinstance(node, ast.Assert):
            return child is node.test
        if isinstance(node, ast.If):
            return child is node.test and any(isinstance(statement, ast.Raise) for statement in node.body)
    return False
