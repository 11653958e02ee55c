"""From routing files and environment variables to the table that the core takes.

Later wins: the platform's own file (or the one ``FLAGOS_BACKEND_CONFIG``
names), then ``FLAGOS_FORCE_BACKEND``, then ``FLAGOS_OP_<operator>``.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .chain import FLAGGEMS, NONE, checked
from .errors import Location, RoutingError, nearest
from .operators import decode, encode, operator_names
from .parser import Condition, parse_chain, parse_file

FILE_VARIABLE = "FLAGOS_BACKEND_CONFIG"
FORCE_VARIABLE = "FLAGOS_FORCE_BACKEND"
OPERATOR_PREFIX = "FLAGOS_OP_"


class Route(NamedTuple):
    """One line of the table: `operator` goes to the first step of `chain` that serves it, because `origin` says so."""

    operator: str
    chain: tuple[tuple[str, tuple[Condition, ...]], ...]
    origin: str

    @property
    def text(self) -> str:
        """The chain as a routing file has it."""
        return ", ".join(backend + _conditions_text(conditions) for backend, conditions in self.chain)


class Table(NamedTuple):
    """What is asked of the core, and the operators that a forced backend has no kernel for."""

    routes: list[Route]
    unforced: list[str]


def load(
    platform: str,
    slots: Sequence[str],
    kernels: Callable[[str], Iterable[str]],
    environ: Mapping[str, str] | None = None,
) -> Table:
    """The routes asked for in this process.

    Args:
        platform: the platform of this build, whose ``configs/backends_<platform>.conf`` is the default file.
        slots: names of the kernel slots installed here.
        kernels: gives the operators that a slot has kernels for; asked only where a backend is forced.
        environ: the environment variables; the process's own where None.

    Raises:
        RoutingError: a file or variable that cannot be used, with its place.
    """
    environ = os.environ if environ is None else environ
    path, label = _chosen_file(platform, environ)
    routes = {route.operator: route for route in read_table(path, slots, label)}
    unforced = []
    if slot := _forced_slot(environ, slots):
        served = set(kernels(slot))
        unforced = sorted(routes.keys() - served)
        routes.update((operator, Route(operator, ((slot, ()),), FORCE_VARIABLE)) for operator in sorted(served))
    routes.update(_operator_variables(environ, slots))
    return Table(list(routes.values()), unforced)


def read_table(path: str | Path, slots: Sequence[str], label: str | None = None) -> list[Route]:
    """The routes of one file and its includes, checked against PyTorch's operators and the installed `slots`."""
    routes = []
    for entry in parse_file(path, label):
        if entry.operator not in operator_names():
            raise RoutingError(
                entry.location,
                f"PyTorch has no operator '{entry.operator}'" + nearest(entry.operator, operator_names()),
            )
        routes.append(Route(entry.operator, checked(entry.chain, slots), entry.location.origin))
    return routes


def _chosen_file(platform: str, environ: Mapping[str, str]) -> tuple[Path, str]:
    if chosen := environ.get(FILE_VARIABLE):
        return Path(chosen), chosen
    name = f"backends_{platform}.conf"
    return Path(__file__).parents[1] / "configs" / name, name


def _forced_slot(environ: Mapping[str, str], slots: Sequence[str]) -> str | None:
    word = environ.get(FORCE_VARIABLE)
    if not word:
        return None
    location = Location(FORCE_VARIABLE)
    if word not in ("flaggems", "vendor"):
        raise RoutingError(location, f"'{word}' cannot be forced; the words are flaggems and vendor")
    fitting = [slot for slot in slots if (slot in FLAGGEMS) == (word == "flaggems")]
    if not fitting:
        raise RoutingError(location, f"no {word} kernels are installed; the slots here are {', '.join(slots) or NONE}")
    return fitting[0]


def _operator_variables(environ: Mapping[str, str], slots: Sequence[str]) -> dict[str, Route]:
    routes: dict[str, Route] = {}
    for variable in sorted(name for name in environ if name.startswith(OPERATOR_PREFIX)):
        location = Location(variable)
        suffix = variable[len(OPERATOR_PREFIX) :]
        names = decode(suffix)
        if not names:
            near = nearest(suffix, map(encode, operator_names()))
            raise RoutingError(location, f"PyTorch has no operator '{suffix}' ('.' is written '__'){near}")
        if len(names) > 1:
            raise RoutingError(location, f"the name stands for {' and '.join(names)}; use a routing file instead")
        if names[0] in routes:
            raise RoutingError(location, f"'{names[0]}' is already set by {routes[names[0]].origin}; unset one")
        chain = checked(parse_chain(environ[variable], location), slots)
        routes[names[0]] = Route(names[0], chain, variable)
    return routes


def _conditions_text(conditions: tuple[Condition, ...]) -> str:
    if not conditions:
        return ""
    return "[" + ", ".join(f"{subject}{relation}{'|'.join(values)}" for subject, relation, values in conditions) + "]"
