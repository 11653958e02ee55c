"""Fixtures: the library under test, C helpers for it, and processes of their own for what dies or starts afresh.

They are the contract's: of `host`, or where FLAGOS_EMULATED_PLATFORM says so, of that platform on its emulated SDK. `host_only(reason)` marks what is not the contract's but the host platform's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ABI = ROOT / "src" / "abi"
NAME = "libtorch_fl_platform_host.so"
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "emulation")]  # flagos_contract.py is also for the scripts below

import built
from flagos_contract import Platform, Probe


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "host_only(reason): about the host platform, not about the contract of all platforms")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if not (item.get_closest_marker("host_only") and of_vendor(item))]


def of_vendor(item: pytest.Item) -> bool:
    return hasattr(item, "callspec") and item.callspec.params.get("platform_id", "host") != "host"


@pytest.fixture(scope="session", params=[os.environ.get("FLAGOS_EMULATED_PLATFORM", "host")])
def platform_id(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def library(platform_id: str) -> str:
    if platform_id != "host":
        return str(built.libraries(platform_id) / f"libtorch_fl_platform_{platform_id}.so")
    named = os.environ.get("FLAGOS_PLATFORM_LIBRARY")
    if named:
        assert Path(named).is_file(), f"FLAGOS_PLATFORM_LIBRARY={named}: no such file"
        return named
    found = sorted((ROOT / "build").glob(f"**/{NAME}"), key=lambda path: path.stat().st_mtime)
    if found:
        return str(found[-1])
    reason = f"no {NAME} under {ROOT / 'build'}: build the project, or set FLAGOS_PLATFORM_LIBRARY to one"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def compile_helper():
    """Compiles a C or C++ file of this folder: (source, output, *options) -> output."""

    def compile_(source: str, output: Path, *options: str) -> Path:
        compiler = os.environ.get("CXX", "c++") if source.endswith("cpp") else os.environ.get("CC", "cc")
        command = [compiler, "-O1", "-g", "-pthread", f"-I{ABI}", *options, str(HERE / source), "-o", str(output)]
        subprocess.run([*command, "-ldl"], check=True)
        return output

    return compile_


@pytest.fixture(scope="session")
def environment(library: str, compile_helper, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    probe = compile_helper("probe.c", tmp_path_factory.mktemp("probe") / "probe.so", "-shared", "-fPIC")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_") and not name.endswith("_VISIBLE_DEVICES")}
    clean.pop("PYTHONFAULTHANDLER", None)
    return clean | {
        "FLAGOS_PLATFORM_LIBRARY": library,
        "FLAGOS_PROBE_LIBRARY": str(probe),
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture(scope="session")
def host(environment: dict[str, str]) -> Platform:
    """Two devices of 64 MiB in this process."""
    os.environ.update(environment | {"FLAGOS_HOST_DEVICES": "2", "FLAGOS_HOST_MEMORY": "64MiB"})
    platform = Platform(environment["FLAGOS_PLATFORM_LIBRARY"])
    platform.initialize()
    return platform


@pytest.fixture(scope="session")
def probe(environment: dict[str, str]) -> Probe:
    return Probe(environment["FLAGOS_PROBE_LIBRARY"])


@pytest.fixture
def stream(host: Platform):
    handle = host.stream_create(0, 0)
    yield handle
    host.stream_destroy(handle)


@pytest.fixture
def run_script(environment: dict[str, str]):
    """Runs Python source in a process of its own, `host` and `probe` at hand; gives the finished process."""

    def run(source: str, *options: str, timeout: float = 60, preamble: bool = True, **settings: str):
        head = "import ctypes, faulthandler, os, sys, time\nfrom flagos_contract import *\n"
        if preamble:
            head += "host = load()\nprobe = load_probe()\n"
        return subprocess.run(
            [sys.executable, *options, "-c", head + textwrap.dedent(source)],
            check=False,
            env=environment | settings,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run
