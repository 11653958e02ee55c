"""Compile and link the source tree against other minors of PyTorch: `python -m flbuild.torch_minors`.

A wheel of each version (most of a gigabyte) is downloaded; only its headers and the libraries to link with are kept, in
`build_artifacts/torch-minors/`. Nothing is imported or run: the other minors' wheels need a GPU's libraries for that.
Needs CMake and Ninja on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from flbuild.bootstrap import ROOT

VERSIONS = ("2.10.0", "2.11.0", "2.12.0")
KEPT = ("torch/include/", "torch/version.py", "torch/__init__.py", "torch/lib/libc10.so", "torch/lib/libtorch_cpu.so",
        "torch/lib/libtorch_python.so", "torch/lib/libtorch.so")  # fmt: skip


def fetch(version: str, store: Path) -> Path:
    """The folder that holds `torch/` of that version, downloaded unless it is there."""
    folder = store / version
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(dir=store) as work:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", work]
        subprocess.run([*command, f"torch=={version}"], check=True)
        (wheel,) = Path(work).glob("torch-*.whl")
        whole = Path(work) / "kept"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(whole, [name for name in archive.namelist() if name.startswith(KEPT)])
        whole.rename(folder)
    return folder


def compiles(torch: Path, build: Path, jobs: int) -> bool:
    """Whether configure, compile and link succeed; the output is in `<build>.log`."""
    environment = os.environ | {"PYTHONPATH": str(torch)}
    steps = (
        ["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"],
        ["cmake", "--build", str(build), "--parallel", str(jobs)],
    )
    with build.with_suffix(".log").open("w") as log:
        return all(
            subprocess.run(step, env=environment, stdout=log, stderr=log, check=False).returncode == 0 for step in steps
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m flbuild.torch_minors", description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", default=VERSIONS, help=f"default: {' '.join(VERSIONS)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parallel compiler runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    if missing := [tool for tool in ("cmake", "ninja") if not shutil.which(tool)]:
        parser.error(f"{' and '.join(missing)} not found on the path; sudo apt install cmake ninja-build")
    store = ROOT / "build_artifacts" / "torch-minors"
    store.mkdir(parents=True, exist_ok=True)
    results = {}
    for version in arguments.versions:
        build = store / f"build-{version.replace('.', '_')}"
        results[version] = compiles(fetch(version, store), build, arguments.jobs)
        if not arguments.json:
            print(f"PyTorch {version}: {'compiles and links' if results[version] else f'FAILS, see {build}.log'}")
    if arguments.json:
        print(json.dumps(results))
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
