"""Make the program of `solve.c`: `python -m tests.solve.libsolv FOLDER`, a quarter of a minute's work, in the tools' Python.

libsolv is the solver of conda and mamba, neither of which is on the Python index. Its sources are there, in the distribution `solv`; they need
a C compiler and zlib's headers, and cmake and ninja in a scratch environment.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PIN = "solv==0.7.39.post1 --hash=sha256:6f9bb51f2bac747b494783a1c940fd6df58c3cc8ee2e61cc6a53256b0c4958eb\n"
TOOLS = ("cmake==4.4.5", "ninja==1.13.2", "scikit-build-core==1.1.2")
OPTIONS = ("-DENABLE_CONDA=ON", "-DMULTI_SEMANTICS=ON", "-DENABLE_STATIC=ON", "-DDISABLE_SHARED=ON", "-DCMAKE_BUILD_TYPE=Release")


def main(folder: Path) -> Path:
    """The program, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder.resolve() / "solve"
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        tools = work / "tools" / "bin"
        run(sys.executable, "-I", "-m", "venv", work / "tools")
        run(tools / "pip", "install", "-q", *TOOLS)
        (work / "pin.txt").write_text(PIN)
        run(tools / "pip", "download", "-q", "--require-hashes", "--no-deps", "--no-binary=:all:", "--no-build-isolation", "-d", work, "-r", work / "pin.txt")
        (archive,) = work.glob("solv-*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(work, filter="data")
        source, build = work / archive.name.removesuffix(".tar.gz"), work / "build"
        run(tools / "cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", *OPTIONS)
        run(tools / "ninja", "-C", build, "libsolv", "libsolvext")
        includes = [f"-I{place}" for place in (source / "src", source / "ext", build / "src")]
        run("cc", "-O1", *includes, Path(__file__).with_name("solve.c"), build / "ext/libsolvext.a", build / "src/libsolv.a", "-lz", "-o", program)
    return program


def run(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True, stdout=sys.stderr)


if __name__ == "__main__":
    made = main(Path(sys.argv[1] if len(sys.argv) > 1 else "build_artifacts"))
    print(f"TORCH_FL_LIBSOLV={made}")
