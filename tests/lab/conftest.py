"""Artifacts made by hand: wheels and conda packages of a few files, honest and hostile ones."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FACTS = {
    "schema": 1,
    "version": "0.1.0",
    "platform": "metax",
    "sdk": "MACA",
    "sdk_version": "3.8.1.3",
    "emulated": False,
    "emulated_sdk": False,
    "kernel_sets": ["flaggems"],
    "python": "3.12",
    "python_requires": "==3.12.*",
    "torch_version": "2.10.0",
    "torch_cxx11_abi": True,
    "build_versions": {"flag-gems": "5.0.2"},
    "pins": {"flagtree": "0.6.1+metax3.6"},
    "flaggems_vendor": "metax",
}
SOURCE = {"sha": "0123456789abcdef0123456789abcdef01234567", "remote_url": "https://example.org/torch-fl"}
IN_A_WHEEL = "torch_fl/compatibility.json"
IN_A_PACKAGE = "lib/python3.12/site-packages/torch_fl/compatibility.json"


def document(**changes: object) -> bytes:
    """compatibility.json with some keys changed; None leaves one out."""
    return json.dumps({key: value for key, value in {**FACTS, **changes}.items() if value is not None}).encode()


def tarred(files: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    """A tar of these files; a TarInfo stands for a member that is no file."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, content in files.items():
            entry = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(content, bytes):
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return made.getvalue()


@pytest.fixture
def wheel(tmp_path: Path):
    """A function from files to a wheel with them; by default the document alone."""

    def make(files: dict[str, bytes] | None = None, requires: tuple[str, ...] = (), **changes: object) -> Path:
        path = tmp_path / "torch_fl-0.1.0-cp312-cp312-linux_x86_64.whl"
        metadata = "Metadata-Version: 2.1\nName: torch-fl\nVersion: 0.1.0\n" + "".join(f"Requires-Dist: {spec}\n" for spec in requires)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {"torch_fl-0.1.0.dist-info/METADATA": metadata.encode(), **({IN_A_WHEEL: document(**changes)} if files is None else files)}.items():
                archive.writestr(name, content)
        return path

    return make


@pytest.fixture
def package(tmp_path: Path):
    """A function from files to a .conda package with them; by default the document alone, made of a revision that it names."""

    def make(
        files: dict[str, bytes | tarfile.TarInfo] | None = None, depends: tuple[str, ...] = (), source: dict[str, str] = SOURCE, name: str = "torch-fl-runtime", **changes: object
    ) -> Path:
        path = tmp_path / "torch-fl-runtime-0.1.0-metax_0.conda"
        index = {"name": name, "depends": depends} | ({"noarch": "generic"} if name != "torch-fl-runtime" else {})
        said = {"info/index.json": json.dumps(index).encode(), "info/about.json": json.dumps({"extra": source}).encode()}
        parts = {"pkg": {IN_A_PACKAGE: document(**changes)} if files is None else files, "info": said}
        with zipfile.ZipFile(path, "w") as archive:
            for part, content in parts.items():
                archive.writestr(f"{part}-torch-fl-runtime-0.1.0-metax_0.tar.zst", zstd.compress(tarred(content)))
        return path

    return make


@pytest.fixture
def environment(tmp_path: Path):
    """A function from {package: version} to a prefix whose records have them: conda's, and Python's."""

    def make(python: str = "3.12", **versions: str) -> Path:
        prefix = tmp_path / "prefix"
        site = prefix / f"lib/python{python}/site-packages"
        site.mkdir(parents=True)
        (prefix / "conda-meta").mkdir()
        for key, version in versions.items():
            name = key.replace("_", "-")
            record = {"name": name, "version": version, "build": "0", "build_number": 0}
            (prefix / f"conda-meta/{name}-{version}-0.json").write_text(json.dumps(record))
        return prefix

    return make
