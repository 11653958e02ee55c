"""What there is to run. A case is one entry of one of PyTorch's databases with one dtype."""

from __future__ import annotations

import fnmatch
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, order=True)
class Case:
    """`database` is ops, foreach, modules or optimizers; `name` PyTorch's own; `dtype` without ``torch.``."""

    database: str
    name: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.database}:{self.name}:{self.dtype}"

    @property
    def torch_dtype(self) -> torch.dtype:
        return getattr(torch, self.dtype)

    @property
    def number(self) -> int:
        """A number that is the same in every process: seeds and shares are drawn from it."""
        return zlib.crc32(str(self).encode())


def operators() -> dict[str, Any]:
    """The OpInfo entries by full name."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {info.full_name: info for info in op_db}


def foreach() -> dict[str, Any]:
    """The ForeachFuncInfo entries by full name."""
    from torch.testing._internal import common_methods_invocations as databases

    names = ("unary", "binary", "pointwise", "other", "reduce")
    return {info.full_name: info for name in names for info in getattr(databases, f"foreach_{name}_op_db")}


def modules() -> dict[str, Any]:
    """The ModuleInfo entries by name."""
    from torch.testing._internal.common_modules import module_db

    return {info.name: info for info in module_db}


def optimizers() -> dict[str, Any]:
    """The OptimizerInfo entries by name."""
    from torch.testing._internal.common_optimizers import optim_db

    return {info.name: info for info in optim_db}


def planted() -> dict[str, Any]:
    """Entries that misbehave, for the tests of the harness; `all_cases` leaves them out."""
    from .planted import ENTRIES

    return dict(ENTRIES)


DATABASES: dict[str, Callable[[], dict[str, Any]]] = {
    "ops": operators,
    "foreach": foreach,
    "modules": modules,
    "optimizers": optimizers,
    "planted": planted,
}


def dtypes_of(database: str, info: Any) -> list[torch.dtype]:
    """The dtypes that the CPU supports."""
    if database in ("ops", "foreach"):
        return list(info.supported_dtypes("cpu"))
    if database == "modules":
        return list(info.dtypes)
    complex_too = [torch.complex64] if info.supports_complex else []
    return [torch.float32, torch.float64, torch.bfloat16, *complex_too]


def all_cases() -> list[Case]:
    """Every case, in an order that is the same in every process."""
    return sorted(
        Case(database, name, str(dtype).removeprefix("torch."))
        for database, entries in DATABASES.items()
        if database != "planted"
        for name, info in entries().items()
        for dtype in dtypes_of(database, info)
    )


def matching(cases: Iterable[Case], patterns: str | None) -> list[Case]:
    """The cases whose text or name matches one of the shell patterns (`abs,nn.*,ops:*:int64`)."""
    if not patterns:
        return list(cases)
    wanted = [p.strip() for p in patterns.split(",")]
    return [
        case
        for case in cases
        if any(fnmatch.fnmatchcase(text, pattern) for pattern in wanted for text in (str(case), case.name))
    ]


def sampled(cases: list[Case], fraction: float) -> list[Case]:
    """About this fraction of the cases, and of each entry at least one; always the same ones."""
    entries: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        entries.setdefault((case.database, case.name), []).append(case)
    kept = []
    for group in entries.values():
        drawn = sorted(group, key=lambda case: (case.number * 2654435761) % 2**32)
        kept += drawn[: max(1, round(fraction * len(drawn)))]
    return sorted(kept)


def share(cases: list[Case], shard: tuple[int, int]) -> list[Case]:
    """Part `k` of `n`, counted from 1."""
    k, n = shard
    return cases[k - 1 :: n]
