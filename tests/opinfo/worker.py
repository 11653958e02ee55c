"""A worker process: carries out cases that come through a pipe, and says where it is."""

from __future__ import annotations

import faulthandler
import time
import traceback
import warnings
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

import torch

from . import cases
from .cases import Case
from .checks import Bench, Plan, Result
from .compare import Tolerance
from .own import REVIEWED
from .trial import Trial


@dataclass(frozen=True)
class Settings:
    """What holds for a whole run.

    Attributes:
        device: the device under test.
        depth: the most samples each check looks at; None for all.
        checks: shell patterns of the checks to do, with commas between them.
    """

    device: str = "flagos:0"
    depth: int | None = None
    checks: str = "*"


@cache
def database(name: str) -> dict[str, Any]:
    return cases.DATABASES[name]()


def seeds_itself(info: Any) -> bool:
    """Whether the operator of an OpInfo is wrapped so that it sets the seed and puts the generator back."""
    code = getattr(getattr(info, "op", None), "__code__", None)
    return code is not None and "wrapper_set_seed" in code.co_names


class ReviewedPlan(Plan):
    """A plan that follows the reviewed list."""

    def __init__(self, case: Case, settings: Settings) -> None:
        super().__init__(settings.depth, settings.checks)
        self.case = case
        self.host_arguments = REVIEWED.wants_host_arguments(case)

    def wants(self, check: str) -> bool:
        return super().wants(check) and not REVIEWED.crashes_cpu(self.case, check)

    def tolerance(self, check: str) -> Tolerance | None:
        return REVIEWED.tolerance(self.case, check)


def judge(case: Case, settings: Settings, tell: Any = lambda text: None) -> Result:
    """Carry out one case in this process."""
    from . import modules, operators, optimizers, planted

    groups = {
        "ops": operators.check,
        "foreach": operators.check,
        "modules": modules.check,
        "optimizers": optimizers.check,
        "planted": planted.check,
    }
    start = time.monotonic()
    info = database(case.database)[case.name]
    trial = Trial(
        torch.device(settings.device),
        values=not REVIEWED.leaves_memory(case),
        seeds_itself=seeds_itself(info),
    )
    bench = Bench(case, trial, ReviewedPlan(case, settings), tell)
    try:
        groups[case.database](bench, info)
    except Exception:  # noqa: BLE001 - a fault of the checks or of a sample is reported as such, and the run goes on
        bench.result.status = "broken"
        bench.result.note = traceback.format_exc(limit=-6)
    REVIEWED.settle(bench.result)
    if bench.result.status == "pass" and bench.result.refused:
        bench.result.status = "refused"
    bench.result.seconds = round(time.monotonic() - start, 3)
    return bench.result


def main(pipe: Connection, crash_log: str, settings: Settings) -> None:
    """Loop of a worker: receives cases, sends ("at", text) and ("done", Result); ends at the end of the pipe."""
    with open(crash_log, "w") as log:
        faulthandler.enable(log)
        torch.set_num_threads(1)
        torch.set_warn_always(True)
        warnings.simplefilter("ignore")
        pipe.send(("ready", None))
        while True:
            try:
                case = pipe.recv()
            except (EOFError, KeyboardInterrupt):
                return
            pipe.send(("done", judge(case, settings, lambda text: pipe.send(("at", text)))))
