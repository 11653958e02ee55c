"""All calls that an operator is tried with, from whichever source has any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from . import generated, operators, siblings
from .calls import Call, calls_of
from .evidence import Depth

MOST_ENTRIES = 5  # that are looked into until some have calls


class Limits(NamedTuple):
    """How far the search for calls goes."""

    calls: int  # of each operator and dtype
    entries: int  # OpInfo entries of an operator
    samples: int  # of each entry


LIMITS: dict[Depth, Limits] = {
    "quick": Limits(calls=3, entries=1, samples=8),
    "full": Limits(calls=6, entries=3, samples=16),
}


def base_calls(key: str, dtype: torch.dtype, entries: Mapping[str, list[str]], depth: Depth = "full") -> list[Call]:
    """A handful of calls that differ in form and that the CPU computes."""
    return chosen(all_calls(key, dtype, entries, depth), depth)


def chosen(calls: list[Call], depth: Depth) -> list[Call]:
    """The calls of a trial: as many as `depth` allows."""
    return spread(calls, LIMITS[depth].calls)


def all_calls(key: str, dtype: torch.dtype, entries: Mapping[str, list[str]], depth: Depth = "full") -> list[Call]:
    """Calls that the CPU computes: made by hand, from samples, and where these are few, from relations."""
    limits = LIMITS[depth]
    name = str(dtype).removeprefix("torch.")
    calls = generated.made(key, dtype)
    productive = 0
    for entry in entries.get(key, [])[:MOST_ENTRIES]:
        found = calls_of([key], [entry], dtype, limits.samples)
        calls += found
        productive += bool(found)
        if productive == limits.entries:
            break
    calls = [call for call in calls if call.dtype == name]
    for relation in siblings.relations(key):
        if len(calls) >= limits.calls:
            break
        found = generated.made(relation, dtype)
        found += calls_of([relation], entries.get(relation, [])[: limits.entries], dtype, limits.samples)
        calls += [call for call in siblings.adapted(key, spread(found, 2 * limits.calls)) if call.dtype == name]
    return calls or generated.uniform(key, dtype)


def spread(calls: list[Call], most: int) -> list[Call]:
    """Different forms, other numbers of dimensions and dtypes first."""
    different = list({call.form: call for call in reversed(calls)}.values())[::-1]
    rounds: dict[object, list[Call]] = {}
    for call in different:
        rounds.setdefault((tuple(t.dim() for t in call.tensors), call.signature), []).append(call)
    chosen: list[Call] = [call for call in different if call.source.startswith("made")]  # each has its reason
    for group in rounds.values():
        group[:] = [call for call in group if not any(call is other for other in chosen)]
    while len(chosen) < most and any(rounds.values()):
        for group in rounds.values():
            if group and len(chosen) < most:
                chosen.append(group.pop(0))
    return chosen


def needed(keys: list[str]) -> list[str]:
    """The operators whose samples the calls of `keys` are made of."""
    known = [key for key in keys if operators.overload(key) is not None]
    return sorted({member for key in known for member in (key, *siblings.relations(key))})
