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
sys.path.insert(0, str(HERE))

from mudnn_device import Device


@pytest.fixture(scope="session")
def libraries() -> Path:
    """The folder of libmudnn.so and libmusart.so.5."""
    named = os.environ.get("FLAGOS_EMULATED_LIBRARIES")
    if named:
        assert (Path(named) / "libmudnn.so").is_file(), f"FLAGOS_EMULATED_LIBRARIES={named}: there is no libmudnn.so"
        return Path(named)
    built = sorted(ROOT.glob("build*/**/libmudnn.so"), key=lambda path: path.stat().st_mtime)
    if built:
        return built[-1].parent
    pytest.fail(
        f"no libmudnn.so under {ROOT}/build*: build tests/emulation with -DTORCH_FL_PLATFORM=musa, "
        "or set FLAGOS_EMULATED_LIBRARIES to the folder that has it"
    )


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
