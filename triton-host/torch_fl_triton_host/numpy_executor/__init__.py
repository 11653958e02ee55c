"""Runs Triton IR with numpy, one program of the grid after the other: slow, clear, and without a C compiler.

It is the reference that the machine code of :mod:`torch_fl_triton_host.native` is compared with.
"""

from torch_fl_triton_host.numpy_executor.executable import NumpyExecutable

__all__ = ["NumpyExecutable"]
