"""Whether what is installed is what torch_fl was built for: compatibility.json against the records."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torch_fl.doctor import Finding, records
from torch_fl.evidence import capabilities


def check() -> Iterator[Finding]:
    """The minors of Python and PyTorch, the core of PyTorch beside it, and the C++ ABI."""
    try:
        built = capabilities.build()
        facts = {key: built[key] for key in ("platform", "version", "python", "torch_version")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = str(error) if isinstance(error, FileNotFoundError) else f"cannot be used ({type(error).__name__}: {error})"
        yield Finding("wrong", "compatibility.json", said, "install torch-fl-runtime again: conda install --force-reinstall torch-fl-runtime")
        return
    wrong = [*_python(facts), *_torch(facts), *_abi(built)]
    yield from wrong
    if not wrong:
        said = f"torch_fl {facts['version']} for {facts['platform']}, built for Python {facts['python']} and PyTorch {facts['torch_version']}"
        yield Finding("fine", "compatibility", f"{said}, as installed")


def _python(facts: dict) -> Iterator[Finding]:
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if facts["python"] and facts["python"] != running:
        remedy = f"use the environment's own python, or install python {facts['python']}"
        yield Finding("wrong", "python", f"torch_fl was built for Python {facts['python']}, and this is {running}", remedy)


def _torch(facts: dict) -> Iterator[Finding]:
    wanted = _minor(facts["torch_version"])
    remedy = f"install pytorch {wanted}, or the torch-fl-runtime that is built for the installed one"
    installed = {"PyTorch": copy.version for copy in records.copies("torch")[:1]}
    installed |= {name: records.conda()[name]["version"] for name in ("pytorch", "libtorch") if name in records.conda()}
    for name, version in installed.items():
        if _minor(version) != wanted:
            yield Finding("wrong", name, f"torch_fl was built for PyTorch {wanted}, and {name} {version} is installed", remedy)


def _abi(built: dict) -> Iterator[Finding]:
    """PyTorch's file for CMake says which C++ ABI its libraries have; some conda packages leave that file out."""
    for copy in records.copies("torch")[:1]:
        file = Path(str(copy.locate_file("torch/share/cmake/Torch/TorchConfig.cmake")))
        has = re.search(r"_GLIBCXX_USE_CXX11_ABI=([01])", file.read_text("utf-8")) if file.is_file() else None
        if has and "torch_cxx11_abi" in built and built["torch_cxx11_abi"] != (has[1] == "1"):
            old, new = ("new", "old") if built["torch_cxx11_abi"] else ("old", "new")
            yield Finding("wrong", "C++ ABI", f"torch_fl was built with the {old} C++ ABI, and the installed PyTorch has the {new} one", "install conda's pytorch in its place")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
