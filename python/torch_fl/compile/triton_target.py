"""Triton's compiler for the target under flagos' name, which Inductor's candidates for a matrix product give."""

from typing import Any

from triton.backends import Backend, backends
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


def register(device: str, target: str) -> None:
    """Add a back end for `device` to Triton's, which compiles as the one for `target` does; a second call does nothing."""
    if _compiler(device):
        return
    vendor = _compiler(target)
    if vendor is None:
        return  # Inductor says so when it compiles the first kernel

    class Compiler(vendor):
        @staticmethod
        def supports_target(target: GPUTarget) -> bool:
            return target.backend == device

        def __init__(self, named: GPUTarget) -> None:
            super().__init__(named)
            self.target = GPUTarget(target, named.arch, named.warp_size)

        def add_stages(self, stages: dict[str, Any], *options: Any) -> None:
            super().add_stages(stages, *options)
            first, stage = next(iter(stages.items()))

            # What is kept on disk is the target's: any process can load it, with and without torch_fl.
            def compile_first(source: Any, metadata: dict[str, Any]) -> Any:
                metadata["target"] = self.target
                return stage(source, metadata)

            stages[first] = compile_first

    class Driver(DriverBase):
        """Never active: kernels are launched by the target's."""

        @classmethod
        def is_active(cls) -> bool:
            return False

    backends[f"{device}-{target}"] = Backend(compiler=Compiler, driver=Driver)


def _compiler(target: str) -> type | None:
    wanted = GPUTarget(target, 0, 32)
    return next((known.compiler for known in backends.values() if known.compiler.supports_target(wanted)), None)
