"""Nothing half-made is ever taken for whole, wherever the run was cut off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flbuild import lock
from flbuild.errors import from_os_error
from flbuild.layout import Layout, publish, recover

ROOT = Path(__file__).parents[3]


def folder(path: Path, content: str) -> Path:
    path.mkdir(parents=True)
    (path / "content").write_text(content)
    return path


def test_publishing_replaces_what_was_there(tmp_path: Path) -> None:
    place = folder(tmp_path / "channel", "old")
    publish(folder(tmp_path / "made", "new"), place)
    assert (place / "content").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["channel"]


@pytest.mark.parametrize("renames_done", [0, 1, 2])
def test_a_cut_between_the_renames_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames_done: int
) -> None:
    place, made = folder(tmp_path / "channel", "old"), folder(tmp_path / "made", "new")
    real, done = os.rename, 0

    def rename(source, target) -> None:
        nonlocal done
        if done == renames_done:
            raise KeyboardInterrupt
        done += 1
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        if renames_done < 2:
            with pytest.raises(KeyboardInterrupt):
                publish(made, place)
        else:
            publish(made, place)
    recover(place)
    assert (place / "content").read_text() == ("new" if renames_done == 2 else "old")
    assert not place.with_name("channel.old").exists()


def test_a_quarantine_is_empty_each_time(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    (layout.quarantine("x") / "left").write_text("by an interrupted run")
    assert list(layout.quarantine("x").iterdir()) == []


def test_a_second_run_at_the_same_time_is_told(tmp_path: Path) -> None:
    descriptor = lock.take(tmp_path)
    code = "import sys; from pathlib import Path; from flbuild import lock; lock.take(Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"another build-locally.py (process {os.getpid()}) is working in {tmp_path}" in done.stderr
    os.close(descriptor)
    os.close(lock.take(tmp_path))


def test_operating_system_errors_are_sentences(tmp_path: Path) -> None:
    assert "is full; free some space" in str(from_os_error(OSError(28, "No space left on device"), tmp_path))
    assert "no permission to write /x" in str(from_os_error(PermissionError(13, "Permission denied", "/x"), tmp_path))
