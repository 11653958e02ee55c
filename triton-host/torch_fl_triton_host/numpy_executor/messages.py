"""What a kernel says: prints, assertions, and hints that need no action."""

import sys
from typing import Any

import numpy as np

from torch_fl_triton_host.numpy_executor.registry import Compute, operation
from torch_fl_triton_host.ttir.ir import Operation


class KernelAssertion(Exception):
    """A ``tl.device_assert`` failed; the message is the kernel's."""


@operation("tt.assert")
def _assert(op: Operation) -> Compute:
    message = op.attributes["message"]

    def compute(condition: Any) -> None:
        if not np.all(condition):
            raise KernelAssertion(message)

    return compute


@operation("tt.print")
def _print(op: Operation) -> Compute:
    prefix = op.attributes["message"]

    def compute(*values: Any) -> None:
        for value in values or ("",):
            sys.stdout.write(f"{prefix}{value}\n")

    return compute


@operation("gpu.barrier", "ttg.barrier", "llvm.intr.assume")
def _nothing(op: Operation) -> Compute:
    return lambda *operands: None
