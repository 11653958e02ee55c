"""Worker processes: a crash or an endless loop costs its own case and nothing else."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import connection
from pathlib import Path

from . import worker
from .cases import Case
from .checks import Result
from .worker import Settings

CONTEXT = multiprocessing.get_context("spawn")  # a forked child could not use a device that its parent used
START = 120.0  # seconds until a worker must be ready


class Worker:
    """One process and the case that it is at."""

    def __init__(self, settings: Settings, folder: Path, limit: float) -> None:
        self.limit = limit
        self.log = Path(tempfile.mkstemp(dir=folder, suffix=".log")[1])
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=worker.main, args=(theirs, settings, str(self.log)), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Case | None = None
        self.at = "the start"
        self.deadline = time.monotonic() + START

    def give(self, case: Case) -> None:
        self.case, self.at = case, "the making of the samples"
        self.deadline = time.monotonic() + self.limit
        self.pipe.send(case)

    def lost(self) -> str:
        """How the process ended, in words."""
        self.process.join(10)
        code = self.process.exitcode
        how = signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"
        where = self.log.read_text().strip().splitlines()
        return f"{how} at {self.at}" + (f"; {' | '.join(where[:12])}" if where else "")

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def run(cases: Iterable[Case], settings: Settings, jobs: int, limit: float) -> Iterator[Result]:
    """The results, in the order in which they come.

    Args:
        jobs: worker processes.
        limit: seconds that one case may take.
    """
    waiting = deque(cases)
    with tempfile.TemporaryDirectory(prefix="torch-fl-opinfo-") as name:
        workers = [Worker(settings, Path(name), limit) for _ in range(min(jobs, len(waiting)))]
        try:
            while workers:
                ready = connection.wait([w.pipe for w in workers], timeout=1.0)
                for member in list(workers):
                    result = step(member, member.pipe in ready)
                    if result is not None:
                        yield result
                    if member.process.is_alive() and member.case is not None:
                        continue
                    if member.process.is_alive() and member.at == "the start":
                        continue
                    if waiting and not member.process.is_alive():
                        workers[workers.index(member)] = Worker(settings, Path(name), limit)
                        member.stop()
                    elif waiting:
                        member.give(waiting.popleft())
                    else:
                        workers.remove(member)
                        member.stop()
        finally:
            for member in workers:
                member.stop()


def step(member: Worker, has_news: bool) -> Result | None:
    """Take one message of a worker, or find that it is lost or late."""
    if has_news:
        try:
            kind, content = member.pipe.recv()
        except (EOFError, OSError):
            return ended(member, "crash", member.lost())
        if kind == "at":
            member.at = content
        elif kind == "ready":
            member.at = "nothing"
        elif kind == "done":
            member.case = None
            return content
    elif time.monotonic() > member.deadline and (member.case is not None or member.at == "the start"):
        member.process.kill()
        member.process.join()
        return ended(member, "timeout", f"longer than {member.limit:g} s at {member.at}")
    return None


def ended(member: Worker, status: str, note: str) -> Result:
    case, member.case = member.case, None
    if member.process.is_alive():  # its pipe is closed: it is of no more use
        member.process.kill()
        member.process.join()
    if case is None:
        raise RuntimeError(f"a worker did not start: {note}")
    return Result(case, status, note=note)
