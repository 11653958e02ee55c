"""The clone that the ecosystem suite runs in: made from nothing, kept while nothing changed, closed to replacements."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from rattler import RepoDataRecord
from rattler.index import index_fs
from rattler_build import assemble_package

from flbuild import ecosystem, solve
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.report import Report, Stage


@pytest.fixture
def channel(tmp_path: Path) -> str:
    """A channel with two packages, one of them named as the interpreter."""
    folder = tmp_path / "channel"
    for name, version in (("python", "3.11.4"), ("torch", "2.13.0")):
        files = tmp_path / "files" / name
        (files / "lib").mkdir(parents=True)
        (files / "lib" / f"{name}.txt").write_text(name)
        assemble_package(name, version, "linux-64", "h0_0", folder / "linux-64", files_dir=files)
    asyncio.run(index_fs(folder, force=True))
    return folder.as_uri()


@pytest.fixture
def made(tmp_path: Path, channel: str, monkeypatch: pytest.MonkeyPatch):
    """Make the clone; `act(prefix)` is what pip does. Gives the stage."""
    layout = Layout(tmp_path)
    layout.work.mkdir(parents=True)
    listed = tmp_path / "list.txt"
    listed.write_text("a==1\n")

    def run(act=lambda prefix: None, text: str | None = None) -> Stage:
        def install(layout: Layout, prefix: Path, listed: Path, stage: Stage) -> int:
            act(prefix)
            return 1

        monkeypatch.setattr(ecosystem, "install", install)
        listed.write_text(text or listed.read_text())
        lock, stage = layout.work / "clone.lock", Stage("clone")
        records = solve.lock([channel], ["python", "torch"], lock)
        ecosystem.clone(layout, tmp_path / "env", lock, records, listed, stage)
        return stage

    return run


def records(channel: str, tmp_path: Path) -> list[RepoDataRecord]:
    return solve.lock([channel], ["python"], tmp_path / "one.lock")


def test_the_list_is_that_of_the_environments_python(tmp_path: Path, channel: str) -> None:
    found = ecosystem.pinned(tmp_path, records(channel, tmp_path))
    assert found == tmp_path / "tests/ecosystem/requirements/py311.txt"


def test_a_python_without_a_list_is_said_and_is_no_failure(
    tmp_path: Path, channel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = Layout(tmp_path)
    layout.work.mkdir(parents=True)
    assert ecosystem.run(layout, Report(), "host", [channel], ["python"], 1) == 0
    assert "no libraries are pinned for this Python (py311)" in capsys.readouterr().out
    assert not layout.environment("host-ecosystem").exists()


def test_a_whole_clone_is_kept_and_a_changed_list_makes_it_anew(tmp_path: Path, made) -> None:
    added = tmp_path / "env/lib/added.txt"
    made(lambda prefix: added.write_text("first"))
    assert made(lambda prefix: pytest.fail("pip ran again")).skipped
    assert added.read_text() == "first"
    made(lambda prefix: None, "a==2\n")
    assert not added.exists()
    assert (tmp_path / "env/lib/torch.txt").read_text() == "torch"


def test_an_interrupted_clone_is_made_anew(tmp_path: Path, made) -> None:
    def stop(prefix: Path) -> None:
        (prefix / "half.txt").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(stop)
    assert not made().skipped
    assert not (tmp_path / "env/half.txt").exists()
    assert made().skipped


@pytest.mark.parametrize("harm", ["replaced", "removed"])
def test_what_the_environment_had_may_not_be_touched(tmp_path: Path, made, harm: str) -> None:
    def act(prefix: Path) -> None:
        file = prefix / "lib/torch.txt"
        file.unlink()
        if harm == "replaced":
            file.write_text("torch")

    with pytest.raises(
        UserError, match=r"replaced lib/torch.txt of torch-2.13.0-h0_0; make the list again .* --ecosystem"
    ):
        made(act)
    assert not (tmp_path / "env" / ecosystem.MARKER).exists()


def test_an_environment_is_not_cloned_from_damaged_packages(tmp_path: Path, made) -> None:
    file = tmp_path / "channel/linux-64/torch-2.13.0-h0_0.conda"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(UserError, match="corrupted"):
        made()
    assert not (tmp_path / "env" / ecosystem.MARKER).exists()
