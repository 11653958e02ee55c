"""Fixtures: a PyTorch whose libtorch is the emulated fork's, in processes of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EMULATION = HERE.parents[2]
sys.path[:0] = [str(EMULATION), str(EMULATION / "metax" / "libtorch")]

import built
import processes

# A CPU build's libtorch_python has no function that starts CUDA for Python; the fork's hooks start it on their own.
HEAD = """
import threading, torch
from torch.testing import assert_close
torch.cuda._initialized = True
torch.manual_seed(0)
D = "cuda"
def refused(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("was not refused")
"""


@pytest.fixture(scope="session")
def libraries() -> Path:
    """The folder of libtorch_cuda.so and of the runtime below it; build-locally.py names it."""
    folder = Path(os.environ.get("FLAGOS_EMULATED_LIBTORCH") or built.libraries("metax"))
    if not (folder / "libtorch_cuda.so").is_file():
        pytest.skip("this build has no emulated fork of PyTorch: it is part of boxing")
    return folder


@pytest.fixture(scope="session")
def stock() -> Path:
    """The folder of an installed official PyTorch: this one, unless build-locally.py names another."""
    return Path(os.environ.get("FLAGOS_OFFICIAL_TORCH") or importlib.util.find_spec("torch").origin.removesuffix("/__init__.py"))


@pytest.fixture(scope="session")
def patchelf() -> str:
    found = shutil.which("patchelf")
    if not found:
        pytest.skip("patchelf is not in PATH")
    return found


@pytest.fixture(scope="session")
def wheel(libraries: Path, stock: Path, patchelf: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emulated wheel, unpacked."""
    import make_wheel

    folder = tmp_path_factory.mktemp("wheel")
    make_wheel.make(stock, libraries, folder, "metax3.8.1.3", patchelf)
    return folder


@pytest.fixture(scope="session")
def fork(wheel: Path, stock: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import from: the installed PyTorch with the fork's libraries in place of its own."""
    site = tmp_path_factory.mktemp("site")
    (site / "torch").mkdir()
    for entry in stock.iterdir():
        (site / "torch" / entry.name).symlink_to(wheel / "torch" / "lib" if entry.name == "lib" else entry)
    return site


@pytest.fixture(scope="session")
def template(fork: Path, libraries: Path) -> Iterator[subprocess.Popen]:
    """A process that has imported the fork and runs programs in children of its own (template.py), with two devices."""
    variables = processes.environment("metax", fork) | {
        "LD_LIBRARY_PATH": str(libraries),
        "EMULATED_LIBRARIES": str(libraries),  # one runtime in the process: that below the fork
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # with flagos in the process, autograd would serve flagos
        "PYTHONWARNINGS": "ignore",
        "FLAGOS_HOST_DEVICES": "2",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, str(HERE / "template.py")]
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def passes(template: subprocess.Popen):
    """Runs Python source, whose assertions must hold; gives what it printed."""

    def check(source: str) -> str:
        print(json.dumps(HEAD + textwrap.dedent(source)), file=template.stdin, flush=True)
        status, output = json.loads(template.stdout.readline())
        assert status == 0, output
        return output

    return check
