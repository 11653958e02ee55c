"""One run at a time in a clone. Standard library only, since it is taken before the tool environment exists.

The kernel drops the lock when its holder dies, however it dies; the open descriptor survives the exec into the tool environment.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from flbuild.errors import UserError


def take(artifacts: Path) -> int:
    """Lock `build_artifacts/`, or say who has it.

    Returns:
        the descriptor, inherited by what is exec'ed; closing it (or ending) releases the lock.
    """
    artifacts.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(artifacts / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 32).decode().strip() or "unknown"
        os.close(descriptor)
        raise UserError(
            f"another build-locally.py (process {holder}) is working in {artifacts}; wait for it or end it."
        ) from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    os.set_inheritable(descriptor, True)
    return descriptor


def adopt(descriptor: int) -> None:
    """After the exec: keep the lock in this process alone, so that a stray child cannot hold it."""
    os.set_inheritable(descriptor, False)
