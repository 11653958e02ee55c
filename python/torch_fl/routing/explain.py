"""Why an operator goes where it goes in this process: for ``torch-fl routes``.

The table is worked out again from the same files, variables and kernels that
start-up used, so nothing has to be kept for it.
"""

from functools import cache
from typing import Any

import torch

from .installed import Installed, of_core
from .table import Route, load

CPU = "cpu"  #: the core's word for its kernels that run the CPU's
FRONT = "in front of every route"  #: the core's word, as origin, for kernels that see each call before the route does


def entries() -> list[tuple[str, str, str]]:
    """Operator, backend and origin of each kernel that a route leads to."""
    from torch_fl import _C

    return sorted(entry for entry in _C.routes() if entry[2] != FRONT)


def fronts(operator: str) -> list[dict[str, str]]:
    """The step that comes before the route of `operator`, where there is one."""
    from torch_fl import _C

    verdict = f"{FRONT}: asked first, and passes on what is not of its kind"
    return [{"backend": slot, "verdict": verdict} for op, slot, origin in _C.routes() if (op, origin) == (operator, FRONT)]


def written_routes() -> dict[str, Route]:
    """The routes that a file or a variable gives, by operator."""
    return {route.operator: route for route in load(_platform(), _installed()).routes}


def reasons(operator: str) -> dict[str, Any]:
    """The route of one operator: its chain, origin, and the verdict on each step."""
    route = written_routes().get(operator)
    kernels = {backend: origin for op, backend, origin in entries() if op == operator}
    if route is None:
        backend, verdict = _unwritten(operator, kernels)
        steps = [*fronts(operator), {"backend": backend, "verdict": verdict}]
        return {"operator": operator, "backend": backend, "chain": backend, "origin": "default", "steps": steps}
    last = "the CPU's kernel" if CPU in kernels else "PyTorch's composition"
    steps = [{"backend": str(link), "verdict": _verdict(route, place, last)} for place, link in enumerate(route.chain)]
    if route.chain[-1].backend != "none":
        steps.append({"backend": "none", "verdict": _end(route, last)})
    return {
        "operator": operator,
        "backend": route.asked[0].backend,
        "chain": route.text,
        "origin": route.origin,
        "steps": [*fronts(operator), *steps],
    }


def _verdict(route: Route, place: int, last: str) -> str:
    link = route.chain[place]
    if link.missing:
        problem = _installed().problems.get(link.backend)
        return f"skipped: {link.missing}" + (f" ({problem})" if problem else "")
    if link.backend == "none":
        return _end(route, last)
    before = [step for step in route.chain[:place] if not step.missing]
    where = f"where {' and '.join(map(str, link.conditions))}" if link.conditions else ""
    if any(not step.conditions for step in before):
        return f"only if a step before declines, or calls the operator again; {where}".rstrip("; ")
    if not before:
        return f"chosen {where}".rstrip()
    return f"chosen {where}, if no step before applies" if where else "chosen where no step before applies"


def _end(route: Route, last: str) -> str:
    asked = [link for link in route.asked if link.backend != "none"]
    if not asked:
        return f"chosen: {last}"
    if any(not link.conditions for link in asked):
        return f"only if the steps before decline, or call the operator again: {last}"
    return f"chosen where no step before applies: {last}"


def _unwritten(operator: str, kernels: dict[str, str]) -> tuple[str, str]:
    slots = [slot for slot in _installed().slots if slot in kernels]
    if slots:
        return slots[0], f"chosen: no line names the operator, and slot '{slots[0]}' has a kernel for it"
    if CPU in kernels:
        return CPU, "chosen: no line names the operator, and no slot has a kernel for it"
    if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", "PrivateUse1"):
        return "core", "the core's own, which owns memory and views; it has no route"
    if any(
        torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", key)
        for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    ):
        return "none", "PyTorch's composition, whose parts have routes of their own"
    return "none", "no kernel here: an error says so at the call"


def _platform() -> str:
    from torch_fl import _C

    return _C.build_info()["platform"]


@cache
def _installed() -> Installed:
    from torch_fl import _C

    return of_core(_C)
