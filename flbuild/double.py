"""Boxing without a card: build the CPU double of `tests/boxing` against the installed core, and run its tests.

Everything lies in `build_artifacts/double/`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from flbuild.errors import UserError
from flbuild.layout import Layout, remove
from flbuild.sanitize import announce

TESTS = Path("tests") / "boxing"


def build(layout: Layout, environment: Path, jobs: int) -> Path:
    """Compile and install the double beside the core of an environment, and return the folder to put on PYTHONPATH.

    Args:
        environment: has torch-fl-runtime and what builds need: CMake, Ninja, PyTorch.
    """
    folder, python = layout.artifacts / "double", environment / "bin" / "python"
    made, prefix, log = folder / "build", folder / "installed", layout.logs / "double.log"
    core = environment / "lib" / "libtorch_fl.so"
    if not core.is_file():
        raise UserError(f"{environment} has no torch-fl-runtime; run build-locally.py first.")
    for parent in (folder, log.parent):
        parent.mkdir(parents=True, exist_ok=True)
    remove(prefix)
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    env |= {
        "PATH": os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)]),
        "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(layout.ccache)),
    }
    if not all(shutil.which(tool, path=env["PATH"]) for tool in ("cmake", "ninja")):
        raise UserError(f"cmake or ninja is neither beside {python} nor on the path; sudo apt install cmake ninja-build")
    double = layout.root / TESTS / "double"
    definitions = {
        "Python_EXECUTABLE": python,
        "TORCH_FL_PLATFORM": "double",
        "TORCH_FL_PLATFORM_DIR": double,
        "TORCH_FL_CORE_LIBRARY": core.resolve(),
        "TORCH_FL_UNITY": "ON",
        "TORCH_FL_BOXING_SIGNATURES": "60",  # the kernels of all are one template: these show that it works
        "CMAKE_BUILD_TYPE": "Debug",  # quick to compile; what it makes runs for seconds
        "CMAKE_CXX_FLAGS_DEBUG": "-O0",
    }
    configure = ["cmake", "-S", layout.root, "-B", made, "-G", "Ninja", *(f"-D{k}={v}" for k, v in definitions.items())]
    steps = (
        configure,
        ["cmake", "--build", made, "--parallel", str(jobs)],
        ["cmake", "--install", made, "--prefix", prefix],
    )
    with log.open("w") as output:
        for step in steps:
            if subprocess.run(step, env=env, stdout=output, stderr=output, check=False).returncode:
                raise UserError(f"the build of the CPU double failed; see {log}")
    announce(prefix)
    return prefix


def check(layout: Layout, environment: Path, jobs: int, quiet: bool = False) -> int:
    """Build the double and run the tests of boxing on it.

    Args:
        environment: has, besides what `build` needs, pytest.

    Returns:
        pytest's exit status.
    """
    installed = build(layout, environment, jobs)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "FLAGOS_"))}
    env |= {"TORCH_FL_BOXING": str(installed)}
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={layout.root}", layout.root / TESTS]
    return subprocess.run(
        [environment / "bin" / "python", "-B", "-m", "pytest", *options],
        env=env,
        cwd=layout.root,
        stdout=sys.stderr if quiet else None,
        check=False,
    ).returncode
