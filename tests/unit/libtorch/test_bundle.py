"""A vendor's core of PyTorch, from its wheel to a folder whose libraries find each other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flbuild.digest import sha256_file
from flbuild.elf import Elf
from flbuild.errors import UserError
from flbuild.libtorch import bundle, check, source


@pytest.fixture
def make(variant, official, tmp_path: Path):
    """Bundles; the manifest and the folder."""

    def made(given: Path, license_file: Path | None = None) -> tuple[dict, Path]:
        for folder in ("scratch", "quarantine"):
            (tmp_path / folder).mkdir(exist_ok=True)
        found = source.find(given, tmp_path / "scratch")
        output = tmp_path / "bundle"
        return bundle.make(found, variant, official, output, tmp_path / "quarantine", license_file), output

    return made


@pytest.mark.parametrize("form", ["wheel", "torch", "lib"])
def test_a_wheel_and_an_installation_give_the_same(make, wheel: Path, torch: Path, form: str) -> None:
    manifest, folder = make({"wheel": wheel, "torch": torch, "lib": torch / "lib"}[form])
    assert manifest["vendor_torch_version"] == "2.10.0+metal3.8.1.3" and manifest["torch_version"] == "2.10.0"
    # What the platform names, and what that needs; not libtorch_python, which another package has, and not the rest of the wheel.
    assert set(manifest["libraries"]) == {"libc10.so", "libtorch_cpu.so", "libtorch.so", "libtorch_cuda.so", "libgomp-0123.so.1"}
    assert {file.name for file in folder.iterdir()} == {*manifest["libraries"], bundle.MANIFEST}
    assert json.loads((folder / bundle.MANIFEST).read_text()) == manifest
    for name, facts in manifest["libraries"].items():
        assert facts == {"sha256": sha256_file(folder / name), "bytes": (folder / name).stat().st_size}


def test_libraries_find_each_other_the_environment_and_last_the_driver(make, torch: Path, variant) -> None:
    _, folder = make(torch)
    for name in ("libtorch.so", "libtorch_cuda.so"):
        assert Elf(folder / name).run_paths == ["$ORIGIN", "$ORIGIN/../../../..", *variant.run_path]
        dynamic = subprocess.run(["readelf", "-d", folder / name], capture_output=True, text=True, check=True).stdout
        assert "(RUNPATH)" in dynamic and "(RPATH)" not in dynamic  # LD_LIBRARY_PATH must come first
    assert variant.run_path == ["/usr/local/musa/lib"]


def test_the_bundle_loads_where_it_stands(make, torch: Path, tmp_path: Path) -> None:
    """In an environment's place, from its own copies, with the driver's library in that environment's lib."""
    _, folder = make(torch)
    place = tmp_path / "prefix" / "lib" / "python3.12" / "site-packages" / "torch" / "lib"
    place.parent.mkdir(parents=True)
    folder.rename(place)
    (tmp_path / "driver" / "libmcruntime.so").rename(tmp_path / "prefix" / "lib" / "libmcruntime.so")
    code = f"import ctypes; ctypes.CDLL({str(place / 'libtorch.so')!r}); print(open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert str(place / "libtorch_cuda.so") in done.stdout and str(tmp_path / "vendor") not in done.stdout
    assert str(tmp_path / "prefix" / "lib" / "libmcruntime.so") in done.stdout


@pytest.mark.parametrize(("license_file", "publishable"), [(None, False), ("terms.txt", True)])
def test_only_with_the_vendors_terms_it_may_be_published(make, torch: Path, tmp_path: Path, license_file, publishable) -> None:
    terms = tmp_path / license_file if license_file else None
    if terms:
        terms.write_text("you may")
    manifest, folder = make(torch, terms)
    assert manifest["publishable"] is publishable
    assert (folder / bundle.LICENSE).exists() is publishable


def test_another_minor_is_refused(make, torch: Path) -> None:
    (torch / "version.py").write_text("__version__ = '2.9.1+metal'\n")
    with pytest.raises(UserError, match=r"this is PyTorch 2\.9\.1\+metal, and the packages here are for 2\.10; take the vendor's wheel of 2\.10"):
        make(torch)


def test_what_nobody_has_is_named_with_who_needs_it(make, torch: Path, library, tmp_path: Path) -> None:
    stranger = library(tmp_path / "strange", "libstranger.so.7", ["int strange()"])
    library(torch / "lib", "libtorch_cuda.so", [], [stranger])
    with pytest.raises(UserError, match=r"libtorch_cuda\.so needs libstranger\.so\.7, which is not in the wheel, not among the driver's"):
        make(torch)


def test_the_other_cxx_abi_is_refused(make, torch: Path, library) -> None:
    library(torch / "lib", "libc10.so", ["int c10(const char*)", "int core()"])
    with pytest.raises(UserError, match="the other C\\+\\+ ABI of libstdc\\+\\+ than the official 2.10.0"):
        make(torch)


def test_a_newer_glibc_than_this_machine_s_is_refused(make, torch: Path, monkeypatch) -> None:
    monkeypatch.setattr(check, "newest_glibc", lambda libraries: (9, 99))
    with pytest.raises(UserError, match=r"asks for glibc 9\.99, and this machine has 2\."):
        make(torch)


def test_the_official_build_has_no_devices(make, torch: Path) -> None:
    (torch / "lib" / "libtorch_cuda.so").unlink()
    with pytest.raises(UserError, match=r"has no libtorch_cuda\.so in torch/lib; is it the vendor's build"):
        make(torch)


@pytest.mark.parametrize("given", ["nothing.whl", "empty", "lib"])
def test_what_is_no_pytorch_is_refused(make, tmp_path: Path, given: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="give the vendor's wheel of PyTorch, the folder torch of an installation, or its lib"):
        make(tmp_path / given)


def test_an_older_bundle_stays_until_the_new_one_is_whole(make, torch: Path) -> None:
    _, folder = make(torch)
    before = {file.name: sha256_file(file) for file in folder.iterdir()}
    (torch / "lib" / "libc10.so").write_bytes(b"\x7fELF broken")
    with pytest.raises(Exception):
        make(torch)
    assert {file.name: sha256_file(file) for file in folder.iterdir()} == before


def test_a_bundle_is_made_again_only_where_something_changed(make, torch: Path, library) -> None:
    _, folder = make(torch)
    made = (folder / bundle.MANIFEST).stat()
    make(torch)
    assert (folder / bundle.MANIFEST).stat().st_ino == made.st_ino
    (folder / "libtorch.so").write_bytes(b"damaged")
    make(torch)
    assert (folder / bundle.MANIFEST).stat().st_ino != made.st_ino and Elf(folder / "libtorch.so").needed
    again = (folder / bundle.MANIFEST).stat()
    library(torch / "lib", "libtorch_python.so", ["int other()"])  # is in another package
    make(torch)
    assert (folder / bundle.MANIFEST).stat().st_ino == again.st_ino
    library(torch / "lib", "libc10.so", ["int c10(std::string)", "int core()", "int more()"])
    assert make(torch)[0]["libraries"]["libc10.so"]["sha256"] == sha256_file(folder / "libc10.so") and "more" in str(Elf(folder / "libc10.so").exported)
