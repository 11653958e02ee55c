"""Each package of the channel has a bill of materials beside it, which is valid and says what the package holds."""

from __future__ import annotations

import hashlib
import json
import re

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from torch_fl_lab import payload
from torch_fl_lab.preflight import archives

from flbuild import build, contents


def properties(bill: dict) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in bill["metadata"]["component"]["properties"]:
        found.setdefault(entry["name"], []).append(entry["value"])
    return found


def test_each_package_has_one_and_it_is_true(packages, channel):
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for package in packages:
        text = (channel / build.BILLS / f"{package.file.name}.cdx.json").read_text("utf-8")
        assert validator.validate_str(text) is None
        bill = json.loads(text)
        subject, said = bill["metadata"]["component"], properties(bill)
        assert (subject["name"], subject["version"]) == (package.name, package.index["version"])
        assert subject["purl"].startswith(f"pkg:conda/{package.name}@") and f"build={package.build}" in subject["purl"]
        assert subject["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(package.file.read_bytes()).hexdigest()}]
        assert said.get("conda:depends", []) == sorted(package.index["depends"])
        assert said["torch-fl:payload-sha256"] == [payload.digest(package.file)]
        files = {part["name"]: part["hashes"][0]["content"] for part in bill.get("components", [])}
        assert files.keys() == set(package.files)
        for name in files:
            if not (package.root / name).is_symlink():
                assert files[name] == hashlib.sha256((package.root / name).read_bytes()).hexdigest()


def test_all_of_a_build_name_the_same_revision_or_none_does(packages):
    for group in contents.siblings(packages).values():
        (sha,) = {archives.source(package.file).get("sha") for package in group}
        assert sha is None or re.fullmatch(r"[0-9a-f]{40}", sha)


def test_the_installed_command_writes_one_of_its_environment(environment, tmp_path):
    texts = []
    for name in ("a.json", "b.json"):
        done = environment.run("torch-fl", "sbom", str(environment.prefix), "-o", str(tmp_path / name))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        texts.append((tmp_path / name).read_text("utf-8"))
    assert texts[0] == texts[1] and JsonStrictValidator(SchemaVersion.V1_6).validate_str(texts[0]) is None
    bill = json.loads(texts[0])
    parts = {part["name"]: part for part in bill["components"]}
    assert {"torch-fl-runtime", "pytorch", "python"} <= parts.keys() and parts["torch-fl-runtime"]["licenses"]
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    assert parts["torch-fl-runtime"]["bom-ref"] in needs[parts["torch-fl"]["bom-ref"]]
