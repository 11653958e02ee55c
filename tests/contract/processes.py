"""Programs in processes of their own, which start in a fraction of a second.

Importing PyTorch takes seconds. One process does it, without the device, and each program runs in a fork of it: there
`torch_fl` is imported, the device starts, and the interpreter ends as in any process. What PyTorch or the interpreter
itself reads when it starts, needs a real start: :func:`run` gives one when such a variable differs.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Mapping
from pathlib import Path

# Read after the fork: by torch_fl, by what it loads, by the import system.
LATE = ("FLAGOS_", "GEMS_", "FLAGGEMS_", "TRITON_", "TORCH_FL", "TORCH_DEVICE_BACKEND", "PYTHONPATH", "COLUMNS", "PYTEST_")
LIMIT = 120  # seconds


class Nursery:
    """The process that has imported PyTorch; it forks one program at a time."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.process: subprocess.Popen[str] | None = None

    def run(self, job: dict) -> int:
        """Run a program; its exit status.

        Raises:
            subprocess.TimeoutExpired: it took longer than LIMIT; it has been ended.
        """
        with self.turn:
            if self.process is None or self.process.poll() is not None:
                self.process = self.start()
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], LIMIT)[0]:
                self.end()
                raise subprocess.TimeoutExpired(job["code"], LIMIT)
            return int(self.process.stdout.readline())

    def start(self) -> subprocess.Popen[str]:
        atexit.register(self.end)
        return subprocess.Popen(
            [sys.executable, "-B", __file__],
            env=os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self) -> None:
        """End it, and the program that runs."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


NURSERY = Nursery()


def run(
    code: str, env: Mapping[str, str], cwd: str | os.PathLike[str], *, errors: bool = False, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program as `python -c` does and return what it said.

    Args:
        errors: warnings are errors, those of its imports included.
        fresh: the program looks at the start of the interpreter or of PyTorch.

    Raises:
        subprocess.TimeoutExpired: it took longer than LIMIT.
    """
    changed = {name for name in {*env, *os.environ} if env.get(name) != os.environ.get(name)}
    if fresh or any(not name.startswith(LATE) for name in changed):
        command = [sys.executable, *(["-W", "error"] if errors else []), "-c", code]
        return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=LIMIT, check=False)
    with tempfile.TemporaryDirectory() as folder:
        streams = {name: str(Path(folder, name)) for name in ("stdout", "stderr")}
        job = {"code": code, "env": dict(env), "cwd": os.fspath(cwd), "errors": errors, "streams": streams}
        status = NURSERY.run(job)
        said = {name: Path(file).read_text() for name, file in streams.items()}
    return subprocess.CompletedProcess(code, status, **said)


def serve() -> None:
    """In the process that forks: serve jobs until the input ends. Returns in each child, when its program has ended."""
    sys.path[0] = ""  # as for -c
    import torch

    gc.freeze()  # what PyTorch made is not looked at again, or each child would copy all of it when it ends
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line), torch)
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def become(job: dict, torch: types.ModuleType) -> None:
    """Be the process that `python -c` would be, with PyTorch imported, and run the program."""
    streams = (os.devnull, job["streams"]["stdout"], job["streams"]["stderr"])
    for number, file in enumerate(streams):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
    os.chdir(job["cwd"])
    paths = [path for path in job["env"].get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]
    sys.path[1:1] = paths
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = ["-c"]
    if job["errors"]:
        sys.warnoptions[:] = ["error"]
        warnings.simplefilter("error")
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
            torch._import_device_backends()
        exec(compile(job["code"], "<string>", "exec"), sys.modules["__main__"].__dict__)
    except Exception as error:
        error = error.with_traceback(error.__traceback__.tb_next)  # from the program on
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


if __name__ == "__main__":
    serve()
