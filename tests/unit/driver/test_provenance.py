"""Which revision a package was made of: asked of git, put into finished packages, and nothing where it is not certain."""

from __future__ import annotations

import asyncio
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from rattler import RepoDataRecord
from rattler.package_streaming import extract
from rattler_build import assemble_package
from torch_fl_lab import payload
from torch_fl_lab.preflight import archives

from flbuild import provenance

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with one commit of `src/a` and `notes`."""
    root = tmp_path / "clone"
    (root / "src").mkdir(parents=True)
    for name in ("src/a", "notes"):
        (root / name).write_text(name)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*GIT, *command], cwd=root, check=True)
    return root


def head(root: Path) -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def test_a_clean_clone_says_its_revision(clone):
    assert provenance.source(clone, ["src"], {}) == {"sha": head(clone)}
    (clone / "notes").write_text("no package is made of it")
    assert provenance.source(clone, ["src"], {"GITHUB_RUN_ID": "7"}) == {"sha": head(clone), "flow_run_id": "github_7"}


@pytest.mark.parametrize("name", ["a", "new"])
def test_changed_sources_have_no_revision(clone, name):
    (clone / "src" / name).write_text("another")
    assert provenance.source(clone, ["src"], {"GITHUB_RUN_ID": "7"}) == {}


def test_nor_has_a_folder_that_is_no_clone_or_is_inside_one(clone, tmp_path, monkeypatch):
    assert provenance.source(tmp_path, ["src"]) == {}
    assert provenance.source(clone / "src", ["a"]) == {}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.source(clone, ["src"]) == {}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://example.org/torch-fl.git", "https://example.org/torch-fl.git"),
        ("https://me:secret@example.org/torch-fl", "https://example.org/torch-fl"),
        ("https://token@example.org:8443/torch-fl", "https://example.org:8443/torch-fl"),
        ("git@example.org:lab/torch-fl.git", "git@example.org:lab/torch-fl.git"),
        ("/home/me/torch-fl", None),
        ("file:///home/me/torch-fl", None),
    ],
)
def test_a_remote_is_told_without_its_secrets(clone, address, said):
    subprocess.run(["git", "remote", "add", "origin", address], cwd=clone, check=True)
    assert provenance.source(clone, ["src"], {}) == {"sha": head(clone)} | ({"remote_url": said} if said else {})


@pytest.fixture
def package(tmp_path: Path) -> Path:
    content = tmp_path / "content"
    (content / "share").mkdir(parents=True)
    (content / "share/x.txt").write_text("x")
    assemble_package("toy", "1.0", "linux-64", "0", tmp_path, depends=["other >=1"], files_dir=content, homepage="https://example.org")
    (made,) = tmp_path.glob("*.conda")
    return made


def test_a_stamp_changes_nothing_but_what_is_said_of_it(package, tmp_path):
    def inside() -> dict[str, bytes]:
        extract(package, tmp_path / "out")
        return {path.relative_to(tmp_path / "out").as_posix(): path.read_bytes() for path in sorted((tmp_path / "out").rglob("*")) if path.is_file()}

    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
    before, payload_before = inside(), payload.digest(package)
    provenance.stamp(package, {})
    assert inside() == before
    provenance.stamp(package, {"sha": "1" * 40})
    after = inside()
    about = json.loads(after.pop("info/about.json"))
    assert about == json.loads(before.pop("info/about.json")) | {"extra": {"sha": "1" * 40}}
    assert after == before and payload.digest(package) == payload_before
    assert archives.source(package) == {"sha": "1" * 40}
    with zipfile.ZipFile(package) as archive:
        assert archive.namelist() == names and archive.testzip() is None
    record = asyncio.run(RepoDataRecord.from_package_archive(package))
    assert record.depends == ["other >=1"] and not list(tmp_path.glob("*.partial"))
