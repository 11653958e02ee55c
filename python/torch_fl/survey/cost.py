"""What a FlagGems kernel costs at the sizes that matter, against the kernel that serves where FlagGems does not.

Only on a card whose own kernels PyTorch has: there both sides run in one process, in turns, on the same memory, and the device
is waited for at both ends of each turn. The other side is PyTorch's kernel itself, so what boxing adds to it counts for it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import operators, recipe, seam
from .evidence import Cost
from .recipe import Tree

TURN = 0.003  # seconds: long beside a start of a kernel
MOST = 64  # calls of a turn
ROUNDS, FEWEST = 9, 5
LONGEST = 1.0  # seconds of all rounds, after the fewest

Run = Callable[[], Any]


def measure(key: str, tree: Tree, enlarged: bool) -> Cost:
    """The cost of one call; the process must have a route to FlagGems for the operator.

    Raises:
        RuntimeError: FlagGems or PyTorch's kernel raises at that size.
    """
    ours, theirs = sides(key, tree)
    told = {"call": recipe.text_of(tree), "enlarged": enlarged}
    with torch.no_grad():
        before = seam.calls(key)
        ours()
        seam.synchronize()
        if seam.calls(key) == before:
            return Cost(state="failed", note="FlagGems declined the call", **told)
        theirs()
        return Cost(**in_turns(ours, theirs), **told)


def sides(key: str, tree: Tree) -> tuple[Run, Run]:
    """The call through the route, and on the device's own tensors over the same memory."""
    from torch_fl import _C

    native = seam.native()
    made = recipe.call(key, tree, torch.device(seam.DEVICE))
    leaves, spec = tree_flatten((made.args, made.kwargs))
    other = [native if isinstance(leaf, torch.device) else leaf for leaf in _C.as_target(leaves)]
    args, kwargs = tree_unflatten(other, spec)
    function = operators.overload(key)
    return partial(function, *made.args, **made.kwargs), partial(function, *args, **kwargs)


def in_turns(ours: Run, theirs: Run) -> dict[str, Any]:
    """Milliseconds of each side and the ratio of the times of a round: medians, and quartiles of the ratio."""
    counts = {run: max(1, min(MOST, int(TURN / turn(run, 2)))) for run in (ours, theirs)}
    rounds: list[tuple[float, float]] = []
    start = time.monotonic()
    while len(rounds) < ROUNDS and (len(rounds) < FEWEST or time.monotonic() - start < LONGEST):
        order = (ours, theirs) if len(rounds) % 2 else (theirs, ours)
        taken = {run: turn(run, counts[run]) for run in order}
        rounds.append((taken[ours], taken[theirs]))
    ratios = [mine / other for mine, other in rounds]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {
        "ratio": rounded(middle),
        "spread": (rounded(low), rounded(high)),
        "milliseconds": tuple(rounded(1000 * statistics.median(side)) for side in zip(*rounds, strict=True)),
    }


def turn(run: Run, calls: int) -> float:
    """Seconds of one call of some that follow each other."""
    seam.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    seam.synchronize()
    return (time.perf_counter() - start) / calls


def rounded(value: float) -> float:
    return float(f"{value:.3g}")
