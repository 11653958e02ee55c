"""No entry of the list of public bug reports loses its test: each id stands in the docstring of at least one."""

import ast
import re
from pathlib import Path

IDS = set(
    "A1 A3 A4 A5 A8 B1 B2 C1 C3 D1 D5 E1 E2 E3 E8 F1 F2 F4 F7 F10 F13 G1 G3 G4 K1".split()
)

NAMES = re.compile(r"^((?:[A-K]\d+)(?:, [A-K]\d+)*): \S")


def ids(docstring):
    """The ids a docstring begins with, such as ``A1`` or ``F7, F10``, before a colon."""
    found = NAMES.match(docstring or "")
    return set(found[1].split(", ")) if found else set()


def documented():
    """Every test function of this suite with its docstring, by parsing, so that nothing is run."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{file.name}::{node.name}", ast.get_docstring(node)


def test_every_report_has_a_test():
    covered = {i: [] for i in IDS}
    for name, docstring in documented():
        for i in ids(docstring):
            covered.setdefault(i, []).append(name)
    assert sorted(i for i, names in covered.items() if not names) == []
    assert sorted(covered.keys() - IDS) == [], "an id that the list does not have"


def test_ids_are_read_as_they_are_written():
    assert ids("A1: the reported line") == {"A1"} and ids("F7, F10: workers") == {"F7", "F10"}
    assert ids("A tensor: of two") == set() and ids(None) == set() and ids("A1 without a colon") == set()
