"""A build of the source tree by CMake alone, beside the packages: for tests that need it compiled in another way."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from flbuild.errors import UserError
from flbuild.layout import Layout, remove

TOOLS = ["cmake", "ninja"]  # needed beside the interpreter, or on the path


def install(
    layout: Layout, folder: Path, python: Path, jobs: int, log: Path, definitions: Mapping[str, object], what: str
) -> Path:
    """Compile the tree in `folder` and install it there.

    Args:
        python: an interpreter that has PyTorch.
        jobs: compilers at a time.
        definitions: CMake's variables.
        what: a name of the build, for a message.

    Returns:
        the folder to put on PYTHONPATH.

    Raises:
        UserError: a tool is missing, or the build failed.
    """
    made, prefix = folder / "build", folder / "installed"
    for parent in (folder, log.parent):
        parent.mkdir(parents=True, exist_ok=True)
    search = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    for tool in TOOLS:
        if not shutil.which(tool, path=search):
            raise UserError(f"{tool} is neither beside {python} nor on the path; sudo apt install cmake ninja-build")
    # Python's build variables of the tool environment must not reach the other interpreter.
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    env |= {"PATH": search, "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(layout.ccache))}
    remove(prefix)
    variables = {"Python_EXECUTABLE": python, "TORCH_FL_UNITY": "ON", **definitions}
    steps = (
        ["cmake", "-S", layout.root, "-B", made, "-G", "Ninja", *(f"-D{name}={value}" for name, value in variables.items())],
        ["cmake", "--build", made, "--parallel", str(jobs)],
        ["cmake", "--install", made, "--prefix", prefix],
    )
    with log.open("w") as output:
        for step in steps:
            if subprocess.run(step, env=env, stdout=output, stderr=output, check=False).returncode:
                raise UserError(f"{what} failed to build; see {log}")
    announce(prefix)
    return prefix


def announce(prefix: Path) -> None:
    """The entry point by which `import torch` finds the device; it stands in for that of an installed torch-fl."""
    folder = prefix / "torch_fl-0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-fl\nVersion: 0\n")
    (folder / "entry_points.txt").write_text("[torch.backends]\nflagos = _torch_fl_autoload:load\n")
