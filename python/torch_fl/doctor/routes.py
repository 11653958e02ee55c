"""Routes whose kernels are not here, of any slot; FlagGems' own names are another check's."""

from collections.abc import Iterator

from torch_fl import _C, routing
from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities
from torch_fl.routing import missing


def check() -> Iterator[Finding]:
    """What start-up warns of once, and a program's own routing file may have brought."""
    installed = routing.of_core(_C)
    table = routing.load(capabilities.platform()["id"], installed)
    lacking = [route for route in missing.missing(table.routes) if any(link.missing and link.backend != "flaggems" for link in route.chain)]
    if lacking:
        sentence, _, remedy = missing.describe(lacking, installed).partition("; ")
        yield Finding("wrong", "routes", sentence, remedy or "take these lines out of the routing file")
    else:
        yield Finding("fine", "routes", f"{len(table.routes)} of the routing files resolve; slots: {', '.join(sorted(installed.slots))}")
