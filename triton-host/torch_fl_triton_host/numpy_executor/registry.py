"""The table of operations: for each name, a function that prepares one operation of a program to be run.

``prepare(operation) -> compute`` looks at attributes and types once; ``compute(*operands) -> result`` (a list where
there are several) runs for each program of the grid.
"""

from collections.abc import Callable
from typing import Any

from torch_fl_triton_host.ttir.ir import Operation

Compute = Callable[..., Any]
Prepare = Callable[[Operation], Compute]

PREPARE: dict[str, Prepare] = {}


def operation(*names: str) -> Callable[[Prepare], Prepare]:
    """Enter the decorated function into the table under `names`."""

    def enter(prepare: Prepare) -> Prepare:
        for name in names:
            PREPARE[name] = prepare
        return prepare

    return enter
