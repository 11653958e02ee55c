"""A kernel that numpy runs."""

import numpy as np

from torch_fl_triton_host.device import device
from torch_fl_triton_host.numpy_executor.elements import HELD, from_bits, stored
from torch_fl_triton_host.numpy_executor.messages import KernelAssertion
from torch_fl_triton_host.numpy_executor.program import Code
from torch_fl_triton_host.payload import HEADER
from torch_fl_triton_host.ttir.ir import Module, Type


class NumpyExecutable:
    """One loaded kernel; see :class:`torch_fl_triton_host.executable.Executable`."""

    def __init__(self, name: str, module: Module) -> None:
        self._name = name
        self._code = Code(module.kernel, module)
        self._types = [argument.type for argument in module.kernel.arguments]

    def run(self, payload: bytes, stream: int) -> None:
        """Wait for the stream, then run every program of the grid on the calling thread."""
        device().synchronize(stream)
        offset, *sizes, _ = HEADER.unpack_from(payload)
        arguments = [self._argument(payload[HEADER.size + 8 * i :], kind) for i, kind in enumerate(self._types)]
        sizes = [np.int32(size) for size in sizes]
        offset = np.int64(offset).view(np.uint64)
        try:
            with np.errstate(all="ignore"):
                for z in range(sizes[2]):
                    for y in range(sizes[1]):
                        for x in range(sizes[0]):
                            self._code.run((np.int32(x), np.int32(y), np.int32(z), *sizes, offset), arguments)
        except KernelAssertion as error:
            raise RuntimeError(f"kernel {self._name}: device assertion failed: {error}") from None

    @staticmethod
    def _argument(slot: bytes, kind: Type) -> object:
        raw = np.frombuffer(slot, stored(kind.element), 1)
        return from_bits(raw, kind.element).astype(HELD[kind.element])[0]
