"""Environment variables that change results, are misspelt, or do nothing any more."""

import os
from collections.abc import Iterator
from difflib import get_close_matches

from torch_fl import compat
from torch_fl.doctor import Finding, driver
from torch_fl.variables import VARIABLES

KNOWN = tuple(variable.name for variable in VARIABLES)
#: beginnings of others that are ours: of a build, of an emulated SDK, of the tests
OTHERS = tuple(f"FLAGOS_{word}" for word in ("BUILD_", "SDK_", "VENDOR_", "WHEEL_", "EMULATION_", "PLATFORM_LIBRARY"))


def is_known(name: str) -> bool:
    """Whether a variable is one of ours, or of a family of ours."""
    families = tuple(known for known in KNOWN if known.endswith("_"))
    return name in KNOWN or name.startswith((*families, *OTHERS))


def check() -> Iterator[Finding]:
    """The platform's notices; unknown, older and retired variables of ours; PyTorch's and the loader's that matter here."""
    for notice in (driver.platform() or {}).get("notices", []):
        if os.environ.get(notice["variable"]) == notice["value"]:
            yield Finding("note", notice["variable"], f"={notice['value']}: {notice['sentence']}")
    older = {old: new for new, names in compat.ENVIRONMENT.items() for old in names if old.startswith("FLAGOS_")}
    older |= {old: f"FLAGOS_LOG={word}" for old, word in compat.LOG_SWITCHES.items()}
    for name in sorted(os.environ):
        if name in compat.RETIRED:
            yield Finding("note", name, f"has no effect any more: {compat.RETIRED[name]}")
        elif name in older:
            yield Finding("note", name, f"still works, and is now called {older[name]}", f"set {older[name]} in its place")
        elif name.startswith("FLAGOS_") and not is_known(name):
            nearest = get_close_matches(name, KNOWN, 1)
            remedy = f"did you mean {nearest[0]}?" if nearest else f"unset it; there are {', '.join(KNOWN)}"
            yield Finding("wrong", name, "is no variable of torch_fl, so it does nothing", remedy)
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0":
        yield Finding("note", "TORCH_DEVICE_BACKEND_AUTOLOAD", "=0: import torch does not bring flagos up", "unset it, or import torch_fl")
    if preload := os.environ.get("LD_PRELOAD"):
        yield Finding("note", "LD_PRELOAD", f"={preload}: it is loaded before PyTorch's libraries, and torch_fl needs none", "unset it if something fails")
