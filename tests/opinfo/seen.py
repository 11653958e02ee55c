"""What a run of a program left behind, as plain data that another process can send; and where two of them differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import keystr, tree_flatten_with_path

from .compare import ASPECTS, Difference, Relations, Tolerance, description, parts, same_values, without_bits
from .trial import Side, first_line

DEVICE = re.compile(r"\b(cpu|cuda|flagos)(:\d+)?\b")


@dataclass
class Leaf:
    """One place of a result. Of a tensor: what it is, what it shares, on which device, its values on the CPU."""

    where: str
    text: str = ""  # of what is no tensor; of a number its type
    about: tuple[Any, ...] | None = None
    relation: str = ""
    there: bool = True  # on the device that the program was given, or nowhere (meta)
    values: list[torch.Tensor] | None = None


@dataclass
class Seen:
    """The whole of a run."""

    kind: str
    leaves: list[Leaf]
    arguments: list[Leaf]
    written: list[bool]
    warnings: set[str]
    error: tuple[str, str] | None = None

    @classmethod
    def of(cls, side: Side) -> Seen:
        if side.error is not None:
            return cls("", [], [], [], set(), (type(side.error).__name__, first_line(side.error)))
        relations = Relations(side.arguments)
        leaves = [
            leaf(f"result{keystr(path)}", value, side, relations)
            for path, value in tree_flatten_with_path(side.result)[0]
        ]
        after = [leaf(f"argument {number} afterwards", t, side, None) for number, t in enumerate(side.arguments)]
        written = [t._version != version for t, version in zip(side.arguments, side.versions, strict=True)]
        return cls(type(side.result).__name__, leaves, after, written, side.warnings)


def leaf(where: str, value: Any, side: Side, relations: Relations | None) -> Leaf:
    if isinstance(value, float | complex):
        return Leaf(where, type(value).__name__, values=[torch.tensor(value, dtype=torch.complex128)])
    if not isinstance(value, torch.Tensor):
        text = "callable" if callable(value) else DEVICE.sub("DEVICE", f"{type(value).__name__} {value!r}")
        return Leaf(where, text)
    meta = value.device.type == "meta"
    values = None if meta else [without_bits(part).cpu() for part in strided(value.detach())]
    relation = relations.of(value) if relations else ""
    return Leaf(where, "", description(value), relation, meta or value.device == side.device, values)


def strided(t: torch.Tensor) -> list[torch.Tensor]:
    if t.layout == torch.strided and not t.is_quantized and not t.is_nested:
        return [t]
    return [piece for part in parts(t) for piece in strided(part)]


def compare(wanted: Seen, found: Seen, values: bool, tolerance: Tolerance | None) -> None:
    """Raises `Difference` at the first one."""
    if wanted.error or found.error:
        names = [seen.error and seen.error[0] for seen in (wanted, found)]
        if names[0] != names[1]:
            words = [": ".join(seen.error) if seen.error else "no exception" for seen in (wanted, found)]
            raise Difference("exception", f"wanted {words[0]}; found {words[1]}")
        return
    if wanted.kind != found.kind or [a.where for a in wanted.leaves] != [b.where for b in found.leaves]:
        raise Difference(
            "structure", f"wanted {wanted.kind} of {len(wanted.leaves)}, found {found.kind} of {len(found.leaves)}"
        )
    for a, b in zip(wanted.leaves, found.leaves, strict=True):
        compare_leaves(a, b, values, tolerance)
    if wanted.warnings != found.warnings:
        raise Difference("warnings", f"wanted {sorted(wanted.warnings)}, found {sorted(found.warnings)}")
    for a, b, one, other in zip(wanted.arguments, found.arguments, wanted.written, found.written, strict=True):
        if one and not other:
            raise Difference("version", f"{a.where}: not marked as written")
        compare_leaves(a, b, values or not one, tolerance)


def compare_leaves(a: Leaf, b: Leaf, values: bool, tolerance: Tolerance | None) -> None:
    if a.text != b.text:
        raise Difference("values", f"{a.where}: wanted {a.text or 'a tensor'}, found {b.text or 'a tensor'}")
    facts = [(leaf.there, *(leaf.about or [None] * len(ASPECTS)), leaf.relation) for leaf in (a, b)]
    for aspect, one, other in zip(("device", *ASPECTS, "alias"), *facts, strict=True):
        if one != other:
            raise Difference(aspect, f"{a.where}: wanted {one}, found {other}")
    for one, other in zip(a.values or [], b.values or [], strict=True) if values else ():
        if same_values(one, other):
            continue
        try:
            near = {} if tolerance is None else {"rtol": tolerance.relative, "atol": tolerance.absolute}
            torch.testing.assert_close(other, one, **near, equal_nan=True, check_stride=False)
        except AssertionError as error:
            raise Difference("values", f"{a.where}: {' '.join(str(error).split())[:300]}") from None
