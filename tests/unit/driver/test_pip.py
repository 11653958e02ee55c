"""pip's failures, provoked for real, come back as sentences."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from flbuild import pip
from flbuild.digest import sha256_file
from flbuild.errors import UserError


def download(tmp_path: Path, line: str, *options: str) -> None:
    requirements = tmp_path / "list.txt"
    requirements.write_text(f"# download-bytes: 12\n{line}\n")
    base = ["download", "--require-hashes", "--no-deps", "-d", str(tmp_path / "got"), "-r", str(requirements)]
    pip.run(sys.executable, [*base, *options], tmp_path / "pip.log")


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_a_corrupted_wheel_is_named_with_both_hashes(tmp_path: Path, make_wheel) -> None:
    wheel = make_wheel("toy", "1.0", {"toy.py": "x = 1\n"})
    pinned = sha256_file(wheel)
    options = ("--no-index", "--find-links", str(wheel.parent))
    download(tmp_path, f"toy==1.0 --hash=sha256:{pinned}", *options)
    shutil.rmtree(tmp_path / "got")
    with wheel.open("ab") as stream:
        stream.write(b"damage")
    with pytest.raises(UserError) as caught:
        download(tmp_path, f"toy==1.0 --hash=sha256:{pinned}", *options)
    sentence = str(caught.value)
    assert all(part in sentence for part in (wheel.name, pinned, sha256_file(wheel)))


def test_an_index_out_of_reach(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="^PyPI cannot be reached .*; check the network"):
        download(
            tmp_path, "toy==1.0 --hash=sha256:" + "0" * 64, "--index-url", "http://127.0.0.1:9/simple", "--retries", "0"
        )


def test_a_release_that_is_nowhere(tmp_path: Path) -> None:
    with pytest.raises(pip.NotFound, match="has no toy==1.0"):
        download(tmp_path, "toy==1.0 --hash=sha256:" + "0" * 64, "--no-index", "--find-links", str(tmp_path))


def test_a_full_disk() -> None:
    assert "is full" in str(pip.explain("OSError: [Errno 28] No space left on device", Path("/x/pip.log")))


def test_the_size_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("# Written by x\n# download-bytes: 123\nx==1\n")
    assert pip.download_bytes(tmp_path / "a.txt") == 123
