"""lock, pack, unpack, verify: an environment that is decided here and installed where there is no network."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rattler.index import index_fs
from rattler_build import assemble_package
from torch_fl_lab.cli import app
from typer.testing import CliRunner

SDK = "metax_maca3813"


def command(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def make_channel(tmp_path: Path) -> Path:
    """torch-fl for two platforms, and what it needs: packages of one file each."""
    folder = tmp_path / "channel"

    def add(name: str, version: str, build: str, *depends: str, platform: str = "linux-64") -> None:
        content = tmp_path / "content" / f"{name}-{build}"
        (content / "share").mkdir(parents=True)
        (content / f"share/{name}.txt").write_text(f"{name} {version} {build}\n")
        assemble_package(name, version, platform, build, folder / platform, depends=list(depends), files_dir=content, noarch="generic" if platform == "noarch" else None)

    (folder / "linux-64").mkdir(parents=True)
    (folder / "noarch").mkdir()
    for build in ("host", SDK):
        add("torch-fl-platform", "1", f"{build}_0", platform="noarch")
        add("torch-fl", "0.1.0", f"{build}_py312_0", f"torch-fl-platform ==1 {build}_0", "helper >=1", *(["__cuda >=13"] if build == SDK else []))
    add("helper", "1.5", "0")
    asyncio.run(index_fs(folder, force=True))
    return folder


def make_lock(channel: Path, tmp_path: Path) -> Path:
    """The lock of platform `host`."""
    status, printed, said = command("lock", "host", "--channel", channel, "--output", tmp_path / "locks")
    assert status == 0, printed + said
    return tmp_path / "locks/host/pixi.lock"


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    return make_channel(tmp_path)


@pytest.fixture
def locked(channel: Path, tmp_path: Path) -> Path:
    return make_lock(channel, tmp_path)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lock and the archive made of it; its channel is gone."""
    folder = tmp_path_factory.mktemp("once")
    channel = make_channel(folder)
    lock = make_lock(channel, folder)
    for name in ("host.pyz", "again.pyz"):
        status, printed, said = command("pack", lock, "-o", folder / name)
        assert status == 0, printed + said
    shutil.rmtree(channel)
    return folder


@pytest.fixture
def packed(once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(once / "host.pyz", tmp_path))


def test_the_same_channels_give_the_same_lock_and_a_check_says_when_they_do_not(channel, locked, tmp_path):
    before, arguments = locked.read_bytes(), ("lock", "host", "--channel", channel, "--output", tmp_path / "locks", "--json")
    status, printed, _ = command(*arguments, "--check")
    assert (status, json.loads(printed)["locks"][0]["state"], json.loads(printed)["locks"][0]["packages"]) == (0, "unchanged", 3)
    assemble_package("helper", "1.6", "linux-64", "0", channel / "linux-64", depends=[])
    asyncio.run(index_fs(channel, force=True))
    status, printed, _ = command(*arguments, "--check")
    assert (status, json.loads(printed)["locks"][0]["state"]) == (1, "differs") and locked.read_bytes() == before
    assert command(*arguments)[0] == 0 and locked.read_bytes() != before
    assert sorted(path.name for path in locked.parent.iterdir()) == ["pixi.lock"]


def test_another_machine_is_stated(channel, tmp_path):
    arguments = ("lock", SDK, "--channel", channel, "--output", tmp_path / "locks")
    status, _, said = command(*arguments, "--override-virtual", "__cuda=")
    assert status == 2 and "__cuda" in said and said.count("\n") == 1
    assert command(*arguments, "--override-virtual", "__cuda=13.0")[0] == 0
    status, _, said = command(*arguments, "--override-virtual", "cuda")
    assert status == 2 and "write __NAME=VERSION" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lock", "nothing", "--channel", "{channel}"], "nothing fits torch-fl, torch-fl-platform=*=nothing*"),
        (["lock", "host", "--channel", "{tmp}"], "is no channel: it has no */repodata.json"),
        (["pack", "{tmp}/none.lock"], "is no file; make one with torch-fl lock"),
        (["pack", "{channel}/linux-64/repodata.json"], "is no lock of torch-fl lock"),
        (["unpack", "{tmp}/none.pyz", "{tmp}/prefix"], "no such file"),
        (["verify", "{channel}"], "is no environment"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(channel, tmp_path, arguments, sentence):
    status, _, said = command(*(text.format(channel=channel, tmp=tmp_path) for text in arguments))
    assert status == 2 and sentence in said and said.count("\n") == 1


def test_a_mirror_that_is_not_whole_says_all_that_it_lacks(channel, locked, tmp_path):
    for name in ("helper-1.5-0.conda", "torch-fl-0.1.0-host_py312_0.conda"):
        (channel / "linux-64" / name).unlink()
    status, _, said = command("pack", locked, "-o", tmp_path / "x.pyz")
    assert status == 2 and "2 of 3 packages" in said and "helper-1.5-0.conda (no " in said and "torch-fl-0.1.0-host_py312_0.conda (no " in said
    assert not list(tmp_path.glob("*.pyz*"))


def test_another_file_than_the_locked_one_is_not_packed(channel, locked, tmp_path):
    shutil.copy(channel / "noarch/torch-fl-platform-1-host_0.conda", channel / "linux-64/helper-1.5-0.conda")
    status, _, said = command("pack", locked, "-o", tmp_path / "x.pyz")
    assert status == 2 and "is not the file of the lock (sha256 expected " in said


def test_the_same_lock_gives_the_same_archive(once):
    assert (once / "host.pyz").read_bytes() == (once / "again.pyz").read_bytes()


def without_network() -> list[str]:
    """What a command is begun with to have no network; nothing, where the system forbids it."""
    allowed = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0 if shutil.which("unshare") else False
    return ["unshare", "-rn"] if allowed else []


def test_a_bare_python_without_a_network_installs_it(packed, tmp_path):
    prefix, home = tmp_path / "env", tmp_path / "home"
    home.mkdir()
    run = [*without_network(), sys.executable, "-I", "-S", str(packed)]
    done = subprocess.run([*run, "--prefix", str(prefix)], env={"PATH": "/usr/bin:/bin", "HOME": str(home)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (prefix / "share/torch-fl.txt").read_text() == "torch-fl 0.1.0 host_py312_0\n"
    assert list(home.iterdir()) == [] and {path.name for path in tmp_path.iterdir()} == {"host.pyz", "env", "home"}
    assert command("verify", prefix)[0] == 0
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == ["helper ==1.5 0", "torch-fl ==0.1.0 host_py312_0", "torch-fl-platform ==1 host_0"]
    again = subprocess.run([*run, "--prefix", str(prefix)], capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "is there and not empty" in again.stderr


def test_an_unfinished_environment_is_made_anew(packed, tmp_path):
    prefix = tmp_path / "env"
    prefix.mkdir()
    (prefix / ".incomplete").touch()
    (prefix / "rest").touch()
    assert command("unpack", packed, prefix)[0] == 0
    assert not (prefix / ".incomplete").exists() and not (prefix / "rest").exists()


def rewritten(packed: Path, changes: dict[str, bytes | None], more: dict[str, bytes] | None = None) -> Path:
    """A copy of the archive with other content of some files."""
    target = packed.with_name("changed.pyz")
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(target, "w") as sink:
        for info in source.infolist():
            content = changes.get(info.filename, source.read(info))
            if content is not None:
                sink.writestr(info.filename, content)
        for name, content in (more or {}).items():
            sink.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("changes", "more", "sentence"),
    [
        ({"channel/linux-64/helper-1.5-0.conda": b"other"}, None, "is not what the manifest says"),
        ({"pixi.lock": b""}, None, "is not what the manifest says"),
        ({"channel/linux-64/helper-1.5-0.conda": None}, None, "helper-1.5-0.conda is missing"),
        ({}, {"../outside": b""}, "'../outside' leads out of it"),
        ({"manifest.json": b"[]"}, None, "has another schema than"),
        ({"manifest.json": b'{"schema": 1, "files": {}, "packages": []}'}, None, "its manifest.json lacks pixi.lock"),
        ({"manifest.json": b"{"}, None, "was not written by torch-fl pack"),
        ({"manifest.json": None}, None, "was not written by torch-fl pack"),
    ],
)
def test_an_archive_that_was_changed_installs_nothing(packed, tmp_path, changes, more, sentence):
    path = rewritten(packed, changes, more)
    for arguments in (("unpack", path, tmp_path / "env"), ("verify", path)):
        status, _, said = command(*arguments)
        assert status == 2 and sentence in said and said.count("\n") == 1, said
    assert not (tmp_path / "env").exists() and not (tmp_path / "outside").exists()


def test_an_archive_that_is_cut_off_installs_nothing(packed, tmp_path):
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    status, _, said = command("unpack", packed, tmp_path / "env")
    assert status == 2 and "is damaged or was not written by torch-fl pack" in said
    assert not (tmp_path / "env").exists()


def test_what_was_changed_in_an_environment_is_named(packed, tmp_path):
    prefix = tmp_path / "env"
    assert command("unpack", packed, prefix)[0] == 0
    (prefix / "share/helper.txt").unlink()
    (prefix / "share/torch-fl.txt").write_text("changed")
    (prefix / "share/mine").touch()
    next((prefix / "conda-meta").glob("torch-fl-platform-*.json")).unlink()
    status, printed, _ = command("verify", prefix, "--json")
    assert status == 1
    found = {(difference["kind"], difference["what"]) for difference in json.loads(printed)["differences"]}
    assert found == {
        ("missing", "share/helper.txt of helper"),
        ("changed", "share/torch-fl.txt of torch-fl"),
        ("package", "torch-fl-platform 1 host_0 is in the lock and not installed"),
        ("added", "share/mine"),
        ("added", "share/torch-fl-platform.txt"),
    }


def test_wheels_lie_beside_the_packages_and_may_not_be_of_one(locked, tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    status, _, said = command("pack", locked, "--wheels", wheels, "-o", tmp_path / "x.pyz")
    assert status == 2 and "there is no wheel in it" in said
    (wheels / "flagtree-0.6.1+metax3.6-py3-none-any.whl").write_bytes(b"wheel")
    assert command("pack", locked, "--wheels", wheels, "-o", tmp_path / "x.pyz")[0] == 0
    with zipfile.ZipFile(tmp_path / "x.pyz") as archive:
        assert archive.read("wheels/flagtree-0.6.1+metax3.6-py3-none-any.whl") == b"wheel"
    (wheels / "helper-1.0-py3-none-any.whl").touch()
    status, _, said = command("pack", locked, "--wheels", wheels, "-o", tmp_path / "y.pyz")
    assert status == 2 and "is of helper, which the lock has as a package" in said
