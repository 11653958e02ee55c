"""What is tried, and in which order."""

from __future__ import annotations

import fnmatch
import zlib
from collections.abc import Iterable, Mapping

from . import operators
from .evidence import Trial

BESIDE = ("int64", "bool", "int32")  # of indices, masks and offsets
DTYPES = ("float32", "int64", "float16", "bfloat16", "int32", "bool", "float64", "int8", "uint8", "int16", "complex64")


def chosen(keys: Iterable[str], patterns: str | None) -> list[str]:
    """The operators whose name matches one of the shell patterns (``add*,mm``)."""
    wanted = [pattern.strip() for pattern in (patterns or "*").split(",")]
    return [key for key in keys if any(fnmatch.fnmatchcase(key, pattern) for pattern in wanted)]


def cases(keys: Iterable[str], dtypes: Iterable[str], entries: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """Operators with dtypes: the first dtype of all operators first, and among them those that most samples use."""
    known = [key for key in keys if operators.overload(key) is not None]
    ranked = sorted(known, key=lambda key: -len(entries.get(key, ())))
    return [(key, dtype) for dtype in dtypes for key in ranked]


def beside(trials: Iterable[Trial]) -> list[tuple[str, str]]:
    """The cases without which what is right cannot be routed: dtypes that stood beside the data, tried as data themselves."""
    found: dict[tuple[str, str], None] = {}
    for trial in trials:
        if trial.verdict == "correct":
            for signature in trial.signatures:
                for dtype in signature:
                    if dtype != trial.dtype and dtype in BESIDE:
                        found[trial.operator, dtype] = None
    return list(found)


def sampled(items: list[tuple[str, str]], fraction: float) -> list[tuple[str, str]]:
    """About this fraction of the cases, always the same ones, at least one."""
    drawn = sorted(items, key=lambda case: zlib.crc32(":".join(case).encode()) * 2654435761 % 2**32)
    kept = set(drawn[: max(1, round(fraction * len(drawn)))])
    return [case for case in items if case in kept]


def share(items: list[tuple[str, str]], shard: tuple[int, int]) -> list[tuple[str, str]]:
    """Part `k` of `n`, counted from 1."""
    k, n = shard
    return items[k - 1 :: n]
