"""The end of a process that has used rattler."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """End the process now, with what was written on its way.

    Threads of rattler's own pool may still let go of Python objects, and crash where the interpreter is being taken down
    under them; the kernel gives locks and files back as well.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
