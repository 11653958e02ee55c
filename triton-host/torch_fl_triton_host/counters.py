"""How often each kernel was launched: what tests and demos show to prove that a Triton kernel did the work."""

import threading
from collections import Counter

_counts: Counter[str] = Counter()
_lock = threading.Lock()


def count(kernel: str) -> None:
    """Add one launch of `kernel`."""
    with _lock:
        _counts[kernel] += 1


def launches() -> dict[str, int]:
    """Launches since the process started or :func:`reset_launches`, by kernel name, most first.

    A launch counts when it is handed to the device, whether or not it fails
    there.  A launch with an empty grid has no program to run and does not count.
    """
    with _lock:
        return dict(_counts.most_common())


def reset_launches() -> None:
    """Start counting from nothing."""
    with _lock:
        _counts.clear()
