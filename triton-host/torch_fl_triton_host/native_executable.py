"""A kernel that runs as machine code, made by the system's C compiler."""

from pathlib import Path

from triton import knobs

from torch_fl_triton_host import native
from torch_fl_triton_host.device import device
from torch_fl_triton_host.ttir.ir import Module


class NativeExecutable:
    """One loaded kernel; see :class:`torch_fl_triton_host.executable.Executable`."""

    def __init__(self, name: str, module: Module) -> None:
        self._name = name
        # Beside Triton's own cache, so TRITON_CACHE_DIR and its rights hold for both.
        self._kernel = native.build(module, name, Path(knobs.cache.dir) / "torch_fl_triton_host")
        self._entry = self._kernel.entry
        self._submit = device().submit
        self._asserts = any(op.name == "tt.assert" for function in module.functions for op in function.body.walk())

    def run(self, payload: bytes, stream: int) -> None:
        """Queue the kernel; a failed assertion is reported when the kernel has run."""
        self._submit(self._entry, payload, stream)
        if self._asserts:  # such kernels are for debugging, and a message is worth waiting for
            device().synchronize(stream)
            message = self._kernel.failed()
            if message:
                raise RuntimeError(f"kernel {self._name}: device assertion failed: {message}")
