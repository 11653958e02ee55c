"""A worker whose operators misbehave on purpose, for the tests of the runner."""

from __future__ import annotations

import os
import signal
import sys
import time
from multiprocessing.connection import Connection

from torch_fl.survey import seam, variants
from torch_fl.survey.evidence import Depth, Trial
from torch_fl.survey.trial import CPU_STEP


def main(pipe: Connection, crash_log: str, entries: dict[str, list[str]], depth: Depth, budget: float) -> None:
    """As worker.main, but the dtype says what happens: `crash`, `hang`, `exit`, `far`, `cpu`; `routes` tells the routing file."""
    with open(crash_log, "w") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
    pipe.send(("ready", None))
    while True:
        try:
            _, (key, dtype) = pipe.recv()
        except EOFError:
            return
        trial = Trial(operator=key, dtype=dtype, depth=depth, verdict="correct", launches=1, calls=1)
        pipe.send(("at", "samples; nn.planted; float32[2]"))
        if dtype == "crash":
            print("flagos: a kernel wrote 4 bytes past the end", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if dtype == "exit":
            os._exit(3)
        if dtype == "hang":
            time.sleep(600)
        if dtype == "far":
            pipe.send(("so far", trial))
            pipe.send(("at", f"{variants.FAR}; nn.planted; float32[2]"))
            os.kill(os.getpid(), signal.SIGSEGV)
        if dtype == "cpu":
            pipe.send(("so far", trial))
            pipe.send(("at", f"{CPU_STEP}; nn.planted; float32[2]"))
            os.kill(os.getpid(), signal.SIGFPE)
        if dtype == "routes":
            with open(os.environ[seam.VARIABLE], encoding="utf-8") as file:
                trial.executor = file.read()
        pipe.send(("done", trial))
