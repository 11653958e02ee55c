"""The one exception that reaches a person: a sentence that says what is wrong and what to do about it."""

from __future__ import annotations

import errno
from pathlib import Path

DISK_FULL_TEXT = "No space left on device"


class UserError(Exception):
    """A clear sentence; the driver prints it without a traceback and exits with status 1."""


def disk_full(folder: Path) -> UserError:
    return UserError(
        f"the disk that holds {folder} is full; free some space (`--clean` removes build_artifacts) and run again."
    )


def from_os_error(error: OSError, folder: Path) -> UserError:
    """Turn an operating system error into a sentence that names the file."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(folder)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return UserError(
            f"no permission to write {error.filename or folder}; make it yours (chown) or build in another clone."
        )
    return UserError(f"{error.strerror or error}: {error.filename or folder}")
