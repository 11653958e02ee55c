"""Which kernels served which operators in this process."""

from torch_fl import _C


def dispatch_counts() -> dict[tuple[str, str], int]:
    """Calls by (operator, backend), such as ``{("add.Tensor", "cpu"): 3}``, since the start or the last reset.

    Counted are operators that ran on the device through a kernel or the CPU
    fallback; views, allocations and copies are not.
    """
    return _C.dispatch_counts()


def reset_dispatch_counts() -> None:
    """Start counting from zero again."""
    _C.reset_dispatch_counts()
