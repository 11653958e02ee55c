"""What the words of a chain mean: the backends there are, and the conditions that can be tested."""

import re
from collections.abc import Iterable
from typing import NoReturn

from .. import compat
from .errors import Location, Report, RoutingError, nearest
from .operators import argument_names, dtype_names
from .parser import Condition, Entry, Step, Word

NONE = "none"  #: the backend word for "not claimed": the CPU, or PyTorch's composition, serves the operator
FLAGGEMS = ("flaggems", "flaggems_cpp")
NATIVE = ("cuda", "metax", "ascend", "musa", "gcu", "kunlunxin", "tsingmicro", "host")
SUBJECTS = ("dtype", "ndim", "numel", "size.<dimension>", "contiguous")  #: beside the arguments of the operator

_EQUALITY = ("=", "!=")
_UNORDERED = {"dtype": "data types", "contiguous": "true and false"}
_DIMENSION = re.compile(r"size\.-?\d+")
_WHOLE = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][+-]?\d+)?")


def check(entry: Entry, slots: Iterable[str], report: Report) -> bool:
    """Whether every word of the chain means something; each that does not goes to `report`.

    A backend of another installation is no error: its step is left out here.
    """
    good = True

    def keep(error: RoutingError) -> None:
        nonlocal good
        good = False
        report(error)

    for position, step in enumerate(entry.chain):
        try:
            _check_backend(step, position, entry.chain, (*slots, *FLAGGEMS, *NATIVE))
        except RoutingError as error:
            keep(error)
        for condition in step.conditions:
            try:
                _check_condition(condition, entry.operator, step.location)
            except RoutingError as error:
                keep(error)
    return good


def steps(entry: Entry) -> tuple[tuple[str, tuple[Condition, ...]], ...]:
    """Backends and conditions of the chain, by their present names.

    A comment that is one native backend's word, as in ``add.Tensor = flaggems  # musa``, names the kernel behind a
    FlagGems route: the next step, where the line has no other.
    """
    chain = [(compat.backend(step.backend, step.location.origin), step.conditions) for step in entry.chain]
    if len(chain) == 1 and chain[0][0] in FLAGGEMS and entry.comment in NATIVE:
        chain.append((entry.comment, ()))
    return tuple(chain)


def _check_backend(step: Step, position: int, chain: tuple[Step, ...], known: Iterable[str]) -> None:
    word = compat.BACKENDS.get(step.backend, step.backend)
    if word == NONE and step.conditions:
        raise RoutingError(step.location, f"'{NONE}' takes no conditions; it serves what no step before it has served")
    if word == NONE and position + 1 < len(chain):
        raise RoutingError(chain[position + 1].location, f"nothing can follow '{NONE}', which serves every call")
    valid = list(dict.fromkeys((*known, NONE)))
    if word not in valid:
        raise RoutingError(
            step.location,
            f"'{step.backend}' is not a backend; the backends are {', '.join(valid)}" + nearest(step.backend, valid),
        )


def _check_condition(condition: Condition, operator: str, place: Location) -> None:
    subject, relation, values = condition

    def fail(word: str, problem: str) -> NoReturn:
        raise RoutingError(word.location if isinstance(word, Word) else place, problem)

    standard = subject in ("dtype", "ndim", "numel", "contiguous") or _DIMENSION.fullmatch(subject)
    if not standard and subject not in (arguments := argument_names(operator)):
        known = f"the subjects are {', '.join(SUBJECTS)} and the arguments of {operator}: {', '.join(arguments)}"
        fail(subject, f"'{subject}' cannot be compared; {known}" + nearest(subject, (*SUBJECTS, *arguments)))
    if relation not in _EQUALITY and subject in ("dtype", "contiguous"):
        fail(relation, f"{_UNORDERED[subject]} have no order; compare {subject} with = or !=")
    if relation not in _EQUALITY and len(values) > 1:
        fail(relation, f"'{relation}' takes one value; use = or != for several")
    for value in values:
        if subject == "dtype":
            if value not in (types := dtype_names()):
                fail(value, f"'{value}' is not a data type; write it like float64" + nearest(value, types))
        elif subject == "contiguous":
            if value not in ("true", "false"):
                fail(value, f"'{value}' is neither true nor false, which contiguous is compared with")
        elif standard:
            if not _WHOLE.fullmatch(value):
                fail(value, f"'{value}' is not a whole number to compare {subject} with")
        elif value in ("none", "true", "false"):
            if relation not in _EQUALITY:
                fail(relation, f"'{value}' has no order; compare it with = or !=")
        elif not _NUMBER.fullmatch(value):
            fail(value, f"'{value}' is nothing to compare {subject} with; the values are none, true, false and numbers")
