"""Fixtures: the tracer of the MUSA platform over the emulated SDK, and the core's own parts of a trace, compiled here."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[4]
EMULATION = ROOT / "tests" / "emulation"
TRACER = ROOT / "src" / "platforms" / "musa" / "tracer"
sys.path.insert(0, str(EMULATION))

import built


def _compile(output: Path, *arguments: object) -> Path:
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-std=c++20", "-O1", "-pthread", *map(str, arguments), "-o", str(output)], check=True)
    return output


@pytest.fixture(scope="session")
def headers() -> list[str]:
    return [f"-I{ROOT / 'src' / 'abi'}", f"-I{EMULATION / 'musa' / 'include'}", f"-I{EMULATION / 'base' / 'include'}"]


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The folder of the emulated libmusart.so.5 and libmupti.so."""
    return built.libraries("musa")


@pytest.fixture(scope="session")
def tracer(headers: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("tracer") / "libtorch_fl_platform_musa_tracer.so"
    exports = f"-Wl,-z,defs,--version-script={TRACER / 'exports.map'}"
    return _compile(output, "-fPIC", "-shared", *headers, *sorted(TRACER.glob("*.cpp")), exports, "-ldl")


@pytest.fixture(scope="session")
def session(sdk: Path, tracer: Path, headers: list[str], tmp_path_factory: pytest.TempPathFactory):
    """Run session.cpp: ``session(NAME=value)`` -> the lines that it printed, as dictionaries."""
    program = _compile(
        tmp_path_factory.mktemp("session") / "session", HERE / "session.cpp", *headers, sdk / "libmusart.so.5", "-ldl"
    )

    def run(library: Path | None = None, **environ: str) -> list[dict]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FLAGOS_", "MUSA_"))}
        clean |= {"LD_LIBRARY_PATH": str(sdk), **environ}
        command = [program, tracer, *([library] if library else [])]
        done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory):
    """Run trace.cpp: ``trace(case)`` -> what it printed, as a dictionary."""
    prefix = os.environ.get("TORCH_FL_ENVIRONMENT")
    if prefix:
        torch = next(Path(prefix).glob("lib/python3*/site-packages/torch"))
    else:
        spec = importlib.util.find_spec("torch")
        assert spec, "needs PyTorch's headers: install torch, or set TORCH_FL_ENVIRONMENT to an environment that has it"
        torch = Path(spec.origin).parent
    sources = [HERE / "trace.cpp", *(ROOT / "src" / "core" / f"{name}.cpp" for name in ("tracer_clock", "tracer_records"))]
    program = _compile(
        tmp_path_factory.mktemp("trace") / "trace",
        *(f"-I{ROOT / 'src' / folder}" for folder in ("abi", "core")),
        f"-isystem{torch / 'include'}",
        *sources,
        *(f"-Wl,{option}" for option in (f"-rpath,{torch / 'lib'}", "--allow-shlib-undefined")),
        torch / "lib" / "libc10.so",
    )

    def run(case: str) -> dict:
        done = subprocess.run([program, case], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    return run
