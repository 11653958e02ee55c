"""The classes that Inductor generates code for flagos with: its own, with kernels that are compiled for the target.

A generated kernel carries a description of its device, whose type chooses Triton's compiler and Inductor's launcher.
Where it is written into the wrapper, the description becomes the target's: a process that compiles kernels for Inductor
knows only that one.
"""

from typing import Any

import torch
from torch._inductor.codegen.triton import TritonScheduling
from torch._inductor.codegen.wrapper import PythonWrapperCodegen as TorchPythonWrapper
from torch._inductor.codegen.wrapper import SubgraphPythonWrapperCodegen
from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen as WrapperFxCodegen
from torch._inductor.virtualized import V

from torch_fl.compile import graphs
from torch_fl.compile.inductor import DEVICE, target


class Scheduling(TritonScheduling):
    def define_kernel(self, src_code: str, node_schedule: Any, kernel: Any) -> str:
        described = src_code.replace(f"DeviceProperties(type='{DEVICE}'", f"DeviceProperties(type='{target()}'")
        return super().define_kernel(described, node_schedule, kernel)


class _UserKernels:
    """Kernels of Triton that the program brings itself."""

    def define_user_defined_triton_kernel(self, *arguments: Any, **options: Any) -> Any:
        device = V.graph.get_current_device_or_throw()
        if device.type == DEVICE:
            device = torch.device(target(), device.index)
        with V.graph.set_current_device(device):
            return super().define_user_defined_triton_kernel(*arguments, **options)


class _SubgraphWrapper(_UserKernels, SubgraphPythonWrapperCodegen):
    pass


class PythonWrapperCodegen(_UserKernels, TorchPythonWrapper):
    @staticmethod
    def create(is_subgraph: bool, *subgraph: Any) -> TorchPythonWrapper:
        return _SubgraphWrapper(*subgraph) if is_subgraph else PythonWrapperCodegen()

    def generate_after_suffix(self, result: Any) -> None:
        super().generate_after_suffix(result)
        result.splice(graphs.source(V.graph))
