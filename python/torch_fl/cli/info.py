"""``torch-fl info``: versions, platform, devices and settings of this installation."""

import json
import os
import platform as machine
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table


def info(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print versions, platform, devices, memory, and the FLAGOS_ settings in force.

    It is what to send with a question.

        torch-fl info --json
    """
    facts = _facts()
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console(markup=False, highlight=False)
    build = Table("installation", "", show_header=True)
    for name, value in facts["versions"].items():
        build.add_row(name, value or "-")
    console.print(build)
    devices = Table("device", "name", "capability", "memory free", "memory total")
    for row in facts["devices"]:
        devices.add_row(row["device"], row["name"], row["capability"], _gib(row["free"]), _gib(row["total"]))
    console.print(devices)
    if facts["settings"]:
        settings = Table("setting", "value")
        for name, value in facts["settings"].items():
            settings.add_row(name, value)
        console.print(settings)


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"


def _facts() -> dict[str, Any]:
    import torch

    import torch_fl
    from torch_fl import _C

    flagos = torch_fl.flagos
    devices = []
    for index in range(flagos.device_count()):
        free, total = flagos.mem_get_info(index)
        major, minor = flagos.get_device_capability(index)
        devices.append(
            {
                "device": f"flagos:{index}",
                "name": flagos.get_device_name(index),
                "capability": f"{major}.{minor}",
                "free": free,
                "total": total,
            }
        )
    return {
        "versions": {
            "torch_fl": torch_fl.__version__,
            "torch": torch.__version__,
            "python": machine.python_version(),
            **_C.build_info(),
            "kernel_slots": ", ".join(_C.known_slots()),
        },
        "devices": devices,
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith("FLAGOS_")},
    }
