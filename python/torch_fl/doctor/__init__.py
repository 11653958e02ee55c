"""What may be wrong with an installation, looked for before a program meets it: the command ``torch-fl doctor``.

A check is a function without arguments that yields findings.  It looks and changes nothing.  The first checks
(:data:`OUTSIDE`) import neither torch nor torch_fl's native part, so that they work where those do not; the others
(:data:`INSIDE`) run with both imported, in a process of their own (:mod:`torch_fl.doctor.child`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

State = Literal["fine", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One thing that a check saw.

    Args:
        state: ``fine``; ``note``, where something is as it should be and surprises people; ``wrong``.
        subject: what was looked at, in a word or two.
        sentence: what was seen.
        remedy: what to do; something wrong has one.

    Raises:
        ValueError: something is wrong and there is no remedy.
    """

    state: State
    subject: str
    sentence: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.state == "wrong" and not self.remedy:
            raise ValueError(f"{self.subject}: what is wrong needs a remedy ({self.sentence})")


Check = Callable[[], Iterator[Finding]]

#: the modules with the checks that need neither torch nor a device, in the order in which they are shown; each has a function ``check``
OUTSIDE = ("interpreter", "packages", "compatibility", "libraries", "driver", "owners", "pins", "settings")
#: those that ask torch and the device
INSIDE = ("devices", "libtorch", "routes", "flaggems", "triton", "adapters")


def examine(names: Sequence[str] = INSIDE) -> Iterator[Finding]:
    """What these checks say, one after the other; one that fails itself is a finding, too."""
    for name in names:
        try:
            yield from import_module(f"torch_fl.doctor.{name}").check()
        except Exception as error:  # a doctor who dies of the illness helps nobody
            said = f"cannot be looked at: {type(error).__name__}: {error}".splitlines()[0]
            yield Finding("wrong", name, said, "mend what else is wrong here first; then install torch-fl-runtime again")


def examine_all(timeout: float) -> Iterator[Finding]:
    """What all checks say.

    Args:
        timeout: the seconds that torch, torch_fl and the device have to answer.
    """
    from torch_fl.doctor import child

    yield from examine(OUTSIDE)
    yield from child.findings(timeout)


def document(findings: Sequence[Finding]) -> dict:
    """The JSON of the command: ``schema``, ``wrong`` (how many are) and ``findings``."""
    wrong = sum(finding.state == "wrong" for finding in findings)
    return {"schema": 1, "wrong": wrong, "findings": [vars(finding) for finding in findings]}
