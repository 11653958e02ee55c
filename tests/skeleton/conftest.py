"""A new platform, written into a copy of the sources and compiled there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
NAME = "mycard"
collect_ignore = ["template"]
# What the command and the build need of the sources.
PARTS = ("cmake", "src/abi", "src/platforms", "tests/emulation", "tests/skeleton/template", "variants", "flbuild")
FILES = ("pixi.toml", "README.md", "docs/opinfo.json", "recipe/recipe.yaml", "python/torch_fl/_version.py",
         "triton-host/torch_fl_triton_host/_version.py", "lab/torch_fl_lab/_version.py")  # fmt: skip
BUILD = """\
cmake_minimum_required(VERSION 3.20)
project(skeleton LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_BUILD_TYPE Debug)
set(TORCH_FL_PLATFORM {name})
set(TORCH_FL_SDK_VERSION 1.0)
set(TORCH_FL_LIB_DIR lib)
include({root}/cmake/TorchFL.cmake)
if(TORCH_FL_EMULATED)
  add_subdirectory({root}/tests/emulation emulation)
endif()
add_subdirectory({root}/src/platforms/{name} platform)
"""


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, without the new platform."""
    root = tmp_path_factory.mktemp("checkout") / "sources"
    for name in PARTS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "build*"))
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture(scope="session")
def command():
    """`torch-fl dev` as a person calls it; gives the finished call. The command needs no PyTorch, nor does this."""
    spec = importlib.util.spec_from_file_location("torch_fl_cli_dev", ROOT / "python/torch_fl/cli/dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(*arguments: str):
        return CliRunner().invoke(module.dev, list(arguments))

    return run


@pytest.fixture(scope="session")
def written(checkout: Path, command) -> dict[str, set[str]]:
    """The command has run: names of the files that it has `added`, `changed` and `removed`."""
    before = snapshot(checkout)
    done = command("new-platform", NAME, "--checkout", str(checkout))
    assert done.exit_code == 0, done.output
    after = snapshot(checkout)
    return {
        "added": after.keys() - before.keys(),
        "removed": before.keys() - after.keys(),
        "changed": {name for name in before.keys() & after.keys() if before[name] != after[name]},
    }


@pytest.fixture(scope="session")
def configure(checkout: Path, written, tmp_path_factory: pytest.TempPathFactory):
    """Configures the new platform's build with these options: gives the folder and the finished call."""
    search = [os.environ.get("TORCH_FL_ENVIRONMENT", "") + "/bin", os.environ.get("PATH", os.defpath)]
    cmake = shutil.which("cmake", path=os.pathsep.join(search))
    if cmake is None:
        reason = "cmake is neither in the test environment nor on the path"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)

    def run(*options: str):
        folder = tmp_path_factory.mktemp("build")
        (folder / "CMakeLists.txt").write_text(BUILD.format(root=checkout, name=NAME))
        command = [cmake, "-S", folder, "-B", folder / "made", *options]
        return folder / "made", subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def library(configure) -> Path:
    """The compiled platform library; the emulated SDK's lies beside it."""
    folder, done = configure("-DTORCH_FL_EMULATED=ON")
    assert done.returncode == 0, done.stderr
    build = ["make", "-C", str(folder), "-j2"]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "warning" not in built.stderr, built.stderr
    return folder / "lib" / f"libtorch_fl_platform_{NAME}.so"


@pytest.fixture(scope="session")
def run_script(library: Path):
    """Runs Python source in a process of its own with `card`, the platform's table; gives what it prints."""

    def run(source: str, **settings: str) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_")}
        harness = ROOT / "tests" / "unit" / "platform_host"
        env = clean | {"FLAGOS_PLATFORM_LIBRARY": str(library), "PYTHONPATH": str(harness)} | settings
        head = "from flagos_contract import *\ncard = load()\n"
        done = subprocess.run([sys.executable, "-B", "-c", head + source], env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout.strip()

    return run
