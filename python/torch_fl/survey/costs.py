"""The run that measures costs: all calls once in worker processes side by side, then each alone.

The first time compiles and tunes, which keeps processors busy and would disturb a measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

from torch_fl import workers

from . import runner, worker
from .evidence import Cost, Trial

Chains = Mapping[str, str]
Entries = Mapping[str, list[str]]
WARM, ALONE = "warm", "alone"
SHARE = 0.6  # of the time until the deadline that the first step may take


def open_trials(trials: Iterable[Trial], again: bool = False) -> list[Trial]:
    """The trials whose cost is to be measured: right, and without a cost or, `again`, with one that was not measured."""
    wanted = lambda cost: cost is None or (again and cost.state != "measured")
    return [trial for trial in trials if trial.verdict == "correct" and wanted(trial.cost)]


def run(
    trials: Iterable[Trial],
    chains: Chains,
    entries: Entries,
    jobs: int,
    limit: float,
    until: float | None = None,
) -> Iterator[Trial]:
    """The trials with their costs, in the order in which they come.

    Args:
        chains: routes of the processes.
        entries: for each operator the OpInfo entries to take a call from, where a trial has none of its own.
        jobs: worker processes of the first step.
        limit: seconds that one call may take in each of the two steps; what takes longer is no measurement.
        until: the time of `time.monotonic` at which it ends; what the first step has not come to by then, or in time for
            the second, has no cost.
    """
    trials = list(trials)
    ready: list[Trial] = []
    now = time.monotonic()
    middle = None if until is None else now + SHARE * (until - now)
    quick_first = sorted(trials, key=lambda trial: trial.seconds)  # what took long in its trial is tuned
    for trial in step((WARM, entries), quick_first, chains, jobs, limit, middle):
        if trial.cost and trial.cost.state != "measured":
            yield trial
        else:
            ready.append(trial)
    order = {(trial.operator, trial.dtype): place for place, trial in enumerate(trials)}
    ready.sort(key=lambda trial: order[trial.operator, trial.dtype])
    yield from step((ALONE, entries), ready, chains, 1, limit, until)


def step(
    arguments: tuple[str, Entries], trials: list[Trial], chains: Chains, jobs: int, limit: float, until: float | None
) -> Iterator[Trial]:
    """One step of all trials; `cost` is None after a `warm` one that went well."""
    begin = lambda case, folder: runner.RoutedWorker(main, arguments, folder, (), chains)
    return workers.run(trials, begin, lost, jobs, limit, until=until)


def lost(member: workers.Worker, verdict: str, how: str) -> Trial:
    late = verdict == "timeout"
    note = how if late else f"{how}; {worker.crash_text(member.log)}"
    cost = Cost(state="no time" if late else "failed", note=note, call=member.at)
    return member.case.model_copy(update={"cost": cost, "seconds": round(time.monotonic() - member.began, 3)})


def main(pipe: Connection, crash_log: str, what: str, entries: Entries) -> None:
    """A worker process: answers each trial with the trial and its cost."""

    def prepare(tell: Callable[[str, Any], None]) -> Callable[[Trial], Trial]:
        import torch

        from . import cost, enlarge, recipe, seam, sources

        def measured(trial: Trial) -> Trial:
            key, large = trial.operator, trial.large
            if not large:
                dtype = getattr(torch, trial.dtype)
                large = enlarge.told(sources.all_calls(key, dtype, entries, trial.depth))
            told = recipe.text_of(large) if large else ""
            tell("at", told)
            start, found = time.monotonic(), None
            try:
                if not large:
                    found = Cost(state="failed", note="no recorded call can be made anew")
                elif what == ALONE:
                    found = cost.measure(key, large, large["enlarged"])
                else:
                    once(key, large)
            except Exception as error:  # noqa: BLE001 - whatever a kernel says to that size
                found = Cost(state="failed", note=f"{type(error).__name__}: {error}", call=told)
                if not seam.usable():
                    workers.give_up(found.note)
            seam.release()
            seconds = round(time.monotonic() - start, 3)
            return trial.model_copy(update={"cost": found, "large": large, "seconds": seconds})

        return measured

    workers.serve(pipe, crash_log, prepare)


def once(key: str, tree: Any) -> None:
    """Make the call through its route and wait for it: afterwards its kernels are compiled and tuned."""
    import torch

    from . import recipe, seam

    recipe.runs(key, tree, torch.device(seam.DEVICE))
    seam.synchronize()
