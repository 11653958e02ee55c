"""The operator matrix: FlagGems' kernels, run by the plug-in, give what the CPU gives.

Each case is a call of PyTorch on flagos tensors that a routing file gives to FlagGems.  It must have been served by the
FlagGems function it is about, and have launched a Triton kernel: a fallback cannot pass for one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .matrix_rows import ROWS

CASES = [(row.name, str(dtype).removeprefix("torch."), dtype) for row in ROWS.values() for dtype in row.dtypes]
_PROGRAM = "import importlib, sys; sys.path.insert(0, {folder!r}); m = importlib.import_module({name!r}); m.{call}"


class Worker:
    """A process that runs cases; started anew after a crash."""

    def __init__(self, folder: Path) -> None:
        self._routes = str(folder / "routes.conf")
        self._errors = folder / "errors.txt"
        subprocess.run(self._command(f"routes({self._routes!r})"), check=True, timeout=120)
        self._process = None

    @staticmethod
    def _command(call: str) -> list[str]:
        folder = Path(__file__).parent
        name = f"{folder.name}.matrix_worker"
        return [sys.executable, "-c", _PROGRAM.format(folder=str(folder.parent), name=name, call=call)]

    def ask(self, row: str, dtype: str) -> dict:
        """What one case did.

        Raises:
            AssertionError: the process died of it.
        """
        if self._process is None:
            environ = {**os.environ, "FLAGOS_BACKEND_CONFIG": self._routes}
            with self._errors.open("w") as errors:
                self._process = subprocess.Popen(
                    self._command("main()"),
                    env=environ,
                    text=True,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
        try:
            print(json.dumps({"row": row, "dtype": dtype}), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line:
            status, self._process = self._process.wait(), None
            raise AssertionError(f"the process ended with status {status}:\n{self._errors.read_text()[-3000:]}")
        return json.loads(line)

    def close(self) -> None:
        """End the process, which must be a clean exit."""
        if self._process is not None:
            self._process.stdin.close()
            assert self._process.wait(timeout=60) == 0, self._errors.read_text()[-3000:]


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    worker = Worker(tmp_path_factory.mktemp("matrix"))
    yield worker
    worker.close()


@pytest.mark.parametrize("name, dtype_name, dtype", CASES, ids=[f"{name}-{kind}" for name, kind, _ in CASES])
def test_a_flaggems_kernel_gives_what_the_cpu_gives(name, dtype_name, dtype, worker):
    row, done = ROWS[name], worker.ask(name, dtype_name)
    if dtype in row.errors:
        assert row.errors[dtype] in (done["error"] or "")
        return
    assert done["error"] is None, done["error"]
    assert done["launches"] > 0, "no Triton kernel ran"
    assert done["served"] or not row.functions, f"none of {row.functions} served it"
