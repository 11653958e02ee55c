"""One run at a time in a clone. Standard library only, since it is taken before the tool environment exists.

The kernel drops the lock when its holder dies, however it dies; it is kept across the exec into the tool environment.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from flbuild.errors import UserError

VARIABLE = "TORCH_FL_BUILD_LOCK"  # the descriptor, across exec


def take(artifacts: Path) -> int:
    """Lock `build_artifacts/`, or say who has it.

    Returns:
        the descriptor; closing it (or ending) releases the lock.
    """
    if VARIABLE in os.environ:
        return int(os.environ.pop(VARIABLE))
    artifacts.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(artifacts / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 32).decode().strip() or "unknown"
        raise UserError(f"another build-locally.py (process {holder}) is working in {artifacts}; wait for it or end it.") from None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor


def keep_across_exec(descriptor: int) -> dict[str, str]:
    """Environment for the program that takes over."""
    os.set_inheritable(descriptor, True)
    return {VARIABLE: str(descriptor)}
