"""Which kernels do the work in a demonstration: choose them, and show how often each was called."""

import os
import sys

import torch
import torch_fl
from torch_fl import _C
from torch_fl.routing.table import default_file

BACKENDS = ("flaggems", "cpu")
OF_THE_CPU = ("cpu", "host")  # the CPU's own kernels, one by one and composed: their results are the CPU's to the bit


def use_backend(word: str | None) -> None:
    """Start the program again with the routing file of `word`, since routes are read when the device starts.

    None keeps what is in force.
    """
    if word is None:
        return
    platform = torch_fl._build_accelerator()
    # With FlagGems the file that fits what else is installed, which is the one by default.
    slots = _C.known_slots() if word == "flaggems" else ()
    chosen = default_file(platform, slots).name
    if os.environ.get("FLAGOS_BACKEND_CONFIG") != chosen:
        os.environ["FLAGOS_BACKEND_CONFIG"] = chosen
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def other_calls() -> int:
    """Calls that other kernels than the CPU's have served: FlagGems', a vendor's."""
    return sum(calls for (_, backend), calls in torch.flagos.dispatch_counts().items() if backend not in OF_THE_CPU)


def show() -> None:
    """Which kernels served which operators, most called first, and how many Triton kernels were launched."""
    counts = sorted(torch.flagos.dispatch_counts().items(), key=lambda item: -item[1])
    by_backend: dict[str, list[str]] = {}
    for (op, backend), calls in counts:
        by_backend.setdefault(backend, []).append(f"{op} x{calls}")
    for backend, ops in by_backend.items():
        shown = ", ".join(ops[:8])
        more = f" and {len(ops) - 8} more operators" if len(ops) > 8 else ""
        print(f"kernels '{backend}': {shown}{more}")
    host = sys.modules.get("torch_fl_triton_host")
    if host is not None and (launches := host.launches()):
        print(
            f"{sum(launches.values())} launches of {len(launches)} Triton kernels, run on the CPU by torch-fl-triton-host"
        )


def check_flaggems(word: str | None) -> None:
    """End the program where FlagGems was asked for and served nothing."""
    served = {backend for (_, backend), calls in torch.flagos.dispatch_counts().items() if calls}
    if word == "flaggems" and not any(backend.startswith("flaggems") for backend in served):
        raise SystemExit("no FlagGems kernel ran; see `torch-fl routes --missing`")
