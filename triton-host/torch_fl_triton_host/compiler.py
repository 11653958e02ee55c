"""The compiler half of the plug-in: Triton's own front end and clean-up passes, down to Triton IR and no further.

What runs is made from the Triton IR when a kernel is loaded (:mod:`.executable`).
"""

import functools
import hashlib
from pathlib import Path
from types import ModuleType
from typing import Any

from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget

from torch_fl_triton_host.options import HostOptions

BACKEND = "flagos"


@functools.cache
def sources_hash(root: Path = Path(__file__).parent) -> str:
    """Hash of this package's own files.  It is part of every cache key, so a kernel never outlives the code that made it."""
    digest = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c", ".h")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


class HostBackend(BaseBackend):
    """Compiles kernels for :class:`~torch_fl_triton_host.driver.HostDriver`."""

    binary_ext = "ttir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == BACKEND

    def hash(self) -> str:
        return f"{BACKEND}-{sources_hash()}"

    def parse_options(self, options: dict[str, Any]) -> HostOptions:
        return HostOptions.parse(options)

    def pack_metadata(self, metadata: Any) -> tuple:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: HostOptions) -> dict[str, Any]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1), "convert_custom_types": None}

    def get_module_map(self) -> dict[str, ModuleType]:
        # CUDA's names of the mathematical functions; the executors map them onto the C library's.
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        pass  # the front end loads what Triton IR needs

    def add_stages(self, stages: dict[str, Any], options: HostOptions, language: Any = None) -> None:
        stages["ttir"] = _to_ttir


def _to_ttir(module: Any, metadata: dict[str, Any]) -> str:
    manager = ir.pass_manager(module.context)
    passes.common.add_inliner(manager)
    passes.ttir.add_rewrite_tensor_pointer(manager)
    passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.common.add_licm(manager)
    passes.common.add_symbol_dce(manager)
    manager.run(module, "make_ttir")
    metadata["name"] = module.get_entry_func_name()
    metadata["shared"] = 0
    return module.str_nodebug()
