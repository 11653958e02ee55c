"""Calls made once so that no later process has to compile or tune: Triton's kernel cache and FlagGems' tuning database.

The calls are those whose cost a survey measures. Both caches are keyed by the kernel and, for what is tuned, by sizes; other
sizes of a tuned kernel are tuned when they are met.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any, Literal

from pydantic import BaseModel

from torch_fl import workers

from . import worker

Case = tuple[str, str]  # operator, dtype
ON_HOST = 1 << 18  # elements of a call where kernels run on processors


class Warmed(BaseModel):
    """What came of one operator and dtype."""

    operator: str
    dtype: str
    state: Literal["warm", "not routed", "no call", "failed", "no time"] = "warm"
    call: str = ""
    compiled: int = 0  #: Triton kernels that were not in the cache; while tuning, one for each configuration tried
    cached: int = 0  #: those that were
    seconds: float = 0.0
    note: str = ""


def routed() -> list[str]:
    """The operators that this installation's routes send to FlagGems, by name."""
    from torch_fl.routing.explain import written_routes

    from .policy import BACKEND

    routes = written_routes().values()
    return sorted(route.operator for route in routes if any(link.backend == BACKEND for link in route.asked))


def run(cases: Iterable[Case], entries: dict[str, list[str]], jobs: int, limit: float) -> Iterator[Warmed]:
    """Warm operators with dtypes, in worker processes.

    Args:
        entries: for each operator the OpInfo entries to take calls from.
        jobs: worker processes.
        limit: seconds that one case may take.
    """
    begin = lambda case, folder: workers.Worker(main, (entries,), folder)
    return workers.run(cases, begin, lost, jobs, limit)


def lost(member: workers.Worker, verdict: str, how: str) -> Warmed:
    operator, dtype = member.case
    late = verdict == "timeout"
    return Warmed(
        operator=operator,
        dtype=dtype,
        state="no time" if late else "failed",
        call=member.at,
        note=how if late else f"{how}; {worker.crash_text(member.log)}",
        seconds=round(time.monotonic() - member.began, 3),
    )


def main(pipe: Connection, crash_log: str, entries: dict[str, list[str]]) -> None:
    """A worker process: answers each case with what came of it."""

    def prepare(tell: Callable[[str, Any], None]) -> Callable[[Case], Warmed]:
        def timed(case: Case) -> Warmed:
            start = time.monotonic()
            done = warmed(*case, entries, tell)
            done.seconds = round(time.monotonic() - start, 3)
            return done

        return timed

    workers.serve(pipe, crash_log, prepare)


def warmed(key: str, dtype: str, entries: dict[str, list[str]], tell: Callable[[str, Any], None]) -> Warmed:
    import torch

    from . import costs, enlarge, recipe, seam, sources

    done = Warmed(operator=key, dtype=dtype)
    on_card = seam.executor() == "gpu"
    try:
        calls = sources.all_calls(key, getattr(torch, dtype), entries, "quick")
        large = enlarge.large(calls, enlarge.ELEMENTS if on_card else ON_HOST)
        if large is None:
            return done.model_copy(update={"state": "no call"})
        done.call = recipe.text_of(large.tree)
        tell("at", done.call)
        seen: list[bool] = []
        seam.compilations(seen.append)
        before = seam.calls(key)
        costs.once(key, large.tree)
        done.compiled, done.cached = seen.count(True), seen.count(False)
        seam.release()
        done.state = "warm" if seam.calls(key) > before else "not routed"
    except Exception as error:  # noqa: BLE001 - whatever a kernel says to that size
        done.state, done.note = "failed", f"{type(error).__name__}: {error}".splitlines()[0]
        if not seam.usable():
            workers.give_up(done.note)
    return done
