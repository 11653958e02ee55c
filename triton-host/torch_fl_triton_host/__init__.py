"""Triton kernels on a machine without a GPU: a ``triton.backends`` plug-in that runs Triton IR on the host.

Triton imports :mod:`.compiler` and :mod:`.driver` by itself.  For people there
are the launch counters (:func:`launches`, :func:`reset_launches`) and one
variable: ``TORCH_FL_TRITON_EXECUTOR=native|numpy`` (:mod:`.executable`).
Importing this module imports neither torch nor triton.
"""

from torch_fl_triton_host._version import __version__
from torch_fl_triton_host.counters import launches, reset_launches

__all__ = ["__version__", "launches", "reset_launches"]
