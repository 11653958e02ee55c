"""What may be wrong with an installation, looked for before a program meets it: the command ``torch-fl doctor``.

A check is a function without arguments that yields findings.  It looks and changes nothing; what it needs of the
device it asks of :mod:`torch.flagos`, so a card that is ill shows as a finding and not as an exception.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

State = Literal["fine", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """One thing that a check saw.

    Args:
        state: ``fine``; ``note``, where something is as it should be and surprises people; ``wrong``, with the remedy in the sentence.
        subject: what was looked at, in a word or two.
        sentence: what was seen.
    """

    state: State
    subject: str
    sentence: str


Check = Callable[[], Iterator[Finding]]

#: the modules with the checks, in the order in which they are shown; each has a function ``check``
CHECKS = ("devices", "libtorch", "flaggems", "triton", "settings", "adapters")


def examine() -> list[Finding]:
    """What all checks say; one that fails itself is a finding, too."""
    findings: list[Finding] = []
    for name in CHECKS:
        try:
            findings += import_module(f"torch_fl.doctor.{name}").check()
        except Exception as error:  # a doctor who dies of the illness helps nobody
            findings.append(Finding("wrong", name, f"cannot be looked at: {type(error).__name__}: {error}".splitlines()[0]))
    return findings
