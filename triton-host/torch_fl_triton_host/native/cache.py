"""Compiled kernels on disk, found by their content.

A file's name is the hash of the C text and of everything else that shapes the machine code, so no file is ever changed: it is
written under a name of its own and moved into place, which is safe with other processes that do the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from .toolchain import Compiler


def library(source: str, name: str, folder: Path, compiler: Compiler) -> Path:
    """The shared library of a C text: from ``folder``, or compiled and kept there.

    A folder that cannot be written to serves what it holds; what it lacks is compiled into a temporary folder, which the
    caller's process may use as long as it runs.

    :raises CompilerError: if the compiler fails.
    """
    digest = hashlib.sha256(f"{compiler.identity}\0{source}".encode()).hexdigest()[:32]
    stem = f"{re.sub(r'[^A-Za-z0-9_]', '_', name)[:60]}-{digest}"
    target = folder / f"{stem}.so"
    if target.exists():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f"{stem}.") as scratch:
            compile_in(source, stem, Path(scratch), compiler)
            os.replace(Path(scratch, f"{stem}.so"), target)
        return target
    except OSError:
        if target.exists():
            return target
    scratch = Path(tempfile.mkdtemp(prefix="torch-fl-triton-host-"))
    return compile_in(source, stem, scratch, compiler)


def compile_in(source: str, stem: str, folder: Path, compiler: Compiler) -> Path:
    path, target = folder / f"{stem}.c", folder / f"{stem}.so"
    path.write_text(source, encoding="utf-8")
    compiler.compile(path, target)
    return target
