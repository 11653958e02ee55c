"""The routing file of a platform that has kernels of its own, for installations with FlagGems.

Three things decide a line: the platform's kernels, what a survey of FlagGems found (:mod:`torch_fl.survey`), and the operators
that the platform serves natively before FlagGems, each group with its reason (``[[routes.native_first]]`` of platform.toml). Without FlagGems no
line is needed: an operator that none names goes to the platform's kernel.
"""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from .chain import NONE

HEAD = "# Written by `torch-fl dev routes`, do not edit: change the kernels, the survey or platform.toml instead."


WITH_SLOT = """\
# FlagGems first where {origin} found it right, then '{slot}', then the CPU. Operators that no line names
# go to '{slot}' where it has a kernel, else to the CPU."""
WITHOUT_SLOT = "# FlagGems first where {origin} found it right, then the CPU, to which operators go that no line names."


class NativeFirst(NamedTuple):
    """Operators, as shell patterns, that go to the platform's own kernels, or to the CPU where there are none; and why."""

    operators: Sequence[str]
    reason: str


def flaggems_text(
    slot: str | None,
    kernels: Iterable[str],
    measured: Mapping[str, str],
    first: Sequence[NativeFirst],
    origin: str,
    rules: Sequence[tuple[str, str]] = (),
) -> str:
    """The file for an installation with FlagGems: FlagGems first, where it is right, and the own kernel behind it.

    Args:
        slot: the platform's own kernels; None where it has none.
        kernels: the operators that it has one for.
        measured: operator -> chain that a survey came to, ending with ``none``.
        first: what goes to the own kernels all the same.
        origin: where the chains come from, for the head of the file.
        rules: lines as they shall stand, each with its reason; nothing else is said of their operators.

    Raises:
        ValueError: a pattern of `first` fits no operator of either side.
    """
    own = set(kernels)
    told = (WITHOUT_SLOT if slot is None else WITH_SLOT).format(origin=origin, slot=slot)
    lines = [HEAD, *told.splitlines(), ""]
    written = {line.partition(" = ")[0]: f"{line}  # {reason}" for line, reason in rules}
    for group in first:
        for pattern in group.operators:
            if not any(fnmatchcase(operator, pattern) for operator in {*own, *measured}):
                raise ValueError(f"routes.native_first: no kernel's operator fits {pattern!r}; correct it or take it out")
    for operator in sorted({*measured, *written}):
        if operator in written:
            lines.append(written[operator])
            continue
        reason = next((group.reason for group in first if fits(operator, group.operators)), "")
        behind = [slot] if operator in own else []
        before = [] if reason else [measured[operator].removesuffix(f", {NONE}")]
        comment = f"  # {reason}" if reason else ""
        lines.append(f"{operator} = {', '.join([*before, *behind, NONE])}{comment}")
    return "\n".join([*lines, ""])


def fits(operator: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(operator, pattern) for pattern in patterns)
