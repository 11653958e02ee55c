"""What the recipe of flag-gems changes in FlagGems, on a small FlagGems that has the places it changes."""

from __future__ import annotations

import base64
import csv
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

SCRIPTS = Path(__file__).parents[3] / "recipe/seed/flag-gems"
COMMON = """from enum import Enum


class vendors(Enum):
    NVIDIA = 0
    ENFLAME = 12

    @classmethod
    def get_all_vendors(cls) -> dict:
        return {member.name.lower(): member for member in cls}
"""
TUNING = """
plain:
  - {META: {BLOCK: 256}, num_warps: 4}
  - {META: {BLOCK: 64}, num_warps: 8, num_stages: 3}
  - {META: {BLOCK: 64}, num_warps: 2}
generated:
  - gen: true
    param_map: {META: {M: m, N: 8, WHOLE: whole}, num_warps: warps}
    m: [4, 2]
    whole: [true, false]
    warps: [16, 4]
sets:
  - gen: true
    param_map: {META: metas, num_stages: 2}
    metas: [{A: 4, B: 4}, {A: 2, B: 2}]
"""
METADATA = """Metadata-Version: 2.1
Name: flag_gems
Version: {version}
Requires-Dist: PyYAML ==6.0.3
Requires-Dist: numpy==1.26.4
Requires-Dist: torch ==2.9.0 ; extra == 'nvidia'
"""
RUNTIME = "flag_gems/runtime"


@pytest.fixture
def gems(tmp_path: Path):
    """A function that installs a FlagGems of some version and gives its site-packages."""

    def make(version: str = "5.0.2") -> Path:
        info = f"flag_gems-{version}.dist-info"
        files = {
            f"{RUNTIME}/common.py": COMMON,
            f"{RUNTIME}/backend/_nvidia/tune_configs.yaml": TUNING,
            f"{info}/METADATA": METADATA.format(version=version),
        }
        files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return make


def run(script: str, site_packages: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", SCRIPTS / script, site_packages]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def content(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_list_of_vendors_grows_by_one(gems) -> None:
    site_packages = gems()
    assert run("add_vendor.py", site_packages).returncode == 0
    namespace: dict = {}
    exec((site_packages / RUNTIME / "common.py").read_text(), namespace)  # noqa: S102 (the test wrote it)
    assert {name: member.value for name, member in namespace["vendors"].get_all_vendors().items()} == {
        "nvidia": 0,
        "enflame": 12,
        "flagos": 13,
    }
    added = set((site_packages / RUNTIME / "common.py").read_text().splitlines()) - set(COMMON.splitlines())
    assert added == {"    FLAGOS = 13"}


def test_each_operator_is_tuned_with_its_smallest_tile(gems) -> None:
    site_packages = gems()
    run("add_vendor.py", site_packages)
    made = YAML(typ="safe").load((site_packages / RUNTIME / "backend/_flagos/tune_configs.yaml").read_text())
    assert made == {
        "plain": [{"META": {"BLOCK": 64}, "num_warps": 8, "num_stages": 3}],
        "generated": [{"META": {"M": 2, "N": 8, "WHOLE": True}, "num_warps": 16}],
        "sets": [{"META": {"A": 2, "B": 2}, "num_stages": 2}],
    }


def test_a_second_run_changes_nothing(gems) -> None:
    site_packages = gems()
    run("add_vendor.py", site_packages)
    run("relax_pins.py", site_packages)
    before = content(site_packages)
    assert run("add_vendor.py", site_packages).returncode == run("relax_pins.py", site_packages).returncode == 0
    assert content(site_packages) == before


def test_exact_pins_become_lower_bounds_except_those_of_extras(gems) -> None:
    site_packages = gems()
    assert run("relax_pins.py", site_packages).returncode == 0
    text = (site_packages / "flag_gems-5.0.2.dist-info/METADATA").read_text()
    assert [line.removeprefix("Requires-Dist: ") for line in text.splitlines() if "Requires" in line] == [
        "PyYAML >=6.0.3",
        "numpy>=1.26.4",
        "torch ==2.9.0 ; extra == 'nvidia'",
    ]


def test_the_record_names_every_file_with_its_hash(gems) -> None:
    site_packages = gems()
    run("add_vendor.py", site_packages)
    run("relax_pins.py", site_packages)
    record = site_packages / "flag_gems-5.0.2.dist-info/RECORD"
    rows = {name: (digest, size) for name, digest, size in csv.reader(record.read_text().splitlines())}
    assert rows.keys() == content(site_packages).keys()
    changed = {name: row for name, row in rows.items() if row[0]}
    assert {f"{RUNTIME}/common.py", f"{RUNTIME}/backend/_flagos/__init__.py"} < changed.keys()
    for name, (digest, size) in changed.items():
        data = (site_packages / name).read_bytes()
        encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={encoded}", str(len(data))), name


@pytest.mark.parametrize("script", ["add_vendor.py", "relax_pins.py"])
def test_another_version_is_refused_and_left_alone(gems, script: str) -> None:
    site_packages = gems("5.3.0")
    before = content(site_packages)
    done = run(script, site_packages)
    assert (done.returncode, content(site_packages)) == (1, before)
    assert done.stderr.strip().endswith(
        "holds FlagGems 5.3.0, but the vendor flagos is written for 5.0.2: install flag-gems==5.0.2"
    )


def test_a_folder_without_flaggems_is_said(tmp_path: Path) -> None:
    done = run("add_vendor.py", tmp_path)
    assert done.returncode == 1 and "holds no FlagGems" in done.stderr
