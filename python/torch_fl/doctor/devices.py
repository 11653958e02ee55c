"""The platform's devices, and the vendor's libraries that drive them."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import torch

from torch_fl import _C
from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities

BROKEN = "look at the card with the driver's program and at the kernel's log (dmesg); torch-fl test shows what else fails"


def check() -> Iterator[Finding]:
    """Whether there are devices and one can compute, and from where the driver's libraries came."""
    facts = capabilities.platform()
    sdk = facts.get("sdk")
    count = torch.flagos.device_count()
    for file in loaded(facts.get("sonames", [])):
        yield from _library(file, sdk)
    if count == 0:
        remedy = f"look whether {sdk['root'] or sdk['title']} is there and its driver sees the cards" if sdk else "set FLAGOS_HOST_DEVICES to 1 or more"
        yield Finding("wrong", "devices", f"there is no {facts['hardware']} that the {facts['name']} runtime can use", remedy)
        return
    try:
        total = torch.ones(2, device="flagos").sum().item()
    except RuntimeError as error:
        yield Finding("wrong", "devices", f"flagos:0 does not compute: {str(error).splitlines()[0]}", BROKEN)
        return
    word = "device" if count == 1 else "devices"
    seen = f"{count} {word}, {torch.flagos.get_device_name(0)}; 1 + 1 is {total:g} there"
    yield Finding("fine", "devices", seen) if total == 2 else Finding("wrong", "devices", seen, BROKEN)


def loaded(names: list[str]) -> list[Path]:
    """The files that this process has loaded under such names (shell patterns), in the order of their addresses."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = dict.fromkeys(Path(path) for line in lines if (path := line.partition("/")[2] and "/" + line.partition("/")[2]))
    return [file for file in files if any(fnmatchcase(file.name, name) for name in names)]


def _library(file: Path, sdk: dict | None) -> Iterator[Finding]:
    """A vendor's library is the SDK's: another one of its name, put before it by LD_LIBRARY_PATH, is the usual reason for odd failures."""
    homes = [Path(_C.__file__).parents[4]]  # the environment, which an emulated SDK is part of
    if sdk:
        homes += [Path(sdk["root"]), *(Path(os.environ[name]) for name in sdk.get("root_variables", []) if os.environ.get(name))]
    if sdk and not sdk.get("with_pytorch") and not any(home in file.parents for home in homes):
        yield Finding("note", file.name, f"is loaded from {file.parent} and not from {sdk['root']}: LD_LIBRARY_PATH decides that, or the system's cache", "unset LD_LIBRARY_PATH, unless that is the SDK meant")
    else:
        yield Finding("fine", file.name, f"is loaded from {file.parent}")
