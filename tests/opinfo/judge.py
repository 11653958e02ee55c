"""One case carried out in this process, on whatever trial is given. Imports nothing of torch_fl: the process of a native
reference must not have it."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import cases
from .cases import Case
from .checks import Bench, Plan, Result
from .compare import Tolerance
from .expectations import Expectations
from .trial import Trial


@dataclass(frozen=True)
class Settings:
    """What holds for a whole run.

    Attributes:
        device: the device under test.
        depth: the most samples each check looks at; None for all.
        checks: shell patterns of the checks to do.
        native: the device of a process without torch_fl that says what is right; None for the CPU of this one.
    """

    device: str = "flagos:0"
    depth: int | None = None
    checks: str = "*"
    native: str | None = None


@cache
def database(name: str) -> dict[str, Any]:
    return cases.DATABASES[name]()


def seeds_itself(info: Any) -> bool:
    """Whether the operator of an OpInfo is wrapped so that it sets the seed and puts the generator back."""
    code = getattr(getattr(info, "op", None), "__code__", None)
    return code is not None and "wrapper_set_seed" in code.co_names


class ReviewedPlan(Plan):
    """A plan that follows the reviewed list."""

    def __init__(self, case: Case, settings: Settings, reviewed: Expectations) -> None:
        super().__init__(settings.depth, settings.checks)
        self.case = case
        self.reviewed = reviewed
        self.native = settings.native is not None
        self.host_arguments = reviewed.wants_host_arguments(case)

    def wants(self, check: str) -> bool:
        return super().wants(check) and not self.reviewed.crashes_cpu(self.case, check)

    def tolerance(self, check: str) -> Tolerance | None:
        """Against a native device torch.testing's own, where nothing was reviewed: sums by atomics have no fixed order."""
        return self.reviewed.tolerance(self.case, check) or (Tolerance(None, None) if self.native else None)


def carry_out(case: Case, settings: Settings, reviewed: Expectations, trial: Trial, tell: Any) -> Result:
    """The result of a case; what was reviewed is settled."""
    from . import modules, operators, optimizers, planted

    groups = {
        "ops": operators.check,
        "foreach": operators.check,
        "modules": modules.check,
        "optimizers": optimizers.check,
        "planted": planted.check,
    }
    start = time.monotonic()
    bench = Bench(case, trial, ReviewedPlan(case, settings, reviewed), tell)
    try:
        groups[case.database](bench, database(case.database)[case.name])
    except Exception:  # noqa: BLE001 - a fault of the checks or of a sample is reported as such, and the run goes on
        bench.result.status = "broken"
        bench.result.note = traceback.format_exc(limit=-6)
    reviewed.settle(bench.result)
    if bench.result.status == "pass" and bench.result.refused:
        bench.result.status = "refused"
    bench.result.seconds = round(time.monotonic() - start, 3)
    return bench.result
