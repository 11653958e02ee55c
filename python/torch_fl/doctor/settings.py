"""Environment variables that change results, are misspelt, or do nothing any more."""

import os
from collections.abc import Iterator
from difflib import get_close_matches

from torch_fl import compat
from torch_fl.doctor import Finding, driver

#: every variable that the runtime reads; tests/unit compares with the sources
KNOWN = (
    "FLAGOS_ACCELERATOR", "FLAGOS_ADAPTERS_OFF", "FLAGOS_BACKEND_CONFIG", "FLAGOS_FORCE_BACKEND", "FLAGOS_HOST_COPIES", "FLAGOS_HOST_DEVICES",
    "FLAGOS_HOST_GUARD", "FLAGOS_HOST_MEMORY", "FLAGOS_KERNEL_PATH", "FLAGOS_LOG", "FLAGOS_STRICT_ROUTES",
    "FLAGOS_TRACE", "FLAGOS_TRACER_LIBRARY", "FLAGOS_USE_CACHING_ALLOCATOR",
)  # fmt: skip
#: FLAGOS_OP_<operator> is a route; FLAGOS_BUILD_* are the build's, FLAGOS_EMULATION_* an emulated SDK's, FLAGOS_PLATFORM_LIBRARY the tests'
PREFIXES = ("FLAGOS_OP_", "FLAGOS_BUILD_", "FLAGOS_EMULATION_", "FLAGOS_PLATFORM_LIBRARY")


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
        elif name.startswith("FLAGOS_") and name not in KNOWN and not name.startswith(PREFIXES):
            nearest = get_close_matches(name, KNOWN, 1)
            remedy = f"did you mean {nearest[0]}?" if nearest else f"unset it; there are {', '.join(KNOWN)}"
            yield Finding("wrong", name, "is no variable of torch_fl, so it does nothing", remedy)
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0":
        yield Finding("note", "TORCH_DEVICE_BACKEND_AUTOLOAD", "=0: import torch does not bring flagos up", "unset it, or import torch_fl")
    if preload := os.environ.get("LD_PRELOAD"):
        yield Finding("note", "LD_PRELOAD", f"={preload}: it is loaded before PyTorch's libraries, and torch_fl needs none", "unset it if something fails")
