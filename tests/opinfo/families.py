"""Families of cases, for tables and pictures."""

from __future__ import annotations

from .cases import Case, operators

PREFIXES = ("nn.functional", "linalg", "fft", "special", "masked", "signal.windows")
CLASSES = {"UnaryUfuncInfo": "unary", "BinaryUfuncInfo": "binary", "ReductionOpInfo": "reductions"}


def family(case: Case) -> str:
    """By database, then by PyTorch's name space, then by the kind of its sample database entry."""
    if case.database != "ops":
        return case.database
    for prefix in PREFIXES:
        if case.name.startswith(prefix + "."):
            return prefix
    return CLASSES.get(type(operators()[case.name]).__name__, "other operators")
