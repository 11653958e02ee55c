"""The vendor's side, without its runtime: the driver's program, the SDK's folder, the device nodes and who may open them."""

import glob
import grp
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities


def platform() -> dict[str, Any] | None:
    """The facts of platform.toml; None where the file is missing or broken, which another check tells."""
    try:
        return capabilities.platform()
    except (OSError, ValueError):
        return None


def check() -> Iterator[Finding]:
    """Nothing on emulated devices: they need no driver."""
    facts = platform()
    if facts is None:
        yield Finding("wrong", "platform.json", "is missing or cannot be read", "install torch-fl-runtime again: conda install --force-reinstall torch-fl-runtime")
        return
    sdk = facts.get("sdk")
    if not sdk:
        yield Finding("fine", "driver", f"{facts['hardware']}: no driver is needed")
        return
    try:
        if capabilities.build().get("emulated"):
            yield Finding("note", "driver", "this build runs on emulated devices, so no driver is asked")
            return
    except (OSError, ValueError):  # told by the check of compatibility.json
        pass
    yield from _program(facts, sdk)
    yield from _root(sdk)
    yield from nodes(sdk.get("device_nodes", []), sdk["title"])


def _program(facts: dict, sdk: dict) -> Iterator[Finding]:
    if not (command := sdk.get("driver_command")):
        return
    remedy = f"install the driver of {facts['hardware']}, or load its kernel module; in a container, start it with the devices"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("wrong", "driver", f"{command[0]} cannot be run: {error}", remedy)
        return
    lines = (done.stdout.strip() or done.stderr.strip() or "nothing").splitlines()
    if done.returncode:
        yield Finding("wrong", "driver", f"{command[0]} ends with status {done.returncode}: {lines[-1]}", remedy)
    else:
        yield Finding("fine", "driver", f"{command[0]} says: {lines[0]}")


def _root(sdk: dict) -> Iterator[Finding]:
    if sdk.get("with_pytorch"):
        yield Finding("fine", "SDK", f"{sdk['title']}'s runtime comes with PyTorch")
        return
    variable = next((name for name in sdk.get("root_variables", []) if os.environ.get(name)), None)
    root = os.environ[variable] if variable else sdk["root"]
    if not root:
        return
    by, wanted = f" ({variable})" if variable else "", " or ".join(sdk.get("versions", []))
    probe = Path(root, sdk.get("probe") or "")
    if not Path(root).is_dir():
        names = f", or name its folder with {sdk['root_variables'][0]}" if sdk.get("root_variables") else ""
        yield Finding("wrong", "SDK", f"{sdk['title']} is not in {root}{by}", f"install {sdk['title']} {wanted}{names}")
    elif not probe.exists():
        yield Finding("note", "SDK", f"{root}{by} has no {sdk['probe']}: its part for developers is not installed, which programs do not need")
    else:
        yield Finding("fine", "SDK", f"{sdk['title']} is in {root}{by}")


def nodes(patterns: list[str], title: str) -> Iterator[Finding]:
    """Whether the driver's device files are there, and this user may open them.

    Args:
        patterns: of file names.
        title: the vendor's name, for the sentence.
    """
    for pattern in patterns:
        files = sorted(glob.glob(pattern))
        if not files:
            yield Finding("wrong", pattern, f"there is no such device file, so the driver of {title} drives no card", "load the driver; in a container, pass the devices on")
            continue
        closed = [file for file in files if not os.access(file, os.R_OK | os.W_OK)]
        if closed:
            group = _group(closed[0])
            seen = f"{', '.join(closed[:3])} may not be opened by this user (mode {os.stat(closed[0]).st_mode & 0o777:o}, group {group})"
            yield Finding("wrong", pattern, seen, f"become a member of the group: sudo usermod -aG {group} $USER, and log in again")
        else:
            yield Finding("fine", pattern, f"{len(files)} may be opened")


def _group(file: str) -> str:
    number = os.stat(file).st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
