"""Small kernels in Triton IR, run on numpy arrays through the C emitter."""

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


def elementwise(operations, sources, size=64):
    """A kernel that loads ``size`` elements of each source type and stores the result of each operation to an array of its own.

    ``operations`` are pairs of the type of the result and a text that defines ``%r`` from ``%a0``, ``%a1`` ...
    """
    kinds = [*sources, *(kind for kind, _ in operations)]
    arguments = ", ".join(f"%p{n}: !tt.ptr<{kind}>" for n, kind in enumerate(kinds))
    lines = [f"%i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>"]
    for n, kind in enumerate(kinds):
        pointer = f"tensor<{size}x!tt.ptr<{kind}>>"
        lines.append(f"%s{n} = tt.splat %p{n} : !tt.ptr<{kind}> -> {pointer}")
        lines.append(f"%q{n} = tt.addptr %s{n}, %i : {pointer}, tensor<{size}xi32>")
        if n < len(sources):
            lines.append(f"%a{n} = tt.load %q{n} : {pointer}")
        else:
            text = operations[n - len(sources)][1]
            lines.append(text.replace("%r", f"%r{n}"))
            lines.append(f"tt.store %q{n}, %r{n} : {pointer}")
    return module("\n".join(lines), arguments)


class Builder:
    """Builds kernels into one folder: ``builder(module)``."""

    def __init__(self, folder):
        self.folder = folder
        self.kernels = {}

    def __call__(self, module, name="kernel"):
        return native.build(module, name, self.folder)

    def apply(self, operations, sources, *arrays, size=64):
        """The results of elementwise operations on arrays of at most ``size`` elements; one kernel for all, compiled once."""
        key = (tuple(operations), tuple(sources), size)
        if key not in self.kernels:
            self.kernels[key] = self(elementwise(operations, sources, size))
        count = len(arrays[0])
        padded = [np.resize(np.asarray(a, NUMPY[kind]), size) for a, kind in zip(arrays, sources, strict=False)]
        results = [np.zeros(size, NUMPY[kind]) for kind, _ in operations]
        run(self.kernels[key], *padded, *results)
        return [result[:count] for result in results]
