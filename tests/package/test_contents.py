"""What lies in the built packages: each staged file once, nothing of the build machine, within budget."""

from __future__ import annotations

import tomllib

from flbuild import contents
from flbuild.platforms import ROOT


def test_nothing_is_wrong_with_the_channel(channel, tmp_path):
    assert contents.problems(channel, tmp_path) == []


def test_every_staged_file_is_in_exactly_one_package(packages):
    groups = contents.siblings(packages)
    assert groups
    for group in groups.values():
        assert len(contents.staged(group[0])) > 20
        assert contents.partition_problems(group) == []


def test_the_runtime_keeps_to_five_megabytes(runtime):
    assert tomllib.loads((ROOT / "recipe" / "size_budget.toml").read_text())["torch-fl-runtime"]["package"] <= 5_000_000
    assert runtime.file.stat().st_size <= 5_000_000


def test_the_licence_travels_with_every_package(packages):
    for package in packages:
        assert package.index["license"] == "Apache-2.0"
        assert (package.root / "info" / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_packages_can_be_read_by_others(packages):
    for package in packages:
        assert package.file.stat().st_mode & 0o044 == 0o044, f"{package.file} is private to its owner"


def test_only_the_console_script_is_written_for_one_prefix(packages):
    with_prefix = {
        record["_path"] for package in packages for record in package.records if record.get("prefix_placeholder")
    }
    assert with_prefix <= {"bin/torch-fl"}


def test_the_selector_holds_no_file_and_the_metapackage_says_what_it_is(packages):
    held = {"torch-fl-platform": [], "torch-fl": ["share/torch-fl/torch-fl/compatibility.json"]}
    for package in packages:
        assert package.files == held.get(package.name, package.files)
