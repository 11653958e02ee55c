"""Worker processes: a crash or an endless loop costs its own case and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing import connection
from pathlib import Path
from typing import Any

from . import seam, worker
from .evidence import Count, Depth, Finding, Trial
from .trial import CPU_STEP
from .variants import FAR

CONTEXT = multiprocessing.get_context("spawn")  # a forked child could not use a device that its parent used
Group = tuple[str, ...]  # operators that are routed together
Main = Callable[[Any, dict[str, list[str]], str, Depth, float], None]
OTHERS_FAULT = (FAR, CPU_STEP)  # an end there leaves the judgement of what ran before
START = 300.0  # seconds until a worker must be ready


class Worker:
    """One process and the case that it is at."""

    def __init__(
        self, entries: Mapping[str, list[str]], group: Group, folder: Path, depth: Depth, limit: float, main: Main
    ) -> None:
        self.limit, self.depth = limit, depth
        self.log = Path(tempfile.mkstemp(dir=folder, suffix=".log")[1])
        self.pipe, theirs = CONTEXT.Pipe()
        arguments = (theirs, dict(entries), str(self.log), depth, limit / 3)
        self.process = CONTEXT.Process(target=main, args=arguments, daemon=True)
        self.group = group
        routes = seam.write_routes(group, Path(tempfile.mkstemp(dir=folder, suffix=".conf")[1]))
        with seam.routes(routes):
            self.process.start()
        theirs.close()
        self.case: tuple[str, str] | None = None
        self.at = "the start"
        self.so_far: Trial | None = None
        self.deadline = time.monotonic() + START

    def give(self, case: tuple[str, str]) -> None:
        self.case, self.at, self.so_far = case, "the making of the calls", None
        self.started = time.monotonic()
        self.deadline = self.started + self.limit
        self.pipe.send(case)

    def how_it_ended(self) -> str:
        self.process.join(10)
        code = self.process.exitcode
        how = signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"
        return f"{how}; {worker.crash_text(self.log)}".rstrip("; ")

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def run(
    cases: Iterable[tuple[str, str]],
    entries: Mapping[str, list[str]],
    depth: Depth = "full",
    jobs: int = 1,
    limit: float = 120,
    together: int = 48,
    main: Main = worker.main,
) -> Iterator[Trial]:
    """The trials of operators with dtypes, in the order in which they come.

    Args:
        entries: for each operator the OpInfo entries to take calls from.
        jobs: worker processes.
        limit: seconds that one case may take; after a third of it no further call is begun.
        together: operators that a worker routes to FlagGems; 1 tries each alone.
        main: what a worker process does, see worker.main.
    """
    waiting = deque(grouped(cases, together))
    os.environ.update({name: value for name, value in worker.ENVIRONMENT.items() if name not in os.environ})
    with tempfile.TemporaryDirectory(prefix="torch-fl-survey-") as name:
        workers = [
            Worker(entries, waiting[0][0], Path(name), depth, limit, main) for _ in range(min(jobs, len(waiting)))
        ]
        try:
            while workers:
                ready = connection.wait([w.pipe for w in workers], timeout=1.0)
                for place, member in reversed(list(enumerate(workers))):
                    trial = step(member, member.pipe in ready)
                    if trial is not None:
                        yield trial
                    if member.process.is_alive() and (member.case is not None or member.at == "the start"):
                        continue
                    if not waiting:
                        del workers[place]
                        member.stop()
                    elif member.process.is_alive() and member.group == waiting[0][0]:
                        member.give(waiting.popleft()[1])
                    else:
                        member.stop()
                        workers[place] = Worker(entries, waiting[0][0], Path(name), depth, limit, main)
        finally:
            for member in workers:
                member.stop()


def grouped(cases: Iterable[tuple[str, str]], together: int) -> Iterator[tuple[Group, tuple[str, str]]]:
    """Cases with the operators that are routed when they are tried: so many operators, then the next ones."""
    cases = list(cases)
    keys = list(dict.fromkeys(key for key, _ in cases))
    for start in range(0, len(keys), together):
        group = tuple(keys[start : start + together])
        yield from ((group, case) for case in cases if case[0] in group)


def step(member: Worker, has_news: bool) -> Trial | None:
    """Take one message of a worker, or find that it is lost or late."""
    if has_news:
        try:
            kind, content = member.pipe.recv()
        except (EOFError, OSError):
            return ended(member, "crash", member.how_it_ended())
        if kind == "done":
            member.case = None
            return content
        elif kind == "so far":
            member.so_far = content
        else:
            member.at = content if kind == "at" else "nothing"
    elif time.monotonic() > member.deadline and (member.case is not None or member.at == "the start"):
        member.process.kill()
        return ended(member, "timeout", f"longer than {member.limit:g} s")
    return None


def ended(member: Worker, verdict: str, note: str) -> Trial:
    case, at, member.case = member.case, member.at, None
    if member.process.is_alive():  # its pipe is closed: it is of no more use
        member.process.kill()
        member.process.join()
    if case is None:
        raise RuntimeError(f"a worker did not start: {note}")
    check, source, arguments = (*at.split("; ", 2), "", "")[:3]
    finding = Finding(check=check, aspect=verdict, message=note, source=source, arguments=arguments)
    trial = member.so_far or Trial(operator=case[0], dtype=case[1], depth=member.depth)
    if check not in OTHERS_FAULT:
        trial.verdict = verdict
    trial.findings.append(finding)
    count = trial.checks.setdefault(check, Count())
    count.runs, count.failed = count.runs + 1, count.failed + 1
    trial.seconds = round(time.monotonic() - member.started, 3)
    return trial
