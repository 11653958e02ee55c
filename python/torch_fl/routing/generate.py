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


class NativeFirst(NamedTuple):
    """Operators, as shell patterns, that go to the platform's own kernels, or to the CPU where there are none; and why."""

    operators: Sequence[str]
    reason: str


def flaggems_text(
    slot: str, kernels: Iterable[str], measured: Mapping[str, str], first: Sequence[NativeFirst], origin: str
) -> str:
    """The file for an installation with FlagGems: FlagGems first, where it is right, and the own kernel behind it.

    Args:
        slot: the platform's own kernels.
        kernels: the operators that it has one for.
        measured: operator -> chain that a survey came to, ending with ``none``.
        first: what goes to the own kernels all the same.
        origin: where the chains come from, for the head of the file.

    Raises:
        ValueError: a pattern of `first` fits no operator of either side.
    """
    own = set(kernels)
    lines = [
        HEAD,
        f"# FlagGems first where {origin} found it right, then '{slot}', then the CPU. Operators that no line names",
        f"# go to '{slot}' where it has a kernel, else to the CPU.",
        "",
    ]
    for group in first:
        for pattern in group.operators:
            if not any(fnmatchcase(operator, pattern) for operator in {*own, *measured}):
                raise ValueError(f"routes.native_first: no kernel's operator fits {pattern!r}; correct it or take it out")
    for operator in sorted(measured):
        reason = next((group.reason for group in first if fits(operator, group.operators)), "")
        behind = [slot] if operator in own else []
        before = [] if reason else [measured[operator].removesuffix(f", {NONE}")]
        comment = f"  # {reason}" if reason else ""
        lines.append(f"{operator} = {', '.join([*before, *behind, NONE])}{comment}")
    return "\n".join([*lines, ""])


def fits(operator: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(operator, pattern) for pattern in patterns)
