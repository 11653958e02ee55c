"""The shared libraries: who they need, where they look, what they show."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from flbuild.elf import Elf

SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
}
TORCH = {"libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so"}


def named(package, pattern: str) -> Elf:
    found = [library for library in package.libraries if re.fullmatch(pattern, library.path.name)]
    assert len(found) == 1, f"{pattern}: {[library.path.name for library in package.libraries]}"
    return found[0]


def test_the_runtime_has_its_four_libraries(runtime):
    assert len(runtime.libraries) == 4
    low_precision = r"libtorch_fl_low_precision\.so"
    for pattern in (r"libtorch_fl\.so", r"libtorch_fl_platform_host\.so", low_precision, r"_C\..*\.so"):
        named(runtime, pattern)


def test_run_paths_are_relative_and_name_no_folder_twice(packages):
    for library in (library for package in packages for library in package.libraries):
        assert library.run_paths, library.path
        assert all(path == "$ORIGIN" or path.startswith("$ORIGIN/") for path in library.run_paths), library.run_paths
        assert len(set(library.run_paths)) == len(library.run_paths), library.run_paths


def test_ld_library_path_comes_before_run_paths(packages):
    """So a person may name an SDK that is not in the default folder: a RUNPATH is asked after that variable, a RPATH before."""
    for library in (library for package in packages for library in package.libraries):
        dynamic = subprocess.run(["readelf", "-d", library.path], capture_output=True, text=True, check=True).stdout
        assert "(RUNPATH)" in dynamic and "(RPATH)" not in dynamic, library.path


def test_a_platform_library_shows_one_symbol(runtime):
    assert named(runtime, r"libtorch_fl_platform_host\.so").exported == {"flagos_platform_entry"}


def test_the_extension_shows_its_module_and_nothing_else(runtime):
    assert {name for name in named(runtime, r"_C\..*\.so").exported if not name.startswith("_Z")} == {"PyInit__C"}


def test_the_products_of_low_precision_show_their_entry_and_nothing_else(runtime):
    exported = {name for name in named(runtime, r"libtorch_fl_low_precision\.so").exported if not name.startswith("_Z")}
    assert exported == {"flagos_kernels_entry"}


def test_the_bridge_shows_its_entry_and_nothing_else(flaggems):
    assert [library.path.name for library in flaggems.libraries] == ["libtorch_fl_flaggems.so"]
    exported = {name for name in flaggems.libraries[0].exported if not name.startswith("_Z")}
    assert exported == {"flagos_kernels_entry"}


def test_only_the_extension_knows_the_interpreter(runtime):
    for library in runtime.libraries:
        if not library.path.name.startswith("_C."):
            assert not [name for name in library.undefined if re.match(r"_?Py[A-Z_]", name)]
            assert "libtorch_python.so" not in library.needed


@pytest.mark.parametrize("layout", ["lib", "lib/python3.11/site-packages/torch/lib"])
def test_both_layouts_of_libtorch_are_found(runtime, flaggems, tmp_path, layout):
    """conda-forge has libtorch's libraries in lib/, a wheel has them beside the Python package."""
    version = next(name for name in runtime.files if "/site-packages/" in name).split("/")[1]
    torch = tmp_path / layout.replace("python3.11", version)
    torch.mkdir(parents=True)
    for name in TORCH:
        (torch / name).touch()
    places = [
        (tmp_path / library.path.relative_to(package.root), library)
        for package in (runtime, flaggems)
        for library in package.libraries
    ]
    for place, library in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(library.path.read_bytes())
    for here in (Elf(place) for place, _ in places):
        missing = [name for name in here.needed if name not in SYSTEM and here.resolve(name) is None]
        assert missing == [], f"{here.path.name} looks in {here.run_paths}"


def test_every_undefined_symbol_is_explained_by_a_needed_library(runtime, flaggems, flaggems_environment):
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    system = dict(re.findall(r"^\s*(\S+) \(.*x86-64.*\) => (\S+)$", listing, re.MULTILINE))
    prefix = flaggems_environment.prefix
    interpreter = Elf((prefix / "bin" / "python").resolve())
    python = interpreter.exported | {
        symbol
        for name in interpreter.needed
        if name.startswith("libpython")
        for symbol in Elf(find(interpreter, name, system, prefix)).exported
    }
    for package in (runtime, flaggems):
        for record in package.libraries:
            library = Elf(prefix / record.path.relative_to(package.root))
            # The bridge is loaded into a process that runs Python, and calls FlagGems' functions.
            explained = set(python) if library.path.name.startswith(("_C.", "libtorch_fl_flaggems")) else set()
            for name in library.needed:
                explained |= Elf(find(library, name, system, prefix)).exported
            assert library.undefined - explained == set(), library.path.name


def find(library: Elf, name: str, system: dict[str, str], prefix: Path) -> Path:
    found = library.resolve(name) or prefix / "lib" / name
    found = found if found.exists() else Path(system.get(name, ""))
    assert found.is_file(), f"{library.path.name} needs {name}, which is nowhere"
    return found
