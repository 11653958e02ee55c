"""From routing files and environment variables to the table that the core takes.

Later wins: the platform's own file (or the one ``FLAGOS_BACKEND_CONFIG``
names), then ``FLAGOS_FORCE_BACKEND``, then ``FLAGOS_OP_<operator>``.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from .. import compat
from .chain import FLAGGEMS, NONE, check, steps
from .errors import Location, Report, RoutingError, nearest, stop
from .installed import Installed
from .operators import decode, encode, operator_names
from .parser import SHIPPED, Condition, Entry, parse_chain, parse_file

FILE_VARIABLE = "FLAGOS_BACKEND_CONFIG"
FORCE_VARIABLE = "FLAGOS_FORCE_BACKEND"
OPERATOR_PREFIX = "FLAGOS_OP_"
CORE = "host"  # the core's own slot, which is everywhere, and holds the kernels of the platform of that name


class Link(NamedTuple):
    """One step of a route: the backend asked, when, and why it cannot be asked here ("" where it can)."""

    backend: str
    conditions: tuple[Condition, ...] = ()
    missing: str = ""

    def __str__(self) -> str:
        return self.backend + (f"[{', '.join(map(str, self.conditions))}]" if self.conditions else "")


class Route(NamedTuple):
    """One line of the table: `operator` goes to the first step of `chain` that serves it, because `origin` says so."""

    operator: str
    chain: tuple[Link, ...]
    origin: str

    @property
    def text(self) -> str:
        """The chain as a routing file has it."""
        return ", ".join(map(str, self.chain))

    @property
    def asked(self) -> tuple[Link, ...]:
        """The steps that can be asked here; ``none`` where there is no other."""
        return tuple(link for link in self.chain if not link.missing) or (Link(NONE),)


class Table(NamedTuple):
    """What is asked of the core, and the operators that a forced backend has no kernel for."""

    routes: list[Route]
    unforced: list[str]

    def requests(self) -> list[tuple[str, list[tuple[str, tuple[Condition, ...]]], str]]:
        """The routes as :func:`torch_fl._C.start` takes them."""
        return [
            (route.operator, [(link.backend, link.conditions) for link in route.asked], route.origin)
            for route in self.routes
        ]


def load(platform: str, installed: Installed, environ: Mapping[str, str] | None = None) -> Table:
    """The routes asked for in this process.

    Args:
        platform: the platform of this build; :func:`default_file` of it is read where no variable names another.
        installed: the kernels there are.
        environ: the environment variables; the process's own where None.

    Raises:
        RoutingError: a file or variable that cannot be used, with its place.
    """
    environ = os.environ if environ is None else environ
    path, label = _chosen_file(platform, installed.slots, environ)
    routes = {route.operator: route for route in read_table(path, installed, label)}
    unforced = []
    if fitting := _forced_slots(environ, installed):
        # The first of the slots that has a kernel, as with routes that nobody has written.
        forced = {op: slot for slot in reversed(fitting) for op in sorted(installed.operators(slot))}
        unforced = sorted(routes.keys() - forced.keys())
        routes.update((op, Route(op, (Link(slot),), FORCE_VARIABLE)) for op, slot in forced.items())
    routes.update(_operator_variables(environ, installed))
    return Table(list(routes.values()), unforced)


def _chosen_file(platform: str, slots: Iterable[str], environ: Mapping[str, str]) -> tuple[Path, str]:
    if chosen := environ.get(FILE_VARIABLE):
        shipped = SHIPPED / chosen  # one of ours by its name, unless there is such a file here
        return (shipped if shipped.is_file() and not Path(chosen).exists() else Path(chosen)), chosen
    path = default_file(platform, slots)
    return path, path.name


def default_file(platform: str, slots: Iterable[str]) -> Path:
    """The shipped file that holds where no variable names one: its name says which kernels are installed.

    Without FlagGems it is ``backends_<platform>.conf``; with FlagGems beside the platform's own kernels
    ``backends_<platform>_flaggems.conf``; with FlagGems alone ``backends_flaggems.conf``, where a platform has one: routes
    that are right may then be slower than kernels that are not there.
    """
    slots = set(slots)
    names = [f"backends_{platform}.conf"]
    if "flaggems" in slots:
        names.insert(0, f"backends_{platform}_flaggems.conf")
        if not slots - {*FLAGGEMS} - ({CORE} - {platform}):
            names.insert(0, "backends_flaggems.conf")
    return next((file for name in names if (file := SHIPPED / name).is_file()), SHIPPED / names[-1])


def read_table(path: str | Path, installed: Installed, label: str | None = None, report: Report = stop) -> list[Route]:
    """The routes of one file and its includes, checked against PyTorch's operators and the `installed` kernels.

    Args:
        path: the file.
        installed: the kernels there are.
        label: what messages call the file; the path as given where None.
        report: gets each error; where it returns, the line in question is left out.
    """
    routes = []
    for entry in parse_file(path, label, report):
        if entry.operator not in operator_names():
            near = nearest(entry.operator, operator_names())
            report(RoutingError(entry.location, f"PyTorch has no operator '{entry.operator}'{near}"))
        elif check(entry, installed.slots, report):
            routes.append(_route(entry, installed, entry.location.origin))
    return routes


def _route(entry: Entry, installed: Installed, origin: str) -> Route:
    links = (Link(slot, conditions, installed.missing(slot, entry.operator)) for slot, conditions in steps(entry))
    return Route(entry.operator, tuple(links), origin)


def _forced_slots(environ: Mapping[str, str], installed: Installed) -> list[str]:
    word = environ.get(FORCE_VARIABLE)
    if not word:
        return []
    location = Location(FORCE_VARIABLE)
    wanted = compat.backend(word, FORCE_VARIABLE)
    if wanted not in (*FLAGGEMS, "vendor"):
        raise RoutingError(location, f"'{word}' cannot be forced; the words are flaggems, flaggems_cpp and vendor")
    fitting = [slot for slot in installed.slots if slot == wanted or (wanted == "vendor" and slot not in FLAGGEMS)]
    if not fitting:
        there = ", ".join(installed.slots) or NONE
        raise RoutingError(location, f"no {wanted} kernels are installed; the slots here are {there}")
    for slot in fitting:
        if slot in installed.problems:
            raise RoutingError(location, installed.problems[slot])
    return fitting


def _operator_variables(environ: Mapping[str, str], installed: Installed) -> dict[str, Route]:
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
        entry = Entry(names[0], parse_chain(environ[variable], location), location)
        check(entry, installed.slots, stop)
        routes[names[0]] = _route(entry, installed, variable)
    return routes
