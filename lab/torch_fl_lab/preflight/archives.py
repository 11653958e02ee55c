"""The one file that counts, read out of a wheel or a conda package that nobody vouches for.

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
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from torch_fl_lab.errors import UserError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAME = "compatibility.json"
MOST_OF_A_DOCUMENT = 1 << 20  # bytes; ours have a thousand
LARGEST_RATIO = 200  # of a package unpacked to packed: libraries and sources stay below 20
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zstd.ZstdError, EOFError, OSError, RuntimeError, NotImplementedError, ValueError, KeyError)


class Archive:
    """What was found in an artifact: the document, and what it asks of its environment."""

    def __init__(self, document: bytes, requires: list[str], conda: bool) -> None:
        self.document, self.requires, self.conda = document, requires, conda


def read(path: Path) -> Archive:
    """The document and the requirements of a `.whl`, `.conda` or `.tar.bz2` file.

    Raises:
        UserError: it is none of these, damaged, hostile, or has no or several such documents.
    """
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
        found, requires = kinds[path.suffix](path)
    except BROKEN as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise UserError(f"{path} is damaged or no {path.suffix} file ({said}); get it again") from None
    if len(found) != 1:
        what = f"{len(found)} files {NAME}, and one is meant" if found else f"no {NAME}: it has nothing of a platform in it, or is not torch-fl's"
        raise UserError(f"{path} has {what}")
    return Archive(found[0], requires, conda=path.suffix != ".whl")


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


def _wheel(path: Path) -> tuple[list[bytes], list[str]]:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        ours = [entry for entry in entries if is_ours(entry.filename)]
        if any(stat.S_ISLNK(entry.external_attr >> 16) for entry in ours):
            raise UserError(f"{path}: {NAME} is a link; it has to be a file")
        metadata = [entry for entry in entries if entry.filename.endswith(".dist-info/METADATA")]
        documents = [_member(archive, entry) for entry in ours]
        headers = HeaderParser().parsestr(_member(archive, metadata[0]).decode()) if metadata else {}
        return documents, (headers.get_all("Requires-Dist") or []) if metadata else []


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as stream:
        return bounded(stream, entry.filename)


def _conda(path: Path) -> tuple[list[bytes], list[str]]:
    found: dict[str, list[bytes]] = {"pkg": [], "info": []}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            part = entry.filename.partition("-")[0]
            if part in found and entry.filename.endswith(".tar.zst"):
                with archive.open(entry) as packed, zstd.ZstdFile(packed) as stream:
                    found[part] += _documents(stream, _most(path), index=part == "info")
    return found["pkg"], _depends(found["info"])


def _tarred(path: Path) -> tuple[list[bytes], list[str]]:
    import bz2

    with bz2.open(path) as stream:
        documents = list(_documents(stream, _most(path), index=False))
    with bz2.open(path) as stream:
        return documents, _depends(list(_documents(stream, _most(path), index=True)))


def _most(path: Path) -> int:
    """Bytes that an honest package may unpack to."""
    return LARGEST_RATIO * path.stat().st_size + MOST_OF_A_DOCUMENT


def _documents(stream: IO[bytes], most: int, index: bool) -> Iterator[bytes]:
    """The documents in a tar, or with `index` its info/index.json."""
    with io.BufferedReader(_Limited(stream, most), 1 << 20) as limited, tarfile.open(fileobj=limited, mode="r|") as tar:
        for member in tar:
            ours = is_ours(member.name)
            if not (member.name == "info/index.json" if index else ours):
                continue
            file = tar.extractfile(member) if member.isreg() else None
            if file is None:
                raise UserError(f"{member.name} in the archive is no file, and has to be one")
            yield bounded(file, member.name)


def _depends(documents: list[bytes]) -> list[str]:
    index = json.loads(documents[0]) if documents else {}
    depends = index.get("depends", []) if isinstance(index, dict) else []
    return [spec for spec in depends if isinstance(spec, str)]


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
