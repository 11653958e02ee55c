"""The files that count, read out of a wheel or a conda package that nobody vouches for.

Nothing is unpacked to disk. What is read is bounded: a document has a size, and a stream an end, whatever an archive claims.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from torch_fl_lab.errors import UserError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAME = "compatibility.json"
INFORMATION = ("info/index.json", "info/about.json")  # of a conda package
MOST_OF_A_DOCUMENT = 1 << 20  # bytes; ours have a thousand
LARGEST_RATIO = 200  # of a package unpacked to packed: libraries and sources stay below 20
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zstd.ZstdError, EOFError, OSError, RuntimeError, NotImplementedError, ValueError, KeyError)


@dataclass(frozen=True)
class Archive:
    """What was found in an artifact.

    Args:
        document: compatibility.json; None where it has nothing of a platform in it.
        requires: what it asks of its environment, in the words of conda or of Python.
        conda: it is a conda package.
        source: of a conda package, where its sources are from: the keys of CEP 31. None where an artifact has no place for that.
        for_all: a package of ours that is the same on every platform, and needs no document.
    """

    document: bytes | None
    requires: list[str]
    conda: bool
    source: dict[str, str] | None = None
    for_all: bool = False


def read(path: Path) -> Archive:
    """The document, the requirements and the source of a `.whl`, `.conda` or `.tar.bz2` file.

    Raises:
        UserError: it is none of these, damaged, hostile, has several such documents, or none where one is meant.
    """
    documents, made = _opened(path)
    if len(documents) > 1:
        raise UserError(f"{path} has {len(documents)} files {NAME}, and one is meant")
    if not documents and not made.for_all:
        raise UserError(f"{path} has no {NAME}: it is not torch-fl's, or was made before its packages had one")
    return replace(made, document=documents[0] if documents else None)


def source(path: Path) -> dict[str, str]:
    """Where the sources of a package are from, whosever it is: what of CEP 31's keys it has.

    Raises:
        UserError: as of :func:`read`, but for the document.
    """
    return _opened(path)[1].source or {}


def _opened(path: Path) -> tuple[list[bytes], Archive]:
    """Every document in it, and what else it says."""
    kinds = {".whl": _wheel, ".conda": _conda, ".bz2": _tarred}
    try:
        status = path.stat()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror.lower() if error.strerror else error}; give a wheel, a .conda file or an installed prefix") from None
    if not stat.S_ISREG(status.st_mode) or path.suffix not in kinds:
        raise UserError(f"{path} is no wheel, no .conda and no .tar.bz2 file; an installed environment is given with --prefix")
    if not os.access(path, os.R_OK):
        raise UserError(f"{path} may not be read; ask its owner, or run as who may")
    try:
        return kinds[path.suffix](path)
    except BROKEN as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise UserError(f"{path} is damaged or no {path.suffix} file ({said}); get it again") from None


def is_ours(name: str) -> bool:
    """Whether a member is the document: beside `torch_fl/__init__.py`, or in `share/torch-fl/<package>/`.

    Raises:
        UserError: the name leads out of the archive.
    """
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
        raise UserError(f"the archive has a member {name!r}, which leads out of it: do not install it, and ask where it came from")
    return parts[-1:] == (NAME,) and (parts[-2:-1] == ("torch_fl",) or parts[-4:-2] == ("share", "torch-fl"))


def bounded(stream: IO[bytes], name: str) -> bytes:
    """All of a document.

    Raises:
        UserError: it is larger than any that was ever written.
    """
    text = stream.read(MOST_OF_A_DOCUMENT + 1)
    if len(text) > MOST_OF_A_DOCUMENT:
        raise UserError(f"{name} in the archive is larger than {MOST_OF_A_DOCUMENT} bytes: do not install it, and ask where it came from")
    return text


def _wheel(path: Path) -> tuple[list[bytes], Archive]:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        ours = [entry for entry in entries if is_ours(entry.filename)]
        if any(stat.S_ISLNK(entry.external_attr >> 16) for entry in ours):
            raise UserError(f"{path}: {NAME} is a link; it has to be a file")
        metadata = [entry for entry in entries if entry.filename.endswith(".dist-info/METADATA")]
        documents = [_member(archive, entry) for entry in ours]
        headers = HeaderParser().parsestr(_member(archive, metadata[0]).decode()) if metadata else {}
        return documents, Archive(None, (headers.get_all("Requires-Dist") or []) if metadata else [], conda=False)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as stream:
        return bounded(stream, entry.filename)


def _conda(path: Path) -> tuple[list[bytes], Archive]:
    documents, said = [], {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            part = entry.filename.partition("-")[0]
            if part in ("pkg", "info") and entry.filename.endswith(".tar.zst"):
                with archive.open(entry) as packed, zstd.ZstdFile(packed) as stream:
                    if part == "info":
                        said |= _members(stream, _most(path), INFORMATION.__contains__)
                    else:
                        documents += [text for _, text in _members(stream, _most(path), is_ours)]
    return documents, _package(said)


def _tarred(path: Path) -> tuple[list[bytes], Archive]:
    import bz2

    with bz2.open(path) as stream:
        found = list(_members(stream, _most(path), lambda name: is_ours(name) or name in INFORMATION))
    documents = [text for name, text in found if name not in INFORMATION]
    return documents, _package({name: text for name, text in found if name in INFORMATION})


def _most(path: Path) -> int:
    """Bytes that an honest package may unpack to."""
    return LARGEST_RATIO * path.stat().st_size + MOST_OF_A_DOCUMENT


def _members(stream: IO[bytes], most: int, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the wanted files in a tar."""
    with io.BufferedReader(_Limited(stream, most), 1 << 20) as limited, tarfile.open(fileobj=limited, mode="r|") as tar:
        for member in tar:
            if not wanted(member.name):
                continue
            file = tar.extractfile(member) if member.isreg() else None
            if file is None:
                raise UserError(f"{member.name} in the archive is no file, and has to be one")
            yield member.name, bounded(file, member.name)


def _package(said: dict[str, bytes]) -> Archive:
    """What a conda package says of itself in INFORMATION."""
    index, about = ({} if not isinstance(found := json.loads(said.get(name, b"{}")), dict) else found for name in INFORMATION)
    depends, extra, name = index.get("depends"), about.get("extra"), str(index.get("name"))
    return Archive(
        None,
        [spec for spec in depends if isinstance(spec, str)] if isinstance(depends, list) else [],
        conda=True,
        source={key: value for key, value in extra.items() if isinstance(value, str)} if isinstance(extra, dict) else {},
        for_all=bool(index.get("noarch")) and (name.startswith("torch-fl") or name.endswith("-version")),
    )


class _Limited(io.RawIOBase):
    """A stream that ends in an error where a package would not."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self.stream, self.left = stream, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise UserError(f"the archive unpacks to more than {LARGEST_RATIO} times its size: do not install it, and ask where it came from")
        buffer[: len(data)] = data
        return len(data)
