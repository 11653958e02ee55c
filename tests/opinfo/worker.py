"""A worker process: carries out cases that come through a pipe, and says where it is."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch_fl import workers

from . import native
from .cases import Case
from .checks import Result
from .judge import Settings, carry_out, database, seeds_itself
from .own import AGAINST_NATIVE, REVIEWED
from .trial import Trial


def judge(
    case: Case, settings: Settings, tell: Any = lambda text: None, reference: native.Reference | None = None
) -> Result:
    """Carry out one case in this process, against the CPU or a native reference."""
    values = not REVIEWED.leaves_memory(case)
    if reference is not None:
        return reference.judge(case, values, tell)
    itself = seeds_itself(database(case.database)[case.name])
    return carry_out(case, settings, REVIEWED, Trial(torch.device(settings.device), values, itself), tell)


def main(pipe: Connection, crash_log: str, settings: Settings) -> None:
    """Loop of a worker: receives cases, sends ("at", text) and ("done", Result); ends at the end of the pipe."""

    def prepare(tell: Callable[[str, Any], None]) -> Callable[[Case], Result]:
        torch.set_warn_always(True)
        reference = native.Reference(settings, AGAINST_NATIVE) if settings.native else None
        return lambda case: judge(case, settings, lambda text: tell("at", text), reference)

    workers.serve(pipe, crash_log, prepare)
