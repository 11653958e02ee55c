"""Which evidence leads to which route."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .evidence import BAD, TOLERABLE, Operator, Trial

BACKEND = "flaggems"
SLOWEST = 1.05  # times the other kernel's time: what noise alone makes of two equal kernels


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
    * A step must not let in what was not measured: each dtype that stands beside the data (indices, masks) must have
      had a trial as data too, and not a bad one. So an operator whose index dtype is bad as data is not served at all.
    * Where only empty tensors fail, or only those without dimensions, or with gaps, conditions keep these from FlagGems.
    * A guard in FlagGems' source that refuses other devices excludes the operator unless a trial passed.
    * `slowest`: where given, a dtype is left out whose cost is more than that many times what the kernel costs that serves
      otherwise, or was not measured. Where only the CPU serves otherwise it is not given: there correctness decides.
    """
    if not operator.exists:
        return Decision("", "this PyTorch has no such operator")
    right = [t for t in operator.trials if t.verdict == "correct"]
    good = [t for t in right if slowest is None or cheap(t, slowest)]
    bad = {t.dtype: t for t in operator.trials if t.verdict in BAD}
    if not good:
        return Decision("", dear(right) if right else reason_against(operator, bad.values()))
    harmless = {t.dtype for t in operator.trials if t.verdict not in BAD}
    sets = {frozenset(s) for t in good for s in t.signatures if t.dtype in s}
    admitted = sorted((s for s in sets if s <= harmless), key=sorted)
    if not admitted:
        return Decision("", reason_against(operator, bad.values(), sets))
    against = f"; {reason_against(operator, bad.values())}" if bad else ""
    union = frozenset().union(*admitted)
    steps = [union] if mixes(good, union) else maximal(admitted)
    needs = "".join(f", {need}" for need in sorted({need for t in good for need in t.needs}))
    steps_text = ", ".join(f"{BACKEND}[dtype={'|'.join(sorted(step))}{needs}]" for step in steps)
    return Decision(f"{steps_text}, none", "right with " + ", ".join(t.dtype for t in good) + against)


def backed(chain: str, slot: str) -> str:
    """The chain with the kernels of another slot as the step before the CPU."""
    return f"{chain.removesuffix('none')}{slot}, none"


def cheap(trial: Trial, slowest: float = SLOWEST) -> bool:
    """Whether the cost was measured and is not above the limit."""
    return trial.cost is not None and trial.cost.ratio is not None and trial.cost.ratio <= slowest


def dear(right: Iterable[Trial]) -> str:
    """Why dtypes that are right are not served."""
    words = []
    for trial in right:
        if trial.cost is None:
            words.append(f"{trial.dtype}: right, cost not measured")
        elif trial.cost.ratio is None:
            words.append(f"{trial.dtype}: right, cost not measured ({trial.cost.state}: {trial.cost.note})")
        else:
            words.append(f"{trial.dtype}: right, {trial.cost.ratio:g} times the time")
    return "; ".join(words)


def mixes(good: Iterable[Trial], union: frozenset[str]) -> bool:
    """Whether every pair of data dtypes of the union was tried side by side, or cannot meet."""
    pairs = {frozenset(s) for t in good for s in t.signatures}
    data = {t.dtype for t in good} & union
    return len(data) < 2 or all(any({a, b} <= s for s in pairs) for a in data for b in data if a < b)


def maximal(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that are part of no other one."""
    sets = list(sets)
    return sorted((s for s in sets if not any(s < other for other in sets)), key=sorted)


def reason_against(operator: Operator, bad: Iterable[Trial], sets: Iterable[frozenset[str]] = ()) -> str:
    words = [f"{t.verdict} with {t.dtype}: {first(t)}" for t in bad]
    if words:
        return "; ".join(words[:2]) + (f" and {len(words) - 2} more" if len(words) > 2 else "")
    if sets:
        return "right only beside dtypes that were not measured as data: " + ", ".join(sorted(min(sets, key=sorted)))
    if any(guard.refuses for guard in operator.guards):
        guard = next(guard for guard in operator.guards if guard.refuses)
        return f"refuses other devices: {guard.file}:{guard.line}"
    return "no Triton kernel ran" if any(t.verdict == "idle" for t in operator.trials) else "not measured"


def first(trial: Trial) -> str:
    found = next((f for f in trial.findings if f.aspect not in TOLERABLE), None)
    return f"{found.check}: {found.message}" if found else ""
