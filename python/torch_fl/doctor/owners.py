"""Other packages that take what is ours, or what only one may have: PyTorch's PrivateUse1 key."""

from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from torch_fl.doctor import Finding

PACKAGE = Path(__file__).parents[1]
#: vendors' packages that register a device with PyTorch's one key for devices from outside
OWNERS = ("torch_npu", "torch_musa", "torch_gcu", "torch_mlu", "torch_sdaa", "torch_txda")


def check() -> Iterator[Finding]:
    """Vendors' own devices, what else PyTorch starts by itself, and a second torch_fl."""
    started = {entry.value.partition(":")[0].partition(".")[0]: entry for entry in metadata.entry_points(group="torch.backends")}
    others = [name for name in {**dict.fromkeys(OWNERS), **started} if name != "_torch_fl_autoload" and find_spec(name) is not None]
    for name in others:
        if name in OWNERS:
            by = "PyTorch starts it by itself" if name in started else "importing it takes the key"
            yield Finding("wrong", name, f"is installed, and drives PyTorch's PrivateUse1 key, which only one package can: {by}", f"pip uninstall {name}, or use another environment")
        else:
            yield Finding("note", name, "is started by PyTorch, too (entry point torch.backends)")
    spec = find_spec("torch_fl")
    folders = [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or []]
    if folders and not any(folder.resolve() == PACKAGE.resolve() for folder in folders):
        yield Finding("wrong", "torch_fl", f"Python finds {folders[0]} first, and not {PACKAGE}", "remove the other one from the path")
    if "_torch_fl_autoload" not in started:
        remedy = "install torch-fl-runtime again: conda install --force-reinstall torch-fl-runtime"
        yield Finding("wrong", "entry point", "PyTorch has no entry point of torch_fl, so import torch does not bring the device up", remedy)
    elif not others:
        yield Finding("fine", "PrivateUse1", "no other package asks for it")
