"""Which evidence leads to which route."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .compare import TOLERABLE
from .evidence import BAD, Operator, Trial

BACKEND = "flaggems"


@dataclass(frozen=True)
class Decision:
    """The chain of an operator, and in words why; an empty chain: FlagGems does not serve it."""

    chain: str
    reason: str


def decide(operator: Operator, slowest: float | None = None) -> Decision:
    """The route of one operator.

    * Only what was measured is routed: a dtype whose trial is `correct` - all results equal the CPU's, and Triton
      kernels ran - is served by FlagGems; any other goes to the next step.
    * A condition names every dtype of a call. Where calls with mixed dtypes were right too, one step names all dtypes;
      else each set of dtypes that was right is a step of its own.
    * A step must not let in a dtype whose trial is bad. So an operator whose index dtype is bad as a data dtype loses
      the sets of dtypes that need it.
    * Where only empty tensors, or only those without dimensions, fail, a condition keeps these from FlagGems.
    * A guard in FlagGems' source that refuses other devices excludes the operator unless a trial passed.
    * `slowest`: where given, a dtype is left out whose time is more than that many times the CPU kernel's. On emulated
      devices it is not given: there correctness decides.
    """
    if not operator.exists:
        return Decision("", "this PyTorch has no such operator")
    good = [t for t in operator.trials if t.verdict == "correct" and (slowest is None or (t.ratio or 0) <= slowest)]
    bad = {t.dtype: t for t in operator.trials if t.verdict in BAD}
    if not good:
        return Decision("", reason_against(operator, bad.values()))
    sets = sorted({frozenset(s) for t in good for s in t.signatures if s and is_pure(t, s)}, key=sorted)
    admitted = [s for s in sets if not (s & bad.keys())]
    if not admitted:
        if any(not s for t in good for s in t.signatures) and not bad:
            return Decision(f"{BACKEND}, none", "right with " + ", ".join(t.dtype for t in good))
        return Decision("", reason_against(operator, bad.values()))
    against = f"; {reason_against(operator, bad.values())}" if bad else ""
    union = frozenset().union(*admitted)
    steps = [union] if mixes(good, union) else maximal(admitted)
    needs = "".join(f", {need}" for need in sorted({need for t in good for need in t.needs}))
    chain = ", ".join(f"{BACKEND}[dtype={'|'.join(sorted(step))}{needs}]" for step in steps)
    return Decision(f"{chain}, none", "right with " + ", ".join(t.dtype for t in good) + against)


def is_pure(trial: Trial, signature: list[str]) -> bool:
    """Whether the dtypes stand together in the operator's ordinary calls, rather than in a test of mixed dtypes."""
    return trial.dtype in signature


def mixes(good: Iterable[Trial], union: frozenset[str]) -> bool:
    """Whether every pair of data dtypes of the union was tried side by side, or cannot meet."""
    pairs = {frozenset(s) for t in good for s in t.signatures}
    data = {t.dtype for t in good} & union
    return len(data) < 2 or all(any({a, b} <= s for s in pairs) for a in data for b in data if a < b)


def maximal(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that are part of no other one."""
    sets = list(sets)
    return sorted((s for s in sets if not any(s < other for other in sets)), key=sorted)


def reason_against(operator: Operator, bad: Iterable[Trial]) -> str:
    words = [f"{t.verdict} with {t.dtype}: {first(t)}" for t in bad]
    if not words and any(g.refuses for g in operator.guards):
        guard = next(g for g in operator.guards if g.refuses)
        return f"refuses other devices: {guard.file}:{guard.line}"
    if not words and any(t.verdict == "idle" for t in operator.trials):
        return "no Triton kernel ran"
    return "; ".join(words[:2]) + (f" and {len(words) - 2} more" if len(words) > 2 else "") or "not measured"


def first(trial: Trial) -> str:
    found = next((f for f in trial.findings if f.aspect not in TOLERABLE), None)
    return f"{found.check}: {found.message}" if found else ""
