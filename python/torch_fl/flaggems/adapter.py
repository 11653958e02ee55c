"""The adapter that makes FlagGems answer for ``flagos``: it fills in FlagGems' device record before the import.

FlagGems describes each vendor in a record, ``vendor_info`` of the top-level
module ``_<vendor>`` in its ``runtime/backend`` folder, and asks ``GEMS_VENDOR``
first which one to take (``runtime/backend/device.py`` of 5.0.2).  The records
that vendors ship name their own device (``cuda``, ``npu``); FlagGems takes
``torch.<device_name>``, and the dispatch key, from there.

It is one entry of :mod:`torch_fl.adapters`; ``FLAGOS_ADAPTERS_OFF=flag_gems``
leaves FlagGems as it is.
"""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

DEVICE = "flagos"
DISPATCH_KEY = "PrivateUse1"
VARIABLE = "GEMS_VENDOR"

# What Triton remarks on the way FlagGems' kernels are written: whoever calls an operator cannot change it.
_REMARKS = (
    r"tl\.make_block_ptr is deprecated",
    "Logical operators 'and' and 'or' are deprecated",
    "warmup, rep, and use_cuda_graph parameters are deprecated",
)


def library() -> ModuleType:
    """The module ``flag_gems``, imported for flagos if this is the first import.

    Raises:
        ImportError: FlagGems is not usable here (see :func:`.operators.problem`), or answers for another device.
        Exception: what FlagGems raises while it is imported.
    """
    from torch_fl import adapters

    from . import operators

    module = sys.modules.get("flag_gems")
    if module is None or not hasattr(module, "device"):
        if problem := operators.problem():
            raise ImportError(problem)
        adapters.enable("flag_gems")
        module = import_module("flag_gems")
    if module.device != DEVICE:
        raise ImportError(
            f"FlagGems was imported for the device '{module.device}' (vendor '{module.vendor_name}') and cannot serve "
            f"{DEVICE}; {_remedy()}"
        )
    return module


def _remedy() -> str:
    from torch_fl import adapters

    if adapters.switched_off("flag_gems"):
        return f"take flag_gems out of {adapters.OFF_VARIABLE}"
    if os.environ.get(VARIABLE):
        return f"unset {VARIABLE}, which is '{os.environ[VARIABLE]}'"
    return "do not import flag_gems before the first FlagGems kernel of torch-fl has run"


def register(library: str) -> None:
    """Import FlagGems with a device record for flagos; nothing where it is imported already.

    Raises:
        ImportError: the installed FlagGems does not know the vendor.
    """
    from torch_fl import adapters

    if library in sys.modules:
        return
    adapters.enable("triton")  # before the first kernel looks for a driver
    vendor = os.environ.get(VARIABLE) or _vendor()
    record = _record(vendor)
    # Triton's extra functions (libdevice) stay those of the vendor's own device.
    record.triton_extra_name = record.triton_extra_name or record.device_name
    record.device_name, record.dispatch_key = DEVICE, DISPATCH_KEY
    for remark in _REMARKS:
        warnings.filterwarnings("ignore", message=remark)
    with _environment(VARIABLE, vendor):
        import_module(library)


def _vendor() -> str:
    """FlagGems' word for the platform of this build; compatibility.json has it where it is another than flagos."""
    from torch_fl._data import data_file

    facts = data_file("compatibility.json")
    return json.loads(facts.read_text(encoding="utf-8")).get("flaggems_vendor", DEVICE) if facts else DEVICE


def _record(vendor: str) -> Any:
    folder = Path(find_spec("flag_gems").origin).parent / "runtime" / "backend"
    if not (folder / f"_{vendor}").is_dir():
        known = sorted(path.name[1:] for path in folder.glob("_[a-z]*") if path.is_dir())
        raise ImportError(
            f"FlagGems in {folder.parents[1]} has no vendor '{vendor}' (it has {', '.join(known) or 'none'}); "
            f"install the flag-gems package of the torch-fl channel"
        )
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # as FlagGems does, whose vendor modules import one another from there
    return import_module(f"_{vendor}").vendor_info


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
