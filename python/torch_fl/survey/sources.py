"""All calls that an operator is tried with, from whichever source has any."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from . import generated, operators, siblings
from .calls import Call, calls_of

ENTRIES = 3  # OpInfo entries for each operator
MOST_ENTRIES = 4  # for it and its relations together
SAMPLES = 16  # of each entry
MOST = 6  # calls of each operator and dtype


def base_calls(key: str, dtype: torch.dtype, entries: Mapping[str, list[str]]) -> list[Call]:
    """A handful of calls that differ in form and that the CPU computes."""
    name = str(dtype).removeprefix("torch.")
    family = [key, *siblings.relations(key)]
    names = list(dict.fromkeys(entry for member in family for entry in entries.get(member, [])[:ENTRIES]))
    found = calls_of(family, names[:MOST_ENTRIES], dtype, SAMPLES) if names else []
    calls = generated.made(key, dtype)
    calls += [call for call in found if call.key == key]
    for relation in family[1:]:
        if len(calls) >= MOST:
            break
        calls += siblings.adapted(key, [call for call in found if call.key == relation][: 4 * MOST])
    if not calls:
        for relation in family[1:]:
            calls += siblings.adapted(key, generated.made(relation, dtype))
    return spread([call for call in calls if call.dtype == name], MOST)


def spread(calls: list[Call], most: int) -> list[Call]:
    """Different forms, other numbers of dimensions and dtypes first."""
    different = list({call.form: call for call in reversed(calls)}.values())[::-1]
    rounds: dict[object, list[Call]] = {}
    for call in different:
        rounds.setdefault((tuple(t.dim() for t in call.tensors), call.signature), []).append(call)
    chosen: list[Call] = []
    while len(chosen) < most and any(rounds.values()):
        for group in rounds.values():
            if group and len(chosen) < most:
                chosen.append(group.pop(0))
    return chosen


def needed(keys: list[str]) -> list[str]:
    """The operators whose samples the calls of `keys` are made of."""
    known = [key for key in keys if operators.overload(key) is not None]
    return sorted({member for key in known for member in (key, *siblings.relations(key))})
