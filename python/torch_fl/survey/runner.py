"""Cases in worker processes of :mod:`torch_fl.workers`, each with some operators routed to FlagGems."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from torch_fl import workers

from . import seam, worker
from .evidence import Count, Depth, Finding, Trial
from .trial import CPU_STEP
from .variants import FAR

Case = tuple[str, str]  # operator, dtype
Group = tuple[str, ...]  # operators that are routed together
OTHERS_FAULT = (FAR, CPU_STEP)  # an end there leaves the judgement of what ran before


class RoutedWorker(workers.Worker):
    """A worker in whose process the operators of `group` go to FlagGems, or these chains hold."""

    def __init__(
        self,
        main: Callable[..., None],
        arguments: tuple,
        folder: Path,
        group: Group,
        chains: Mapping[str, str] | None = None,
    ) -> None:
        self.group = group
        chains = seam.plainly(group) if chains is None else chains
        routes = seam.write_routes(chains, Path(tempfile.mkstemp(dir=folder, suffix=".conf")[1]))
        with seam.routes(routes):
            super().__init__(main, arguments, folder)


def run(
    cases: Iterable[Case],
    entries: Mapping[str, list[str]],
    depth: Depth = "full",
    jobs: int = 1,
    limit: float = 120,
    together: int = 48,
    main: Callable[..., None] = worker.main,
    until: float | None = None,
    more: Callable[[Trial], Iterable[Case]] = lambda trial: (),
) -> Iterator[Trial]:
    """The trials of operators with dtypes, in the order in which they come.

    Args:
        entries: for each operator the OpInfo entries to take calls from.
        jobs: worker processes.
        limit: seconds that one case may take; after a third of it no further call is begun.
        together: operators that a worker routes to FlagGems; 1 tries each alone.
        main: what a worker process does, see worker.main.
        more: cases of the same operator that a trial asks for.
        until: the time of `time.monotonic` at which it ends, whatever is left.
    """
    os.environ.update({name: value for name, value in worker.ENVIRONMENT.items() if name not in os.environ})
    arguments = (dict(entries), depth, limit / 3)
    begin = lambda case, folder: RoutedWorker(main, arguments, folder, case[0])
    lost = lambda member, verdict, how: ended(member, verdict, how, depth)
    fits = lambda member, case: member.group == case[0]
    pairs = list(grouped(cases, together))
    together_with = {key: group for group, (key, _) in pairs}
    further = lambda trial: [(together_with[case[0]], case) for case in more(trial)]
    return workers.run(pairs, begin, lost, jobs, limit, fits, until, further)


def grouped(cases: Iterable[Case], together: int) -> Iterator[tuple[Group, Case]]:
    """Cases with the operators that are routed when they are tried: so many operators, then the next ones."""
    cases = list(cases)
    keys = list(dict.fromkeys(key for key, _ in cases))
    for start in range(0, len(keys), together):
        group = tuple(keys[start : start + together])
        yield from ((group, case) for case in cases if case[0] in group)


def ended(member: workers.Worker, verdict: str, how: str, depth: Depth) -> Trial:
    """The trial of a case that ended its worker."""
    note = f"{how}; {worker.crash_text(member.log)}".rstrip("; ") if verdict == "crash" else how
    check, source, arguments = (*member.at.split("; ", 2), "", "")[:3]
    finding = Finding(check=check, aspect=verdict, message=note, source=source, arguments=arguments)
    operator, dtype = member.case[1]
    trial = member.so_far or Trial(operator=operator, dtype=dtype, depth=depth)
    if check not in OTHERS_FAULT:
        trial.verdict = verdict
    trial.findings.append(finding)
    count = trial.checks.setdefault(check, Count())
    count.runs, count.failed = count.runs + 1, count.failed + 1
    trial.seconds = round(time.monotonic() - member.began, 3)
    return trial
