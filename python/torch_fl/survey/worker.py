"""A worker process: tries operators that come through a pipe, and says what it is at."""

from __future__ import annotations

import re
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from torch_fl import workers

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

    def prepare(tell: Callable[[str, Any], None]) -> Callable[[Any], Trial]:
        import torch

        from . import enlarge, seam, sources, trial

        seam.watch()

        def tried(case: tuple[Any, tuple[str, str]]) -> Trial:
            _, (key, dtype) = case
            try:
                calls = sources.all_calls(key, getattr(torch, dtype), entries, depth)
                done = trial.run(key, dtype, sources.chosen(calls, depth), tell, depth, budget)
                if done.verdict == "correct" and seam.native():
                    done.large = enlarge.told(calls)
                return done
            except trial.Lost as error:
                workers.give_up(str(error))
            except Exception as error:  # noqa: BLE001 - a fault of the survey is no fault of the operator
                broken = Finding(check="the survey itself", aspect="broken", message=f"{type(error).__name__}: {error}")
                return Trial(operator=key, dtype=dtype, depth=depth, findings=[broken])

        return tried

    workers.serve(pipe, crash_log, prepare)


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
