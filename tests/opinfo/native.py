"""A reference of the card's own: the same case in a process without torch_fl, on the device that PyTorch drives.

PyTorch's autograd serves one accelerator in a process, so the two sides cannot share one. For each case the other process runs
every program first, with the same seeds, and sends what it saw; this one runs them again on flagos and compares. The checks
decide nothing by what they see, so both meet the same programs; they are told apart by check and sample all the same.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections import defaultdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import torch

from .cases import Case
from .checks import Result
from .compare import Difference, Tolerance
from .expectations import Expectations
from .judge import Settings, carry_out
from .mirror import CPU
from .seen import Seen, compare
from .trial import Program, Side, Trial

Label = tuple[str, int]
MADE_UP = ("empty", "0-d", "error inputs")  # checks whose indices may be out of range, which ends the use of a card


class Refused(Exception):
    """Stands for what was not run: the CPU refuses it, or the native device has no kernel for it."""


class Recording(Trial):
    """Runs programs on one device and keeps what was seen."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.seen: dict[Label, list[Seen | None]] = defaultdict(list)

    def __call__(self, program: Program, *arguments: Any, tolerance: Tolerance | None = None) -> Side:
        if self.label[0].startswith(MADE_UP) and Side.run(program, arguments, CPU).error is not None:
            self.seen[self.label].append(None)
            return Side(self.device, error=Refused())
        side = Side.run(program, arguments, self.device)
        self.seen[self.label].append(Seen.of(side))
        return side


class Comparing(Trial):
    """Runs programs on the device under test and compares with what was seen on the other."""

    def __init__(self, device: torch.device, values: bool, wanted: dict[Label, list[Seen | None]]) -> None:
        super().__init__(device, values)
        self.wanted = wanted

    def __call__(self, program: Program, *arguments: Any, tolerance: Tolerance | None = None) -> Side:
        waiting = self.wanted.get(self.label)
        if not waiting:
            raise Difference("structure", "the native device has not met this program")
        wanted = waiting.pop(0)
        if wanted is None or (
            wanted.error and wanted.error[0] == "NotImplementedError"
        ):  # flagos has the CPU's kernel then
            return Side(self.device, error=Refused())
        self.at(self.device)
        side = Side.run(program, arguments, self.device)
        compare(wanted, Seen.of(side), self.values, tolerance)
        return side


class Reference:
    """The other process, begun when it is first asked and again when a case has ended it.

    Args:
        settings: `native` names its device.
        reviewed: where this installation may differ from it.
    """

    def __init__(self, settings: Settings, reviewed: Expectations) -> None:
        self.settings = settings
        self.reviewed = reviewed
        self.process: subprocess.Popen | None = None
        self.pipe: Connection | None = None

    def judge(self, case: Case, values: bool, tell: Any = lambda text: None) -> Result:
        tell(f"the native reference on {self.settings.native}")
        try:
            wanted = self._ask(case)
        except (EOFError, OSError):
            status = self.end()
            return Result(case, "broken", note=f"the process of the native device ended with status {status}")
        trial = Comparing(torch.device(self.settings.device), values, wanted)
        return carry_out(case, self.settings, self.reviewed, trial, tell)

    def _ask(self, case: Case) -> dict[Label, list[Seen | None]]:
        if self.process is None:
            self._begin()
        self.pipe.send(case)
        return torch.load(io.BytesIO(self.pipe.recv_bytes()), weights_only=False)

    def _begin(self) -> None:
        self.pipe, theirs = Pipe()
        environ = os.environ | {
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        self.process = subprocess.Popen(command, env=environ, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self.pipe.send((self.settings, self.reviewed))

    def end(self) -> int:
        """Close the pipe and wait for the process; its exit status."""
        self.pipe.close()
        status, self.process = self.process.wait(30), None
        return status


def main(number: int) -> None:
    """The other process: receives cases, sends what it saw; ends at the end of the pipe, or when its card is lost."""
    pipe = Connection(number)
    settings, reviewed = pipe.recv()
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    warnings.simplefilter("ignore")
    device = torch.device(settings.native)
    if device.index is None and device.type != "cpu":
        device = torch.device(device.type, 0)
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        trial = Recording(device)
        carry_out(case, settings, reviewed, trial, lambda text: None)
        torch.get_device_module(
            device
        ).synchronize()  # raises where an assertion of the case has ended the use of the card
        content = io.BytesIO()
        torch.save(dict(trial.seen), content)
        pipe.send_bytes(content.getbuffer())


if __name__ == "__main__":
    main(int(sys.argv[1]))
