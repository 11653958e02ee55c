"""The system's C compiler: which one, with which flags, and what a compiled kernel depends on."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: -ffp-contract=off and the absence of -ffast-math: each operation of the IR is rounded on its own. Integers wrap; no code asks
#: for errno; values are reinterpreted through pointers. No -fno-trapping-math: with it GCC 12 loses a vectorised store under a
#: condition that does not change in its loop, which the matrix' attention shows.
FLAGS = (
    "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno",
    "-fwrapv", "-fno-strict-aliasing", "-w", "-pthread",
)  # fmt: skip
#: Level 3 without what makes it slow: vector instructions for every loop that gains by them, but no second vector loop for its
#: last elements.
VECTORS = ("-ftree-vectorize", "-fvect-cost-model=dynamic", "-funswitch-loops", "--param=vect-epilogues-nomask=0")
#: Tried in turn: the parameters are GCC's, and a compiler may not know the machine's instruction set by this name.
TUNING = (("-march=native", *VECTORS), ("-mcpu=native", *VECTORS), ("-march=native",), ("-mcpu=native",), ())
LIBRARIES = ("-lm",)


class CompilerError(RuntimeError):
    """The C compiler failed; the message holds the first line of what it said."""


@dataclass(frozen=True)
class Compiler:
    """``command`` and ``flags`` compile C; ``identity`` changes whenever the machine code might."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    identity: str

    def compile(self, source: Path, target: Path) -> None:
        """Compiles one C file to a shared library.

        :raises CompilerError: if the compiler fails.
        """
        arguments = [*self.command, *self.flags, "-o", str(target), str(source), *LIBRARIES]
        result = run(arguments)
        if result is None or result.returncode:
            said = (result.stderr if result else "it cannot be started").strip().splitlines() or ["it said nothing"]
            error = next((line for line in said if "error" in line), said[0])
            raise CompilerError(f"'{shlex.join(arguments[: len(self.command)])}' cannot compile {source}: {error}")


def run(arguments: list[str]) -> subprocess.CompletedProcess[str] | None:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None


def candidates() -> list[tuple[str, ...]]:
    """Commands to try: CC if it is set (with arguments, if it has any), else the usual names."""
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        return [tuple(shlex.split(chosen))]
    return [(name,) for name in ("cc", "gcc", "clang")]


def compiler() -> Compiler | None:
    """The C compiler of this process, or None if none is found that can make a shared library."""
    return find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def find(chosen: str, path: str) -> Compiler | None:
    """:func:`compiler` for these values of CC and PATH."""
    for command in candidates():
        if shutil.which(command[0]) is None:
            continue
        version = run([*command, "--version"])
        if version is None or version.returncode:
            continue
        for tuning in TUNING:
            if works(command, tuning):
                text = "\0".join((*command, version.stdout, *FLAGS, *tuning, processor()))
                identity = hashlib.sha256(text.encode()).hexdigest()
                return Compiler(command, FLAGS + tuning, identity)
    return None


def works(command: tuple[str, ...], tuning: tuple[str, ...]) -> bool:
    """True if the compiler makes a shared library with these flags."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "probe.c"), Path(folder, "probe.so")
        source.write_text("#include <stdint.h>\n#include <pthread.h>\nint probe(int x) { return x; }\n")
        result = run([*command, *FLAGS, *tuning, "-o", str(target), str(source), *LIBRARIES])
        return result is not None and result.returncode == 0 and target.exists()


@functools.cache
def processor() -> str:
    """What distinguishes this machine's instruction set: compiled code of another must not be taken."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.split(":")[0].strip() in ("flags", "Features"):
                    return platform.machine() + line
    except OSError:
        pass
    return f"{platform.machine()} {platform.processor()}"
