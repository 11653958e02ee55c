"""Small projects, wheels and channels for the driver's tests."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from flbuild.layout import Layout
from flbuild.report import Report

RECIPE = """\
schema_version: 1
recipe: {name: toy, version: "1.0"}
source: [{path: ../src, target_directory: src}]
build: {number: 0}
outputs:
  - staging: {name: toy-build}
    build:
      script:
        content: ["bash src/make.sh"]
        env: {FLAVOUR: "${{ flavour }}"}
  - package: {name: toy}
    inherit: toy-build
    build:
      files: ["share/toy/**"]
      string: ${{ flavour }}_0
    about: {license: Apache-2.0}
    tests: [{script: ["test \\"$(cat $CONDA_PREFIX/share/toy/flavour)\\" = ${{ flavour }}", "bash -c 'exit $(cat $CONDA_PREFIX/share/toy/status)'"]}]
"""
SCRIPT = """\
set -e
mkdir -p $PREFIX/share/toy
echo "$FLAVOUR" > $PREFIX/share/toy/flavour
echo 0 > $PREFIX/share/toy/status
"""
PLATFORM = """\
id = "{id}"
name = "A toy"
hardware = "none"
{more}
[kernels]
slots = []

[capabilities]
cpu_kernels_in_place = true
native_kernels = "there are none"
peer_copies = true
profiler = "there is none"
memset_records = "there are none"
own_tracer = "there are none"
own_allocator = true
cpu_rules = true
index_checks = true
sole_accelerator = true
low_precision = "not tried"
tf32 = "there is none"
compile = "not tried"
collectives = "not tried"

[features]
operators = "none"
collectives = "none"
profiler = "none"
compile = "none"
"""


@pytest.fixture
def toy(tmp_path: Path) -> Layout:
    """A project with one package and two variants; it needs no channel."""
    for name, text in {
        "recipe/recipe.yaml": RECIPE,
        "src/make.sh": SCRIPT,
        "variants/plain.yaml": "flavour: [plain]\n",
        "variants/sweet.yaml": "flavour: [sweet]\n",
        "src/platforms/plain/platform.toml": PLATFORM.format(id="plain", more="emulated = true"),
        "src/platforms/sweet/platform.toml": PLATFORM.format(id="sweet", more=""),
        **dict.fromkeys([f"src/platforms/{id}/CMakeLists.txt" for id in ("plain", "sweet", "card")], ""),
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    # The workers import the driver from the layout's root.
    (tmp_path / "flbuild").symlink_to(Path(__file__).parents[3] / "flbuild")
    layout = Layout(tmp_path)
    layout.work.mkdir(parents=True)
    return layout


@pytest.fixture
def report() -> Report:
    return Report(as_json=True)


@pytest.fixture
def make_wheel(tmp_path: Path):
    """Write a valid wheel: make_wheel(name, version, files, requires)."""

    def make(
        name: str,
        version: str,
        files: dict[str, str],
        requires: tuple[str, ...] = (),
        entry_points: str = "",
        tag: str = "py3-none-any",
    ) -> Path:
        info = f"{name}-{version}.dist-info"
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A toy\nLicense: MIT"]
        content = dict(files)
        content[f"{info}/METADATA"] = "\n".join(metadata + [f"Requires-Dist: {r}" for r in requires]) + "\n"
        content[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"
        if entry_points:
            content[f"{info}/entry_points.txt"] = entry_points
        rows = [f"{path},sha256={digest(text)},{len(text)}" for path, text in content.items()]
        content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
        path = tmp_path / "wheels" / f"{name}-{version}-{tag}.whl"
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in content.items():
                entry = zipfile.ZipInfo(file)
                entry.external_attr = (0o100755 if ".data/scripts/" in file else 0o100644) << 16
                archive.writestr(entry, text)
        return path

    return make


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
