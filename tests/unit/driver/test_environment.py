"""Solve, lock, check, install: on a channel of two small packages."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from rattler.index import index_fs
from rattler_build import assemble_package
from torch_fl_lab.offline import locking

from flbuild import environment, solve
from flbuild.digest import sha256_file
from flbuild.errors import UserError
from flbuild.report import Stage


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    folder = tmp_path / "a channel"
    for name, depends in (("app", ["library >=1"]), ("library", [])):
        files = tmp_path / "files" / name
        (files / "share").mkdir(parents=True)
        (files / "share" / f"{name}.txt").write_text(name)
        assemble_package(name, "1.0", "linux-64", "h0_0", folder / "linux-64", files_dir=files, depends=depends)
    asyncio.run(index_fs(folder, force=True))
    return folder


def make(tmp_path: Path, channel: Path) -> Path:
    prefix, lock = tmp_path / "env", tmp_path / "new.lock"
    records = solve.lock([channel.as_uri()], ["app ==1.0 h0_0"], lock)
    environment.make(prefix, lock, records, tmp_path / "cache", Stage("environment"))
    lock.unlink()
    return prefix


def test_installing_and_knowing_it(tmp_path: Path, channel: Path) -> None:
    prefix = make(tmp_path, channel)
    assert (prefix / "share/library.txt").read_text() == "library"
    assert [r.name.normalized for r in locking.read(prefix / "pixi.lock")] == ["app", "library"]
    again = tmp_path / "again.lock"
    solve.lock([channel.as_uri()], ["app ==1.0 h0_0"], again)
    assert again.read_text().startswith("version: 7")
    assert environment.is_current(prefix, again)
    (prefix / environment.UNFINISHED).touch()
    assert not environment.is_current(prefix, again)


@pytest.mark.parametrize("damage", [b"one more byte", None])
def test_a_damaged_package_is_not_installed(tmp_path: Path, channel: Path, damage: bytes | None) -> None:
    file = channel / "linux-64/library-1.0-h0_0.conda"
    before = sha256_file(file)
    records = solve.lock([channel.as_uri()], ["app"], tmp_path / "new.lock")
    if damage is None:
        file.unlink()
        expected = f"{file} is gone"
    else:
        with file.open("ab") as stream:
            stream.write(damage)
        expected = f"{file} is corrupted (sha256 expected {before}, found {sha256_file(file)})"
    with pytest.raises(UserError) as caught:
        environment.make(tmp_path / "env", tmp_path / "new.lock", records, tmp_path / "cache", Stage("environment"))
    assert expected in str(caught.value)
    assert not (tmp_path / "env").exists()


def test_an_unfinished_environment_is_made_anew(tmp_path: Path, channel: Path) -> None:
    prefix = tmp_path / "env"
    (prefix / "share").mkdir(parents=True)
    (prefix / environment.UNFINISHED).touch()
    (prefix / "share/left.txt").write_text("by a run that was cut off")
    make(tmp_path, channel)
    assert sorted(p.name for p in (prefix / "share").iterdir()) == ["app.txt", "library.txt"]


def test_a_package_of_the_same_name_with_other_content_is_installed_anew(tmp_path: Path, channel: Path) -> None:
    prefix = make(tmp_path, channel)
    files = tmp_path / "files" / "app"
    (files / "share/app.txt").write_text("rebuilt")
    assemble_package("app", "1.0", "linux-64", "h0_0", channel / "linux-64", files_dir=files, depends=["library >=1"])
    asyncio.run(index_fs(channel, force=True))
    make(tmp_path, channel)
    assert (prefix / "share/app.txt").read_text() == "rebuilt"


def test_no_solution_is_a_sentence(tmp_path: Path, channel: Path) -> None:
    with pytest.raises(UserError, match="no environment fits these packages: .*missing"):
        solve.lock([channel.as_uri()], ["app", "missing"], tmp_path / "new.lock")


def test_the_exact_builds_are_asked_for() -> None:
    files = ("linux-64/torch-fl-0.1.0-host_py311_h1_0.conda", "noarch/torch-fl-tests-0.1.0-pyh4_0.conda")
    assert solve.specs(files) == ["torch-fl ==0.1.0 host_py311_h1_0"]
    assert solve.specs(files, solve.TEST_PACKAGE)[1] == "torch-fl-tests ==0.1.0 pyh4_0"
