"""One PyTorch device, ``flagos``, for accelerators of many vendors.

``import torch`` finds this package by itself (entry point group
``torch.backends``); ``import torch_fl`` before or after it does the same and,
when something is wrong, says what in one sentence (``ImportError``).
"""

from torch_fl import _startup
from torch_fl._version import __version__

_startup.start()

from torch_fl import _C, flagos

__all__ = ["__version__", "flagos", "get_registered_ops", "is_flaggems_available", "is_flaggems_enabled"]


def _build_accelerator() -> str:
    """The platform this build drives, for example ``host``."""
    return _C.build_info()["platform"]


def is_flaggems_available() -> bool:
    """Whether the FlagGems Python package can be imported here; it is not imported to find out."""
    from importlib.util import find_spec

    return find_spec("flag_gems") is not None


def get_registered_ops() -> list[str]:
    """The operators that FlagGems kernels serve in this process, such as ``add.Tensor``, sorted."""
    return sorted(op for op, backend, _ in _C.routes() if backend in ("flaggems", "flaggems_cpp"))


def is_flaggems_enabled() -> bool:
    """Whether FlagGems kernels serve at least one operator in this process."""
    return bool(get_registered_ops())
