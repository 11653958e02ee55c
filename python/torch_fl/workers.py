"""Cases carried out in worker processes: a crash or an endless loop costs its own case and nothing else.

What a worker runs is ``main(pipe, log, *arguments)``, which :func:`serve` makes of a function.  It sends ``("ready", None)``, then receives cases until the pipe
ends and answers each with ``("done", result)``; meanwhile ``("at", text)`` says where it is and ``("so far", result)``
what it has.  `log` is a file for the last words of a dying process.
"""

import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any, NoReturn

CONTEXT = multiprocessing.get_context("spawn")  # a forked child could not use a device that its parent used
START = 300.0  # seconds until a worker must be ready
AT_START = "the start"


class Worker:
    """One process and the case that it is at."""

    def __init__(self, main: Callable[..., None], arguments: tuple, folder: Path) -> None:
        self.log = Path(tempfile.mkstemp(dir=folder, suffix=".log")[1])
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=main, args=(theirs, str(self.log), *arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Any = None
        self.at = AT_START
        self.so_far: Any = None
        self.began = time.monotonic()
        self.limit = START

    def give(self, case: Any, limit: float) -> None:
        """Send it a case, for which it has `limit` seconds."""
        self.case, self.at, self.so_far = case, "the first step", None
        self.began, self.limit = time.monotonic(), limit
        self.pipe.send(case)

    def is_busy(self) -> bool:
        return self.process.is_alive() and (self.case is not None or self.at == AT_START)

    def is_late(self) -> bool:
        return (self.case is not None or self.at == AT_START) and time.monotonic() > self.began + self.limit

    def how_it_ended(self) -> str:
        """``SIGSEGV`` or ``exit status 3``."""
        self.process.join(10)
        code = self.process.exitcode
        return signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def run(
    cases: Iterable[Any],
    begin: Callable[[Any, Path], Worker],
    lost: Callable[[Worker, str, str], Any],
    jobs: int,
    limit: float,
    fits: Callable[[Any, Any], bool] = lambda worker, case: True,
    until: float | None = None,
    more: Callable[[Any], Iterable[Any]] = lambda result: (),
) -> Iterator[Any]:
    """The results, in the order in which they come.

    Args:
        begin: starts a worker that the case fits, with its files in the folder given.
        lost: the result of a case whose worker did not survive it: the worker, ``crash`` or ``timeout``, and how it ended.
        jobs: worker processes.
        limit: seconds that one case may take.
        fits: whether a worker that is free may take the case. It takes the first that it may; where there is none, another
            worker is begun in its place, for a case that no worker may take, where there is one.
        more: cases that a result asks for; they come next.
        until: the time of `time.monotonic` at which everything ends; what is left has no result.

    Raises:
        RuntimeError: a worker did not start.
    """
    _start_tracker()
    waiting = deque(cases)
    with tempfile.TemporaryDirectory(prefix="torch-fl-workers-") as name:
        folder = Path(name)
        workers: list[Worker] = []
        try:
            for _ in range(min(jobs, len(waiting))):
                workers.append(begin(_unserved(waiting, workers, fits), folder))
            while workers and (until is None or time.monotonic() < until):
                ready = connection.wait([worker.pipe for worker in workers], timeout=1.0)
                for place, worker in reversed(list(enumerate(workers))):
                    result = _step(worker, worker.pipe in ready, lost)
                    if result is not None:
                        waiting.extendleft(more(result))
                        yield result
                    if worker.is_busy():
                        continue
                    if not waiting:
                        del workers[place]
                        worker.stop()
                        continue
                    place_of_next = next((i for i, case in enumerate(waiting) if fits(worker, case)), None)
                    if worker.process.is_alive() and place_of_next is not None:
                        case = waiting[place_of_next]
                        del waiting[place_of_next]
                        worker.give(case, limit)
                    else:
                        worker.stop()
                        del workers[place]
                        workers.insert(place, begin(_unserved(waiting, workers, fits), folder))
        finally:
            for worker in workers:
                if worker.is_busy():  # its case is given up
                    worker.process.kill()
            for worker in workers:
                worker.stop()


def serve(pipe: connection.Connection, log: str, prepare: Callable[[Callable[[str, Any], None]], Callable[[Any], Any]]) -> None:
    """A worker's side, until its pipe ends: what it says on standard error is in the log, also where it dies.

    Args:
        prepare: is called once, when PyTorch is there, with what tells ``("at", text)`` or ``("so far", result)``; gives the
            function from a case to its result.
    """
    with open(log, "w") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())  # what a dying process says belongs to its case
        faulthandler.enable(file, all_threads=False)
        warnings.simplefilter("ignore")
        import torch

        torch.set_num_threads(1)  # the workers share the processors
        answer = prepare(lambda kind, content: pipe.send((kind, content)))
        pipe.send(("ready", None))
        while True:
            try:
                case = pipe.recv()
            except (EOFError, KeyboardInterrupt):
                return
            pipe.send(("done", answer(case)))


def give_up(why: str) -> NoReturn:
    """End a worker that can do nothing more, such as one whose device is lost; its case counts as a crash."""
    print(f"flagos: {why}", file=sys.stderr, flush=True)
    os._exit(1)


def _unserved(waiting: deque, workers: list[Worker], fits: Callable[[Any, Any], bool]) -> Any:
    """The first case that no worker may take; where there is none, the first."""
    return next((case for case in waiting if not any(fits(worker, case) for worker in workers)), waiting[0])


def _start_tracker() -> None:
    """Python's process that removes the locks of killed workers, told to do it without a word."""
    former = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"
    try:
        resource_tracker.ensure_running()
    finally:
        if former is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = former


def _step(worker: Worker, has_news: bool, lost: Callable[[Worker, str, str], Any]) -> Any:
    """Take one message of a worker, or find that it is lost or late; the result of its case, if that is over."""
    if has_news:
        try:
            kind, content = worker.pipe.recv()
        except (EOFError, OSError):
            return _ended(worker, "crash", worker.how_it_ended(), lost)
        if kind == "done":
            worker.case = None
            return content
        if kind == "so far":
            worker.so_far = content
        else:
            worker.at = content if kind == "at" else "nothing"
    elif worker.is_late():
        worker.process.kill()
        return _ended(worker, "timeout", f"longer than {worker.limit:g} s", lost)
    return None


def _ended(worker: Worker, status: str, how: str, lost: Callable[[Worker, str, str], Any]) -> Any:
    if worker.process.is_alive():  # its pipe is closed: it is of no more use
        worker.process.kill()
        worker.process.join()
    if worker.case is None:
        raise RuntimeError(f"a worker did not start: {how}; {worker.log.read_text(errors='replace').strip()[-500:]}")
    result = lost(worker, status, how)
    worker.case = None
    return result
