"""Which channel is taken, against a small server on this machine."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flbuild import channels

SEED = "file:///somewhere/seed"


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A channel over HTTP."""
    (tmp_path / "www/linux-64").mkdir(parents=True)
    (tmp_path / "www/linux-64/repodata.json.zst").write_bytes(b"")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args, **options) -> None:
            super().__init__(*args, directory=str(tmp_path / "www"), **options)

        def log_message(self, *args) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def condarc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A conda configuration file, and none of this machine's own."""
    file = tmp_path / "condarc"
    monkeypatch.setattr(channels, "condarc_files", lambda: [file])
    monkeypatch.setattr(
        channels.Config, "load_from_default_locations", staticmethod(lambda: channels.Config.from_toml(""))
    )
    return file


def test_the_configured_channels_come_before_conda_forge(condarc: Path) -> None:
    condarc.write_text("channels: [https://example.org/mine, defaults]\nchannel_alias: https://example.org/alias\n")
    assert channels.configured() == ["https://example.org/mine/", "https://example.org/alias/conda-forge/"]


def test_a_broken_configuration_file_is_passed_over(condarc: Path) -> None:
    condarc.write_text("channels: [unclosed\n")
    assert len(channels.configured()) == 1


def test_a_mirror_that_answers_is_taken(condarc: Path, mirror: str) -> None:
    condarc.write_text(f"channels: [{mirror}, http://127.0.0.1:9/dead]\nchannel_alias: http://127.0.0.1:9\n")
    assert channels.choose(["auto"], SEED)[0] == [f"{mirror}/"]


def test_the_seed_is_taken_where_nothing_answers(condarc: Path, mirror: str) -> None:
    condarc.write_text(f"channels: [{mirror}/empty]\nchannel_alias: http://127.0.0.1:9\n")
    assert channels.choose(["auto"], SEED) == ([SEED], "no conda channel answered within 3 s")


def test_what_is_asked_for_is_taken_without_asking_it() -> None:
    assert channels.choose(["seed"], SEED)[0] == [SEED]
    assert channels.choose(["https://example.org/a", "seed"], SEED)[0] == ["https://example.org/a/", SEED]
