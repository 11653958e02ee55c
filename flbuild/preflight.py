"""What the host must have, checked in a second before anything is downloaded. Standard library only.

Each check raises `UserError` with one sentence that ends in the remedy.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from flbuild.errors import UserError

OLDEST_GXX = 11
DISK_BYTES = (
    4_000_000_000  # tools 0.3, wheels 0.3, seed 0.6, two environments (hard links) 1.2, build 0.5 GB; rounded up
)
PROBE = "#include <concepts>\n#include <span>\ntemplate <std::integral T> T f(T x) { return x; }\nint main() { return f(0); }\n"


def check_system() -> None:
    if sys.platform != "linux":
        raise UserError(
            f"torch-fl builds on Linux only, and this is {platform.system()}; use a Linux machine or container."
        )
    machine = platform.machine()
    if machine not in ("x86_64", "AMD64"):
        raise UserError(f"torch-fl builds on x86_64 for now, and this machine is {machine}; use an x86_64 machine.")
    if platform.libc_ver()[0] != "glibc":
        raise UserError(
            "torch-fl needs glibc and this system has another C library (musl?); use Debian, Ubuntu, Fedora or the like."
        )
    if sys.implementation.name != "cpython":
        raise UserError(
            f"torch-fl needs CPython and this is {sys.implementation.name}; run build-locally.py with python3."
        )


def check_venv() -> None:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(
            f"this Python has no {' and no '.join(missing)}, so no tool environment can be made;"
            f" install it: sudo apt install python{python_version()}-venv"
        )


def check_headers(include: str | None = None) -> None:
    folder = include or sysconfig.get_path("include")
    if not Path(folder, "Python.h").is_file():
        raise UserError(
            f"Python's headers are missing ({folder}/Python.h); install them: sudo apt install python{python_version()}-dev"
        )


def compiler(variable: str, default: str) -> list[str]:
    """The command of the C or C++ compiler: from the environment, else from PATH.

    Raises:
        UserError: there is none.
    """
    command = shlex.split(os.environ.get(variable, "")) or [default]
    found = shutil.which(command[0])
    if not found:
        source = f"{variable}={os.environ[variable]} names" if os.environ.get(variable) else "PATH holds"
        raise UserError(f"{source} no compiler ({command[0]} not found); install one: sudo apt install g++")
    return [found, *command[1:]]


def check_compiler() -> None:
    compiler("CC", "gcc")
    command = compiler("CXX", "g++")
    version = gcc_version(command)
    if int(version.split(".")[0]) < OLDEST_GXX:
        raise UserError(
            f"{command[0]} is version {version} and torch-fl needs g++ >= {OLDEST_GXX}; install one: sudo apt install g++-{OLDEST_GXX} and set CXX=g++-{OLDEST_GXX} CC=gcc-{OLDEST_GXX}"
        )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(PROBE)
        done = subprocess.run(
            [*command, "-std=c++20", source, "-o", Path(folder, "probe")], capture_output=True, text=True, check=False
        )
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
        raise UserError(
            f"{command[0]} cannot compile and link a small C++20 program ({reason}); repair it: sudo apt install --reinstall g++ libc6-dev"
        )


def gcc_version(command: list[str]) -> str:
    """A compiler's full version.

    Raises:
        UserError: it is not GCC.
    """
    done = subprocess.run([*command, "-dumpfullversion"], capture_output=True, text=True, check=False)
    about = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
    version = done.stdout.strip()
    if done.returncode or "clang" in about or not re.fullmatch(r"\d+(\.\d+)*", version):
        raise UserError(
            f"{command[0]} is not GCC; install it (sudo apt install g++) or point CC and CXX at gcc and g++."
        )
    return version


def check_disk(artifacts: Path, need: int = DISK_BYTES) -> None:
    """Enough room for a first run; one that only carries on is not held up."""
    if (artifacts / "seed").exists() or (artifacts / "channel").exists():
        return
    folder = next(p for p in (artifacts, *artifacts.parents) if p.exists())
    free = shutil.disk_usage(folder).free
    if free < need:
        raise UserError(
            f"{folder} has {free / 1e9:.1f} GB free and a first build needs {need / 1e9:.0f} GB; free some or clone onto a larger disk."
        )
    if not os.access(folder, os.W_OK):
        raise UserError(f"{folder} is not writable; make it yours (chown) or clone elsewhere.")


def python_version() -> str:
    return "%d.%d" % sys.version_info[:2]


def check_host(artifacts: Path) -> None:
    """All of it, cheapest first."""
    check_system()
    check_venv()
    check_headers()
    check_compiler()
    check_disk(artifacts)
