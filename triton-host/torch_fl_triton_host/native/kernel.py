"""A kernel as machine code in this process."""

from __future__ import annotations

import ctypes
import functools
import shutil
from pathlib import Path

from ..ttir.ir import Module, Type
from . import cache
from .source import emit, runtime_source
from .toolchain import Compiler, CompilerError, compiler


class Failure(ctypes.Structure):
    """``struct failure`` of runtime.h."""

    _fields_ = (("state", ctypes.c_int32), ("text", ctypes.c_char * 512))


@functools.cache
def runtime(folder: Path, compiler: Compiler) -> tuple[ctypes.CDLL, int]:
    """The library that runs kernels, and the address of its functions."""
    library = load(runtime_source(), "runtime", folder, compiler)[0]
    return library, ctypes.addressof(ctypes.c_char.in_dll(library, "runtime"))


def load(source: str, name: str, folder: Path, compiler: Compiler) -> tuple[ctypes.CDLL, Path]:
    """A compiled C text in this process."""
    path = cache.library(source, name, folder, compiler)
    library = ctypes.CDLL(str(path))
    if path.parent != folder:
        shutil.rmtree(path.parent, ignore_errors=True)  # the loaded library stays mapped
    return library, path


class NativeKernel:
    """A loaded kernel.

    * ``address``: a C function ``void (const void *arguments, int64_t address_offset, const int32_t grid[3], int32_t threads)``.
      ``arguments`` holds a slot of eight bytes for each argument of the IR's function, in order: an integer or pointer as
      such, a float as its bits (of its own format, in the low bytes).
    * ``entry``: a C function ``void (const void *payload)`` that takes it all in one block:
      ``{int64 address_offset; int32 grid[3]; int32 threads; int64 arguments[]}``.
    * ``argument_types``: the types of the arguments.

    ``address_offset`` is added to every address that the kernel reads or writes. At most ``threads`` threads work on the
    grid; a kernel whose result would depend on their order uses one.
    """

    def __init__(self, library: ctypes.CDLL, path: Path, name: str, argument_types: tuple[Type, ...], runtime: int):
        self.path, self.name, self.argument_types = path, name, argument_types
        self._library = library
        ctypes.c_void_p.in_dll(self._library, "runtime").value = runtime
        self._failure = Failure.in_dll(self._library, "failure")
        self.address = ctypes.cast(self._library.kernel, ctypes.c_void_p).value
        self.entry = ctypes.cast(self._library.entry, ctypes.c_void_p).value

    def __call__(self, arguments: bytes, address_offset: int, grid: tuple[int, int, int], threads: int = 1) -> None:
        """Runs the kernel on the caller's thread; for tests and for devices without a stream."""
        function = ctypes.CFUNCTYPE(
            None, ctypes.c_char_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32
        )(self.address)
        function(arguments, address_offset, (ctypes.c_int32 * 3)(*grid), threads)

    def failed(self) -> str | None:
        """The message of the first assertion that failed since the last call, or None."""
        if self._failure.state != 2:
            return None
        text = self._failure.text.decode(errors="replace")
        self._failure.state = 0
        return text


def build(module: Module, name: str, folder: Path) -> NativeKernel:
    """Compiles a kernel, or takes it from the cache in ``folder``.

    :raises Unsupported: the kernel has an operation without a C form.
    :raises CompilerError: there is no C compiler, or it fails.
    """
    found = compiler()
    if found is None:
        raise CompilerError("no C compiler is found; install gcc or clang, or name one in CC")
    _, address = runtime(Path(folder), found)
    library, path = load(emit(module), name, Path(folder), found)
    return NativeKernel(library, path, name, tuple(argument.type for argument in module.kernel.arguments), address)
