"""Torch and torch_fl imported in a process of its own: what crashes or hangs there is a finding, and the rest is still told."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from torch_fl.doctor import Finding, examine

# Without the folder that the doctor is called in, which a program elsewhere does not have on its path.
PROGRAM = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
def tell(line):
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(line + "\\n")
import torch
tell('{"imported": "torch"}')
import torch_fl
tell('{"imported": "torch_fl"}')
from torch_fl.doctor.child import report
report(tell)
"""
REMEDIES = {
    "torch": "if nothing above explains it, install pytorch and libtorch again",
    "torch_fl": "if nothing above explains it, install torch-fl-runtime again",
    "the device": "look at the driver; FLAGOS_LOG=dispatch shows the last operator that ran",
}


def report(tell) -> None:
    """Run the checks that ask torch and the device, in this process, and hand each finding on as a line of JSON."""
    for finding in examine():
        tell(json.dumps({"finding": vars(finding)}))


def findings(timeout: float) -> Iterator[Finding]:
    """What the checks in the process say, and how it ended where it did not end well.

    Args:
        timeout: the seconds after which it counts as hanging, and is ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        told, errors = Path(folder, "told"), Path(folder, "errors")
        told.touch()
        with errors.open("wb") as sink:
            try:
                status: int | None = subprocess.run(
                    [sys.executable, "-c", PROGRAM, str(told)], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, timeout=timeout, check=False
                ).returncode
            except subprocess.TimeoutExpired:
                status = None
        lines = [json.loads(line) for line in told.read_text("utf-8").splitlines() if line.endswith("}")]
        said = errors.read_text("utf-8", "replace")
    yield from (Finding(**line["finding"]) for line in lines if "finding" in line)
    if status == 0:
        yield Finding("fine", "import", "torch and torch_fl are imported")
    else:
        yield _ending([line["imported"] for line in lines if "imported" in line], status, timeout, said)


def _ending(imported: list[str], status: int | None, timeout: float, said: str) -> Finding:
    at = next((name for name in ("torch", "torch_fl") if name not in imported), "the device")
    what = f"import {at}" if at != "the device" else "asking the device"
    last = " / ".join(line.strip() for line in said.splitlines() if line.strip())[-300:]
    if status is None:
        return Finding("wrong", "import", f"{what} does not end within {timeout:g} s; its last lines: {last or 'none'}", REMEDIES[at])
    if status < 0:
        return Finding("wrong", "import", f"{what} kills the process ({_signal(-status)}); its last lines: {last or 'none'}", REMEDIES[at])
    reason = said.strip().splitlines()[-1] if said.strip() else "without a word"
    sentence, _, remedy = reason.rpartition("; ")  # start-up's own sentences end with what to do
    if at == "torch_fl" and sentence:
        return Finding("wrong", "import", f"{what} fails: {sentence}", remedy)
    return Finding("wrong", "import", f"{what} fails: {reason}", REMEDIES[at])


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
