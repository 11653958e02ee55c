"""Triton IR as machine code: C text, compiled by the system's compiler and kept on disk.

:func:`build` makes a kernel; :func:`compiler` says whether there is a compiler at all.
"""

from .kernel import NativeKernel, build
from .toolchain import Compiler, CompilerError, compiler
from .unsupported import Unsupported

__all__ = ["Compiler", "CompilerError", "NativeKernel", "Unsupported", "build", "compiler"]
