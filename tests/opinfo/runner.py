"""Cases in worker processes of :mod:`torch_fl.workers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch_fl import workers

from . import worker
from .cases import Case
from .checks import Result
from .judge import Settings


def run(cases: Iterable[Case], settings: Settings, jobs: int, limit: float) -> Iterator[Result]:
    """The results, in the order in which they come.

    Args:
        jobs: worker processes.
        limit: seconds that one case may take.
    """
    begin = lambda case, folder: workers.Worker(worker.main, (settings,), folder)
    return workers.run(cases, begin, lost, jobs, limit)


def lost(member: workers.Worker, status: str, how: str) -> Result:
    """The result of a case that ended its worker: where it was, and what a crashing process said."""
    said = member.log.read_text().strip().splitlines() if status == "crash" else []
    return Result(member.case, status, note=f"{how} at {member.at}" + (f"; {' | '.join(said[:12])}" if said else ""))
