"""Boxing without a card: build the CPU double of `tests/boxing` against the installed core, and run its tests.

Everything lies in `build_artifacts/double/`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flbuild import cmake_tree
from flbuild.errors import UserError
from flbuild.layout import Layout

TESTS = Path("tests") / "boxing"


def build(layout: Layout, environment: Path, jobs: int) -> Path:
    """Compile and install the double beside the core of an environment, and return the folder to put on PYTHONPATH.

    Args:
        environment: has torch-fl-runtime and what builds need: CMake, Ninja, PyTorch.
    """
    core = environment / "lib" / "libtorch_fl.so"
    if not core.is_file():
        raise UserError(f"{environment} has no torch-fl-runtime; run build-locally.py first.")
    definitions = {
        "TORCH_FL_PLATFORM": "double",
        "TORCH_FL_PLATFORM_DIR": layout.root / TESTS / "double",
        "TORCH_FL_CORE_LIBRARY": core.resolve(),
        "TORCH_FL_BOXING_SIGNATURES": "60",  # the kernels of all are one template: these show that it works
        "CMAKE_BUILD_TYPE": "Debug",  # quick to compile; what it makes runs for seconds
        "CMAKE_CXX_FLAGS_DEBUG": "-O0",
    }
    python, log = environment / "bin" / "python", layout.logs / "double.log"
    return cmake_tree.install(layout, layout.artifacts / "double", python, jobs, log, definitions, "the CPU double")


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
