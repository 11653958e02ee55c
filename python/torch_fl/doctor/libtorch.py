"""PyTorch's core: the official one, or a vendor's in its place (the package torch-fl-libtorch)."""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from torch_fl import _C
from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities

MANIFEST = Path(sys.prefix) / "share" / "torch-fl" / "torch-fl-libtorch" / "libtorch.json"


def check() -> Iterator[Finding]:
    """Which core is installed, whether it is whole, and what it means for ``torch.cuda``."""
    wanted = capabilities.platform().get("libtorch")
    if not wanted:
        return
    yield Finding("fine", "imports", "torch and torch_fl may be imported in any order: nothing is loaded ahead of PyTorch")
    if not MANIFEST.is_file():
        yield Finding(
            "fine", "libtorch", f"the core of PyTorch is the official {torch.__version__}; boxing would need torch-fl-vendor-kernels and torch-fl-libtorch"
        )
        yield Finding("note", "torch.cuda", "shows no devices, since the official core of PyTorch has none of this vendor's; the cards are torch.flagos'")
        return
    facts = json.loads(MANIFEST.read_text())
    yield from _whole(facts)
    size = sum(library["bytes"] for library in facts["libraries"].values())
    yield Finding(
        "fine", "libtorch", f"the core of PyTorch is the vendor's {facts['vendor_torch_version']}, {size / 1e6:.0f} MB in torch-fl-libtorch; updates of kernels do not touch it"
    )
    driven = _C.native_device_type()
    yield Finding(
        *(("fine", "boxing", f"PyTorch drives the cards as '{driven}', and its kernels serve flagos") if driven else
          ("note", "boxing", "the vendor's core is installed and nothing uses it", "install torch-fl-vendor-kernels, or remove torch-fl-libtorch"))
    )  # fmt: skip
    yield _counts()


def _whole(facts: dict) -> Iterator[Finding]:
    """Whether the libraries that lie in PyTorch's folder are those of the package."""
    folder = Path(sys.prefix) / facts["folder"]
    for name, library in facts["libraries"].items():
        file = folder / name
        if not file.is_file():
            yield Finding("wrong", "libtorch", f"{file} is missing", "install torch-fl-libtorch again")
        elif file.stat().st_size != library["bytes"] or hashlib.sha256(file.read_bytes()).hexdigest() != library["sha256"]:
            yield Finding("wrong", "libtorch", f"{file} is not the package's; another PyTorch was installed over it", "install torch-fl-libtorch again")


def _counts() -> Finding:
    """``torch.cuda`` shows the same cards where the vendor's Python part of PyTorch is there, too, and else none."""
    ours, theirs = torch.flagos.device_count(), torch.cuda.device_count()
    if theirs == ours:
        return Finding("fine", "torch.cuda", f"shows the same {ours} devices as torch.flagos")
    if not torch.backends.cuda.is_built():
        return Finding("note", "torch.cuda", f"shows no devices, since this libtorch_python was built without CUDA; torch.flagos has the {ours} cards")
    return Finding(
        "wrong",
        "torch.cuda",
        f"shows {theirs} devices and torch.flagos {ours}: the vendor's runtime is not initialised alike for both",
        "look whether the driver is there and LD_LIBRARY_PATH puts no other runtime before it",
    )
