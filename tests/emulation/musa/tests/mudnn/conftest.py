"""Fixtures: the emulated mudnn, through a C++ probe that is compiled against its header, as kernels are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[4]
SDK = ROOT / "tests" / "emulation" / "musa"
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "emulation")]

import built
from mudnn_device import Device


@pytest.fixture(scope="session")
def libraries() -> Path:
    """The folder of libmudnn.so and libmusart.so.5."""
    return built.libraries("musa")


@pytest.fixture(scope="session")
def probe(libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("mudnn") / "libprobe.so"
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SDK / 'include'}"]
    command += [str(HERE / "probe.cpp"), "-o", str(output), f"-L{libraries}", "-lmudnn", "-l:libmusart.so.5"]
    subprocess.run([*command, f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"], check=True)
    return output


@pytest.fixture(scope="session")
def session_device(probe: Path, libraries: Path) -> Device:
    os.environ.update({"FLAGOS_HOST_DEVICES": "2", "FLAGOS_HOST_MEMORY": "256MiB", "FLAGOS_HOST_GUARD": "1"})
    return Device(probe, libraries)


@pytest.fixture
def device(session_device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """Device 0 with a handle of its own: guard pages around all memory, TF32 refused, quirks on."""
    monkeypatch.delenv("FLAGOS_EMULATION_QUIRKS_OFF", raising=False)
    session_device.begin()
    yield session_device
    session_device.end()
