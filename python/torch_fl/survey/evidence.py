"""What a survey found out, as it is written to disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

Verdict = Literal["correct", "wrong", "error", "crash", "timeout", "idle", "untested"]
"""correct: everything that was compared equals the CPU's within tolerance, and Triton kernels ran.
wrong: some result differs. error: FlagGems or Triton raised where the CPU computes. crash: the process died.
timeout: the limit passed. idle: right, but no Triton kernel ran in any check (FlagGems declined or did without).
untested: no call of the operator with this dtype that the CPU computes was found."""

Depth = Literal["quick", "full"]
"""How much an operator is tried: `quick` compiles few kernels, `full` tries every layout."""

BAD: tuple[Verdict, ...] = ("wrong", "error", "crash", "timeout")
ORDER: tuple[Verdict, ...] = ("crash", "timeout", "wrong", "error", "correct", "idle", "untested")


TOLERABLE = ("strides", "sign of zero")  # aspects that make no result wrong
LONGEST = 90  # characters of a message
OUR_WORDS = re.compile(r"RuntimeError: flagos: aten::\S+ \(FlagGems' \S+\): ")  # the operator is named beside it
FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")  # of the machine that was measured on


def tidy(message: str) -> str:
    """The message in one line of bounded length, without folders and what the evidence says beside it."""
    line = FOLDERS.sub("", OUR_WORDS.sub("", " ".join(message.split())))
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


class Count(BaseModel):
    """Calls of one check: how many ran on the device, how many of them failed."""

    runs: int = 0
    failed: int = 0


class Finding(BaseModel):
    """One call whose outcome is not the CPU's."""

    check: str
    aspect: str  #: values, dtype, shape, identity, exception, strides, ...
    message: Annotated[str, BeforeValidator(tidy)]
    source: str = ""  #: the sample that the call is from
    arguments: str = ""


class Cost(BaseModel):
    """One call of the size that matters: FlagGems beside the kernel that serves otherwise, on a card, alone."""

    state: Literal["measured", "no time", "failed"] = "measured"
    ratio: float | None = None  #: FlagGems' time by the other kernel's: the median of rounds that take turns
    spread: tuple[float, float] | None = None  #: quartiles of the ratio
    milliseconds: tuple[float, float] | None = None  #: of FlagGems and of the other kernel: medians
    call: str = ""  #: dtypes and sizes
    enlarged: bool = True  #: False: the sample's own sizes, which could not be brought to such a size
    note: Annotated[str, BeforeValidator(tidy)] = ""


class Trial(BaseModel):
    """An operator with one dtype."""

    operator: str = ""
    dtype: str
    depth: Depth = "full"
    verdict: Verdict = "untested"
    needs: list[str] = Field(
        default_factory=list, description="conditions of a route without which calls fail: `numel>=1`"
    )
    signatures: list[list[str]] = Field(
        default_factory=list, description="dtypes that stood together in a call that was right"
    )
    checks: dict[str, Count] = Field(default_factory=dict)
    findings: list[Finding] = Field(default_factory=list, description="the first ones")
    calls: int = 0  #: that the slot was given
    launches: int = 0  #: of Triton kernels
    ratio: float | None = None  #: FlagGems' time by the CPU kernel's, on the largest sample; warm
    cost: Cost | None = None  #: on a card
    large: Any = None  #: the call whose cost is measured, as :mod:`.recipe` tells it; only in the journal
    seconds: float = 0.0
    cut: int = 0  #: calls left out because the time was up
    executor: str = ""


class Guard(BaseModel):
    """A place in FlagGems' source that asks for a certain device."""

    function: str
    file: str
    line: int
    text: str
    refuses: bool  #: raises or asserts, rather than choosing between ways
    through: str = ""  #: the helper that holds it, where it is not the function itself


class Operator(BaseModel):
    """An entry of FlagGems' table."""

    operator: str
    function: str
    exists: bool = True  #: in this PyTorch
    composite: bool = False
    own: bool = False  #: the platform's own kernels serve it, too
    guards: list[Guard] = Field(default_factory=list)
    trials: list[Trial] = Field(default_factory=list)

    @model_validator(mode="after")
    def _name_trials(self) -> Operator:
        for trial in self.trials:
            trial.operator = self.operator
        return self


class Run(BaseModel):
    """One call of the command that tried something."""

    command: str
    date: str
    executor: str  #: what executed Triton kernels
    seconds: float = 0.0  #: from its start to its last trial
    worked: float = 0.0  #: sum over its trials, in the workers


class Making(BaseModel):
    """How the evidence came about."""

    runs: list[Run]
    date: str
    versions: dict[str, str]
    machine: str
    seam: str  #: how the calls reached FlagGems
    own: str = ""  #: the platform's slot of kernels that serves where FlagGems does not


class Evidence(BaseModel):
    """The whole document."""

    making: Making
    operators: list[Operator]

    @property
    def trials(self) -> list[Trial]:
        return [trial for operator in self.operators for trial in operator.trials]

    def write(self, path: Path) -> None:
        """One line for each operator: short, and what a new run changes can be read as a difference."""
        parts = (self.making, *map(shortened, self.operators))
        making, *operators = (part.model_dump_json(exclude_defaults=True) for part in parts)
        lines = ",\n".join(operators)
        path.write_text(f'{{"making": {making},\n"operators": [\n{lines}\n]}}\n', "utf-8")


def shortened(operator: Operator) -> Operator:
    """The operator with what decided the verdict of each trial; the journal has the rest."""

    def kept(trial: Trial) -> Trial:
        findings = sorted(trial.findings, key=lambda found: found.aspect in TOLERABLE)
        said_elsewhere = {"operator": "", "executor": "", "seconds": 0.0, "checks": {}, "large": None}
        return trial.model_copy(update={"findings": findings[:1], **said_elsewhere})

    return operator.model_copy(update={"trials": [kept(trial) for trial in operator.trials]})


def read(path: Path) -> Evidence:
    """The evidence in a file; raises ValueError with one sentence."""
    try:
        return Evidence.model_validate_json(path.read_text("utf-8"))
    except (OSError, ValidationError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
        raise ValueError(
            f"{path}: not evidence of `torch-fl survey` ({reason}); give a file that its --json wrote"
        ) from None
