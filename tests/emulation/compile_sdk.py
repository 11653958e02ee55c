"""Compiles an emulated SDK's runtime, and a platform's device library on it, with the compiler alone (no CMake, no torch).

For tests that need these libraries and nothing else. What is compiled is what the CMakeLists.txt say; FLAGOS_EMULATED_LIBRARIES
names a folder that has them already.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMULATION = ROOT / "tests" / "emulation"
HOST = ROOT / "src" / "platforms" / "host" / "device"
SONAMES = {"musart": "libmusart.so.5"}
EXPORTS = {"musart": ("musa*", "flagos_emulation_*"), "murand": ("murand*",)}


def libraries(sdk: str, scratch: Path) -> Path:
    """The folder with libmusart.so.5, libmurand.so and libtorch_fl_platform_musa.so (for sdk "musa").

    Args:
        scratch: where they are compiled; processes that name the same folder share them.
    """
    named = os.environ.get("FLAGOS_EMULATED_LIBRARIES")
    if named:
        assert (Path(named) / f"libtorch_fl_platform_{sdk}.so").is_file(), f"FLAGOS_EMULATED_LIBRARIES={named}: no {sdk} there"
        return Path(named)
    folder = scratch / f"emulated-{sdk}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            compile_all(sdk, folder)
            (folder / "complete").touch()
    return folder


def compile_all(sdk: str, folder: Path) -> None:
    base = EMULATION / "base"
    runtime = {"musa": "musart"}[sdk]
    shared = [f"-I{ROOT / 'src' / 'abi'}", f"-I{base / 'include'}", f"-I{EMULATION / sdk / 'include'}"]
    host = [source for source in sorted(HOST.glob("*.cpp")) if source.name != "table.cpp"]
    sources = [*host, *sorted(base.glob("*.cpp")), *sorted((EMULATION / sdk / runtime).glob("*.cpp"))]
    library(folder, runtime, sources, [*shared, f"-I{base}", f"-I{HOST}"])
    for name in ["murand"]:
        library(folder, name, sorted((EMULATION / sdk / name).glob("*.cpp")), [*shared, f"-l{runtime}"])
    device = sorted((ROOT / "src" / "platforms" / sdk / "device").glob("*.cpp"))
    script = f"-Wl,--version-script={ROOT / 'cmake' / 'platform_exports.map'}"
    options = [*shared, '-DTORCH_FL_SDK_VERSION="5.1.0"', "-fvisibility=hidden", f"-l{runtime}", script]
    link(folder, f"libtorch_fl_platform_{sdk}.so", device, options)


def library(folder: Path, name: str, sources: list[Path], options: list[str]) -> None:
    script = folder / f"{name}.map"
    script.write_text(f"{{ global: {'; '.join(EXPORTS[name])}; local: *; }};\n", encoding="ascii")
    output = SONAMES.get(name, f"lib{name}.so")
    link(folder, output, sources, [*options, f"-Wl,-soname,{output}", f"-Wl,--version-script={script}"])
    if output != f"lib{name}.so":
        (folder / f"lib{name}.so").symlink_to(output)


def link(folder: Path, output: str, sources: list[Path], options: list[str]) -> None:
    flags = [
        "-std=c++20",
        "-O1",
        "-fPIC",
        "-shared",
        "-pthread",
        f"-L{folder}",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,-z,defs,-z,nodelete",
    ]
    command = [os.environ.get("CXX", "c++"), *flags, *map(str, sources), *options, "-o", str(folder / output)]
    subprocess.run(command, check=True)
