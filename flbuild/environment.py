"""Install a locked environment: every file's hash checked first, an unfinished one never mistaken for a whole one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from urllib.parse import unquote, urlparse

from rattler import RepoDataRecord, install

from flbuild.digest import sha256_file
from flbuild.errors import DISK_FULL_TEXT, UserError, disk_full
from flbuild.layout import remove
from flbuild.report import Stage

LOCK = "pixi.lock"
UNFINISHED = ".incomplete"
DEMONSTRATED = ".demonstrated"  # the demonstrations ran well in what is installed


def local_file(record: RepoDataRecord) -> Path | None:
    """The package file of a `file://` channel; None for one that is downloaded."""
    url = urlparse(record.url)
    return Path(unquote(url.path)) if url.scheme == "file" else None


def check_hashes(records: list[RepoDataRecord], stage: Stage) -> None:
    """Compare local package files with the lock: the installer checks only what it downloads.

    Raises:
        UserError: a file is damaged or missing; both hashes are given.
    """
    for number, record in enumerate(records):
        stage.advance(number, len(records), f"checking {record.name.normalized}")
        file = local_file(record)
        if file is None:
            continue
        if not file.is_file():
            raise UserError(f"the package {file} is gone; run again to have it made anew.")
        expected, found = (record.sha256 or b"").hex(), sha256_file(file)
        if expected != found:
            raise UserError(
                f"the package {file} is corrupted (sha256 expected {expected}, found {found});"
                f" delete {folder_to_delete(file)} and run again to have it made anew."
            )


def sizes(records: list[RepoDataRecord]) -> str:
    """What an installation will download and take, for a person."""
    packed = sum(record.size or 0 for record in records)
    remote = sum(record.size or 0 for record in records if local_file(record) is None)
    return f"environment: {remote / 1e6:.0f} MB to download, about {packed * 4 / 1e9:.1f} GB on disk (less where files are hard-linked)"


def folder_to_delete(file: Path) -> Path:
    """The channel a package lies in."""
    return file.parent.parent


def is_current(prefix: Path, lock: Path) -> bool:
    """Whether the environment is whole and is what the lock says."""
    installed = prefix / LOCK
    return installed.is_file() and not (prefix / UNFINISHED).exists() and installed.read_bytes() == lock.read_bytes()


def make(prefix: Path, lock: Path, records: list[RepoDataRecord], cache: Path, stage: Stage) -> None:
    """Install into the final folder, since paths are written into files; a marker stands there until all is done.

    Raises:
        UserError: a corrupted package, or a full disk.
    """
    check_hashes(records, stage)
    if (prefix / UNFINISHED).exists():
        remove(prefix)
    prefix.mkdir(parents=True, exist_ok=True)
    (prefix / UNFINISHED).touch()
    for file in (LOCK, DEMONSTRATED):
        (prefix / file).unlink(missing_ok=True)
    try:
        asyncio.run(install(records, prefix, cache_dir=cache, show_progress=False, reporter=Reporter(stage)))
    except Exception as error:  # the binding has one exception for all causes
        if DISK_FULL_TEXT in str(error):
            raise disk_full(prefix) from None
        raise UserError(
            f"the environment could not be installed: {' '.join(str(error).split())}; delete {prefix} and run again."
        ) from error
    os.link(lock, prefix / LOCK)
    (prefix / UNFINISHED).unlink()


class Reporter:
    """Moves the bar of a stage as packages are linked."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.total, self.done = stage, 0, 0

    def on_transaction_start(self, total_operations: int) -> None:
        self.total = total_operations

    def on_transaction_operation_complete(self, operation: int) -> None:
        self.done += 1
        self.stage.advance(self.done, self.total, "installing")
