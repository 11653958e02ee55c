"""Archives that nobody vouches for: one sentence, exit status 2, and nothing read without a bound."""

from __future__ import annotations

import os
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_fl_lab.errors import UserError
from torch_fl_lab.preflight import archives, facts

from .conftest import IN_A_PACKAGE, IN_A_WHEEL, document, tarred, zstd
from .test_preflight import preflight


def refusal(path) -> str:
    status, _, said = preflight(path)
    assert status == 2 and said.startswith("preflight: ") and said.count("\n") == 1, said
    return said


def link() -> tarfile.TarInfo:
    entry = tarfile.TarInfo(IN_A_PACKAGE)
    entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return entry


def test_what_is_cut_off_is_said_to_be(wheel, package):
    for path in (wheel(), package()):
        whole = path.read_bytes()
        for length in (0, 10, len(whole) // 2, len(whole) - 5):
            path.write_bytes(whole[:length])
            assert "is damaged or no" in refusal(path)


def test_a_stream_that_is_cut_off_inside(package):
    path = package()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content[: len(content) // 2])
    assert "is damaged or no" in refusal(path)


def test_a_bomb_is_left_alone(package, wheel):
    big = b"\0" * (64 << 20)
    assert "unpacks to more than 200 times its size" in refusal(package({"lib/zeros": big, IN_A_PACKAGE: document()}))
    path = wheel({IN_A_WHEEL: b""})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(IN_A_WHEEL, big)
    assert "is larger than" in refusal(path)


@pytest.mark.parametrize("name", ["../../etc/torch_fl/compatibility.json", "/torch_fl/compatibility.json", "a/../../b"])
def test_names_that_lead_out_of_it(package, wheel, name):
    for path in (package({name: document()}), wheel({name: document()})):
        assert "which leads out of it" in refusal(path)


def test_two_documents_and_none(package, wheel):
    other = "share/torch-fl/torch-fl-flaggems/compatibility.json"
    assert "has 2 files compatibility.json" in refusal(package({IN_A_PACKAGE: document(), other: document()}))
    assert "has no compatibility.json" in refusal(package({"lib/x": b""}))
    assert "has no compatibility.json" in refusal(wheel({"other/compatibility.json": document()}))


def test_a_link_is_no_document(package):
    assert "is no file, and has to be one" in refusal(package({IN_A_PACKAGE: link()}))


def test_what_is_no_file_at_all(tmp_path):
    os.mkfifo(tmp_path / "pipe.whl")
    (tmp_path / "folder.conda").mkdir()
    (tmp_path / "text.txt").touch()
    for name in ("pipe.whl", "folder.conda", "text.txt"):
        assert "is no wheel, no .conda and no .tar.bz2 file" in refusal(tmp_path / name)
    assert "no such file" in refusal(tmp_path / "none.whl")


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"null", b'{"schema": 2}', document(schema="1"), document(kernel_sets="all"), document(torch_version="new"), document(more=1)])
def test_documents_that_are_something_else(package, text):
    assert "it was not written by a build of torch-fl that this preflight knows" in refusal(package({IN_A_PACKAGE: text}))


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fall_over(text):
    with pytest.raises(UserError):
        facts.read(text, "somewhere")


@given(st.binary(max_size=600))
def test_no_tar_makes_it_fall_over(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("noise") / "x-1-0.conda"
    whole = bytearray(zstd.compress(tarred({IN_A_PACKAGE: document()})))
    for place, byte in enumerate(noise):
        whole[(place * 37) % len(whole)] ^= byte
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg-x-1-0.tar.zst", bytes(whole))
    try:
        archives.read(path)
    except UserError:
        pass
