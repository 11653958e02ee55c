"""Small kernels in Triton IR, run on numpy arrays through the C emitter."""

import functools
import struct

import numpy as np

from torch_fl_triton_host import native
from torch_fl_triton_host.ttir import parse

#: numpy's type of an element; bfloat16 and 8-bit formats are handed over as their bits.
NUMPY = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32,
    "f64": np.float64, "bf16": np.uint16, "f8E4M3FN": np.uint8, "f8E5M2": np.uint8,
}  # fmt: skip


def slot(value):
    """A kernel argument in eight bytes."""
    if isinstance(value, np.ndarray):
        return struct.pack("<q", value.ctypes.data)
    if isinstance(value, np.generic):
        return value.tobytes().ljust(8, b"\0")
    return struct.pack("<q", value)


def run(kernel, *arguments, grid=(1, 1, 1), threads=1, address_offset=0):
    kernel(b"".join(slot(argument) for argument in arguments), address_offset, grid, threads)


def module(body, arguments):
    return parse(f"module {{\n  tt.func public @kernel({arguments}) {{\n{body}\n    tt.return\n  }}\n}}\n")


def elementwise(operation, sources, target, size=64, literals=""):
    """A kernel that loads ``size`` elements of each source type, applies an operation to ``%a0``, ``%a1`` ... and stores.

    ``operation`` is the text that defines ``%r``; ``{n}`` in it stands for the shape.
    """
    arguments = ", ".join(f"%p{n}: !tt.ptr<{kind}>" for n, kind in enumerate([*sources, target]))
    lines = [f"%i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>", literals]

    def address(n, kind):
        pointer = f"tensor<{size}x!tt.ptr<{kind}>>"
        lines.append(f"%s{n} = tt.splat %p{n} : !tt.ptr<{kind}> -> {pointer}")
        lines.append(f"%q{n} = tt.addptr %s{n}, %i : {pointer}, tensor<{size}xi32>")
        return pointer

    for n, kind in enumerate(sources):
        pointer = address(n, kind)
        lines.append(f"%a{n} = tt.load %q{n} : {pointer}")
    lines.append(operation)
    pointer = address(len(sources), target)
    lines.append(f"tt.store %q{len(sources)}, %r : {pointer}")
    return module("\n".join(lines), arguments)


class Builder:
    """Builds kernels once: ``builder(module)``."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, module, name="kernel"):
        return native.build(module, name, self.folder)

    @functools.lru_cache(maxsize=None)  # noqa: B019  one builder a session
    def elementwise(self, operation, sources, target, size=64, literals=""):
        return self(elementwise(operation, sources, target, size, literals))

    def apply(self, operation, sources, target, *arrays):
        """The results of an elementwise operation on arrays of any length."""
        size = 64
        count = len(arrays[0])
        padded = [np.resize(np.asarray(a, NUMPY[kind]), size) for a, kind in zip(arrays, sources)]
        out = np.zeros(size, NUMPY[target])
        run(self.elementwise(operation, tuple(sources), target), *padded, out)
        return out[:count]
