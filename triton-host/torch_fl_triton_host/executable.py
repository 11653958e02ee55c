"""A loaded kernel: Triton IR made runnable, as machine code where a C compiler is found, else by numpy.

``TORCH_FL_TRITON_EXECUTOR`` chooses: ``native`` or ``numpy``.
"""

import functools
import os
import sys
from typing import Protocol

CHOICE = "TORCH_FL_TRITON_EXECUTOR"


class Executable(Protocol):
    """One kernel, ready to run."""

    def run(self, payload: bytes, stream: int) -> None:
        """Run the kernel on `stream`; `payload` as :mod:`.payload` describes it.

        Raises:
            RuntimeError: a ``tl.device_assert`` of the kernel failed.
        """


def load(name: str, binary: bytes | str, kind: str | None = None) -> Executable:
    """Make the Triton IR of kernel `name` runnable, by :func:`executor` or the one that `kind` names.

    Raises:
        RuntimeError: the IR holds something that cannot run here; the kernel is named.
        ValueError: the variable holds an unknown word.
    """
    from torch_fl_triton_host.ttir import parse

    text = binary if isinstance(binary, str) else binary.decode()
    kind = kind or executor()
    try:
        module = parse(text)
        if kind == "native":
            from torch_fl_triton_host.native_executable import NativeExecutable

            return NativeExecutable(name, module)
        from torch_fl_triton_host.numpy_executor import NumpyExecutable

        return NumpyExecutable(name, module)
    except (NotImplementedError, ValueError, RuntimeError, OSError) as error:
        raise RuntimeError(f"kernel {name} cannot run on the host: {error}") from error


@functools.cache
def executor() -> str:
    """``native`` or ``numpy``; decided once a process, with one sentence where it is not the fast one."""
    chosen = os.environ.get(CHOICE, "")
    if chosen not in ("", "native", "numpy"):
        raise ValueError(f"{CHOICE} is '{chosen}'; it must be 'native' or 'numpy', or be unset")
    if chosen == "numpy":
        return "numpy"
    from torch_fl_triton_host import native

    if native.compiler() is not None:
        return "native"
    remedy = "install a C compiler (gcc or clang), or name one in CC"
    if chosen == "native":
        raise RuntimeError(f"{CHOICE} is 'native', but no C compiler is found; {remedy}")
    print(f"torch_fl_triton_host: no C compiler is found, so kernels run in numpy, slowly; {remedy}", file=sys.stderr)
    return "numpy"
