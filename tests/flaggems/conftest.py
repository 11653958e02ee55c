"""A FlagGems written by the test: the layout of the real one, functions of the test's own, for a fresh process.

What is tested is torch-fl's side: which function is called, with what, and
what becomes of its result.  The real FlagGems is in ``test_real.py``.
"""

import os
import textwrap
from pathlib import Path

import pytest
from torch_fl_tests import processes

INIT = """
import torch
from packaging import version

from flag_gems import runtime
from flag_gems.ops import *

__version__ = "{version}"
device = runtime.record.device_name
vendor_name = runtime.record.vendor_name


def torch_ge(wanted):
    return version.parse(torch.__version__) >= version.parse(wanted)


_FULL_CONFIG = (
{config}
)
"""

RUNTIME = """
import importlib
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "backend"))
record = importlib.import_module("_" + os.environ["GEMS_VENDOR"]).vendor_info
"""

RECORDS = """
from dataclasses import dataclass


@dataclass
class VendorInfoBase:
    vendor_name: str
    device_name: str
    device_query_cmd: str
    dispatch_key: str = None
    triton_extra_name: str = None
"""

VENDOR = """
from backend_utils import VendorInfoBase

vendor_info = VendorInfoBase({arguments})
"""


class Stub:
    """A folder that holds a package ``flag_gems``.

    Args:
        folder: where it is written.
        config: the table as source, such as ``("abs", abs),``.
        functions: the source of its functions.
        version: what its metadata say.
    """

    def __init__(self, folder: Path, config: str, functions: str = "", version: str = "5.0.2") -> None:
        self.folder = folder
        self.write("flag_gems/__init__.py", INIT.format(version=version, config=config))
        self.write("flag_gems/ops/__init__.py", "import torch\n\ncalls = []\n" + textwrap.dedent(functions))
        self.write("flag_gems/runtime/__init__.py", RUNTIME)
        self.write("flag_gems/runtime/backend/backend_utils.py", RECORDS)
        self.vendor("flagos", "flagos", dispatch_key="PrivateUse1", triton_extra_name="cuda")
        self.write("triton/__init__.py", "")
        metadata = f"Metadata-Version: 2.1\nName: flag_gems\nVersion: {version}\n"
        self.write(f"flag_gems-{version}.dist-info/METADATA", metadata)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def vendor(self, name: str, device: str, **facts: str) -> None:
        """Add a vendor's folder, as FlagGems has them."""
        given = {"vendor_name": name, "device_name": device, "device_query_cmd": "false", **facts}
        arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
        self.write(f"flag_gems/runtime/backend/_{name}/__init__.py", VENDOR.format(arguments=arguments))


@pytest.fixture
def stub(tmp_path):
    """Write a FlagGems: ``stub(config, functions, version=...)``; programs of :func:`python` find it then."""

    def write(config: str, functions: str = "", version: str = "5.0.2") -> Stub:
        return Stub(tmp_path / "stub", config, functions, version)

    return write


@pytest.fixture
def python(tmp_path):
    """Run a program in a process of its own, with the stub where one is written: ``python(code, routes=text, NAME=value)``.

    Warnings are errors unless `warn`; `routes` is a routing file.
    """

    def run(code: str, *, routes: str = "", warn: bool = False, check: bool = True, **environ: str):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FLAGOS_", "GEMS_", "TORCH_DEVICE_BACKEND"))}
        path = [str(tmp_path / "stub"), *filter(None, [kept.get("PYTHONPATH")])]
        (tmp_path / "my.conf").write_text(textwrap.dedent(routes))
        environ = {**kept, "PYTHONPATH": os.pathsep.join(path), "FLAGOS_BACKEND_CONFIG": "my.conf", **environ}
        done = processes.run(textwrap.dedent(code), environ, tmp_path, errors=not warn)
        if check and done.returncode:
            pytest.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run
