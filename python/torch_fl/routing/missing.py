"""Routes that name kernels which are not here: said once, at import, instead of at the first call."""

import os
import warnings
from collections.abc import Iterable, Mapping

from .chain import NONE
from .errors import Location, RoutingError
from .installed import NO_CALLABLE, Installed
from .table import Route

STRICT_VARIABLE = "FLAGOS_STRICT_ROUTES"
_SHOWN = 5


def missing(routes: Iterable[Route]) -> list[Route]:
    """The routes that lack something: an installed slot has no such kernel, or none of the slots is installed.

    A step whose slot belongs to another installation is no lack while the chain has another kernel.
    """
    return [
        route
        for route in routes
        if any(link.missing == NO_CALLABLE for link in route.chain)
        or (all(link.missing for link in route.chain if link.backend != NONE) and route.chain[0].backend != NONE)
    ]


def strict(environ: Mapping[str, str]) -> bool:
    """Whether :func:`missing` routes are an error.

    Raises:
        RoutingError: ``FLAGOS_STRICT_ROUTES`` is neither 0 nor 1.
    """
    word = environ.get(STRICT_VARIABLE) or "0"
    if word not in ("0", "1"):
        raise RoutingError(Location(STRICT_VARIABLE), f"'{word}' is neither 0 nor 1")
    return word == "1"


def report_missing(routes: Iterable[Route], installed: Installed, environ: Mapping[str, str] | None = None) -> None:
    """Warn once about :func:`missing` routes, with their number and the remedy.

    Raises:
        RoutingError: there are such routes and they are an error (:func:`strict`).
    """
    fatal = strict(os.environ if environ is None else environ)
    if not (lacking := missing(routes)):
        return
    sentence = describe(lacking, installed)
    if fatal:
        raise RoutingError(Location(STRICT_VARIABLE), sentence)
    warnings.warn(
        f"{sentence} ('torch-fl routes --missing' lists them; {STRICT_VARIABLE}=1 makes this an error)",
        RuntimeWarning,
        stacklevel=2,
    )


def describe(lacking: list[Route], installed: Installed) -> str:
    """One sentence: how many, the first few, and the remedy."""
    slots = sorted({link.backend for route in lacking for link in route.chain if link.missing})
    shown = ", ".join(route.operator for route in lacking[:_SHOWN])
    more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
    count = "1 route names a kernel that is" if len(lacking) == 1 else f"{len(lacking)} routes name kernels that are"
    reasons = [installed.problems[slot] for slot in slots if slot in installed.problems]
    remedy = "; ".join(reasons) or "install the versions that the routing file was made for, or take these lines out"
    return f"{count} missing here ({', '.join(slots)}: {shown}{more}), so the next step of the chain serves; {remedy}"
