"""FlagGems: whether it is there, and has every function that the routes name."""

from collections.abc import Iterator

from torch_fl import _C, routing
from torch_fl.doctor import Finding, pins
from torch_fl.evidence import capabilities


def check() -> Iterator[Finding]:
    """Names that do not resolve would show as operators that go to the next step of their chain."""
    installed = routing.of_core(_C)
    if "flaggems" not in installed.slots:
        if capabilities.platform()["kernels"]["flaggems"]:
            yield Finding("fine", "FlagGems", "the bridge to it is not installed; torch-fl-flaggems is the package")
        return
    table = routing.load(capabilities.platform()["id"], installed)
    named = [route for route in table.routes if any(link.backend == "flaggems" for link in route.chain)]
    pin = capabilities.platform()["pins"]["flaggems"]
    if problem := installed.problems.get("flaggems"):
        yield Finding("wrong", "FlagGems", f"{len(named)} routes name it, and the next step of their chains serves: {problem}", f"install flag-gems {pin}")
        return
    lacking = [route.operator for route in named if any(link.backend == "flaggems" and link.missing for link in route.chain)]
    if lacking:
        shown = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
        yield Finding("wrong", "FlagGems", f"{len(lacking)} of {len(named)} names do not resolve in the installed FlagGems ({shown})", f"install the pinned one, {pin}")
    else:
        yield from pins.measured("FlagGems", "flag-gems", pin)
        yield Finding("fine", "FlagGems", f"0 of {len(named)} names do not resolve")
