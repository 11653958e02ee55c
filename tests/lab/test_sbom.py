"""Bills of materials: of a lock, of a packed environment and of an installed one the same packages, and the same bytes each time."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from .test_offline import command, make_channel, make_lock


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lock, the archive made of it and of a wheel, and the environment that is installed from that."""
    root = tmp_path_factory.mktemp("bills")
    channel = make_channel(root)
    lock = make_lock(channel, root)
    (root / "wheels").mkdir()
    with zipfile.ZipFile(root / "wheels" / "vendor_extra-2.0-py3-none-any.whl", "w") as archive:
        archive.writestr("vendor_extra.py", "")
    for arguments in (("pack", lock, "-o", root / "host.pyz"), ("unpack", root / "host.pyz", root / "env"), ("pack", lock, "--wheels", root / "wheels", "-o", root / "more.pyz")):
        status, printed, said = command(*arguments)
        assert status == 0, printed + said
    return root


def bill(place: Path) -> dict:
    status, printed, said = command("sbom", place)
    assert (status, said) == (0, "") and JsonStrictValidator(SchemaVersion.V1_6).validate_str(printed) is None
    assert command("sbom", place)[1] == printed
    return json.loads(printed)


def parts(found: dict) -> dict[str, list[str]]:
    """Package URL to its hashes."""
    return {part["purl"]: sorted(entry["content"] for entry in part["hashes"]) for part in found["components"]}


def test_lock_archive_and_environment_agree(folder):
    lock, archive, environment = (bill(folder / name) for name in ("locks/host/pixi.lock", "host.pyz", "env"))
    assert len(parts(lock)) == 3 and parts(lock) == parts(archive) == parts(environment)
    assert lock["serialNumber"] == archive["serialNumber"] != bill(folder / "more.pyz")["serialNumber"]
    assert lock["dependencies"] == archive["dependencies"]
    needs = {entry["ref"].partition("@")[0]: sorted(ref.partition("@")[0] for ref in entry.get("dependsOn", [])) for entry in lock["dependencies"]}
    assert needs["pkg:conda/torch-fl"] == ["pkg:conda/helper", "pkg:conda/torch-fl-platform"]
    assert needs["environment:host"] == ["pkg:conda/helper", "pkg:conda/torch-fl", "pkg:conda/torch-fl-platform"]


def test_what_is_packed_and_installed_brings_its_own(folder):
    said = command("sbom", folder / "host.pyz")[1]
    assert (folder / "env/sbom.cdx.json").read_text("utf-8") == said
    assert command("verify", folder / "env")[0] == 0
    extra = parts(bill(folder / "more.pyz")).keys() - parts(bill(folder / "host.pyz")).keys()
    assert extra == {"pkg:pypi/vendor-extra@2.0?file_name=vendor_extra-2.0-py3-none-any.whl"}


def test_where_it_came_from_is_not_told(folder):
    assert str(folder) not in command("sbom", folder / "locks/host/pixi.lock")[1]


def test_a_package_lists_its_files(folder, package):
    (found,) = (bill(file) for file in make_channel(folder / "again").glob("linux-64/helper-*.conda"))
    assert [part["name"] for part in found["components"]] == ["share/helper.txt"]
    status, _, said = command("sbom", package())
    assert status == 2 and "is damaged or no conda package" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("wheels", "it has no conda-meta/*.json"), ("none", "no such file"), ("wheels/vendor_extra-2.0-py3-none-any.whl", "is a wheel"), ("locks/none/pixi.lock", "is no lock"), ("text.txt", "is damaged or was not written by torch-fl pack")],
)
def test_what_is_none_of_them_is_one_sentence(folder, name, sentence):
    (folder / "text.txt").write_text("text")
    status, _, said = command("sbom", folder / name)
    assert status == 2 and sentence in said and said.count("\n") == 1
