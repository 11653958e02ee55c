"""The shared libraries of the device: what they need, wanted where and found where, before any is loaded."""

import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from torch_fl.doctor import Finding, driver, loader

PACKAGE = Path(__file__).parents[1]
#: of the environment that has the package; packages that were only unpacked are a prefix, too
PREFIX = PACKAGE.parents[3] if PACKAGE.parent.name == "site-packages" else Path(sys.prefix)


def own() -> list[Path]:
    """torch_fl's libraries, in a conda environment's `lib` or in the package itself, and the extension for Python."""
    return sorted({*Path(PREFIX, "lib").glob("libtorch_fl*.so"), *PACKAGE.rglob("libtorch_fl*.so"), *PACKAGE.glob("_C.*.so")})


def check() -> Iterator[Finding]:
    """Each library, and where its needs are met; one that LD_LIBRARY_PATH puts before the SDK's is a note."""
    files = own()
    again = "install torch-fl-runtime again: conda install --force-reinstall torch-fl-runtime"
    for name in ("libtorch_fl.so", "_C.*.so"):
        if not any(fnmatchcase(file.name, name) for file in files):
            yield Finding("wrong", name, f"is neither in {PREFIX / 'lib'} nor in {PACKAGE}", again)
    facts = driver.platform() or {}
    elsewhere: dict[str, str] = {}
    for file in files:
        needs = loader.ask(file)
        if needs.fault:
            yield Finding("wrong", file.name, f"the loader refuses {file}: {needs.fault}", again)
        lacking = [name for name, found in needs.found.items() if found is None and not _comes_with_torch(name)]
        for name in lacking:
            seen = f"needs {name}, which is not in {needs.searched.get(name) or 'any folder of the loader'}"
            yield Finding("wrong", file.name, seen, _remedy(name, facts))
        for sentence in needs.versions:
            yield Finding("wrong", file.name, f"{sentence}, which the file found has not", _versions())
        if not (lacking or needs.fault or needs.versions):
            yield Finding("fine", file.name, f"finds all {len(needs.found)} libraries that it needs")
        elsewhere |= {name: found for name, found in needs.found.items() if found and _by_variable(found)}
    for name, found in sorted(elsewhere.items()):
        yield Finding("note", name, f"is taken from {Path(found).parent} since LD_LIBRARY_PATH names it", "unset LD_LIBRARY_PATH, unless it names the SDK's own folder")


def _comes_with_torch(name: str) -> bool:
    """Whether it lies beside the torch that Python would import: that is loaded before ours, and the loader takes it from there."""
    spec = find_spec("torch")
    return bool(spec and spec.origin) and (Path(spec.origin).parent / "lib" / name).is_file()


def _by_variable(found: str) -> bool:
    return str(Path(found).parent) in {folder.rstrip("/") for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder}


def _remedy(name: str, facts: dict) -> str:
    sdk = facts.get("sdk")
    if sdk and not sdk.get("with_pytorch") and any(fnmatchcase(name, pattern) for pattern in facts.get("sonames", [])):
        versions = " or ".join(sdk.get("versions", []))
        folder = f"{sdk['root'] or '<its folder>'}/{(sdk.get('library_folders') or ['lib'])[0]}"
        return f"install {sdk['title']} {versions}, or put its libraries on the loader's path: export LD_LIBRARY_PATH={folder}"
    if name.startswith(("libtorch", "libc10")):
        return "install pytorch and libtorch again: conda install --force-reinstall pytorch libtorch"
    return f"install the package that has {name}; torch-fl-runtime's own are installed by conda install --force-reinstall torch-fl-runtime"


def _versions() -> str:
    return "unset LD_LIBRARY_PATH" if os.environ.get("LD_LIBRARY_PATH") else "install a newer build of the library, or torch-fl-runtime again"
