"""A worker process: tries operators that come through a pipe, and says what it is at."""

from __future__ import annotations

import faulthandler
import os
import re
import sys
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

from .evidence import Depth, Finding, Trial

ENVIRONMENT = {
    "FLAGOS_HOST_GUARD": "1",  # every block ends at a page that nobody may touch: what writes beyond it ends the process
    "FLAGOS_HOST_MEMORY": "96GiB",  # of addresses; 64-bit offsets reserve that and touch little
}


def main(pipe: Connection, crash_log: str, entries: dict[str, list[str]], depth: Depth, budget: float) -> None:
    """Loop of a worker: receives (group, (operator, dtype)), sends ("at", text) and ("done", Trial); ends with the pipe.

    Args:
        budget: seconds after which an operator's remaining calls are left out.
    """
    with open(crash_log, "w") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())  # what a dying process says belongs to its case
        faulthandler.enable(log, all_threads=False)
        warnings.simplefilter("ignore")
        import torch

        torch.set_num_threads(1)
        from . import enlarge, seam, sources, trial

        seam.watch()
        pipe.send(("ready", None))
        while True:
            try:
                _, (key, dtype) = pipe.recv()
            except (EOFError, KeyboardInterrupt):
                return
            tell = lambda kind, content: pipe.send((kind, content))
            try:
                calls = sources.all_calls(key, getattr(torch, dtype), entries, depth)
                done = trial.run(key, dtype, sources.chosen(calls, depth), tell, depth, budget)
                if done.verdict == "correct" and seam.native():
                    large = enlarge.large(calls)
                    done.large = {**large.tree, "enlarged": large.enlarged} if large else None
            except trial.Lost as error:
                print(f"flagos: {error}", file=sys.stderr, flush=True)
                os._exit(1)
            except Exception as error:  # noqa: BLE001 - a fault of the survey is no fault of the operator
                broken = Finding(check="the survey itself", aspect="broken", message=f"{type(error).__name__}: {error}")
                done = Trial(operator=key, dtype=dtype, depth=depth, findings=[broken])
            pipe.send(("done", done))


def crash_text(log: Path) -> str:
    """What a process said before it ended, in a line: the device's own sentence, else where Python was."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("flagos:", "terminate"))]
    frames = [
        re.sub(r'^File ".*/(.+?)", line (\d+) in (\w+)$', r"\1:\2 in \3", line)
        for line in lines
        if line.startswith("File")
    ]
    return " | ".join(told[:2] or frames[:4] or lines[-2:])
