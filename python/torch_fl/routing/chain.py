"""What the words of a chain mean: backends that are installed, and conditions that can be tested."""

from collections.abc import Sequence

import torch

from .. import compat
from .errors import RoutingError, nearest
from .parser import Condition, Step

NONE = "none"  #: the backend word for "not claimed": the CPU fallback serves the operator
FLAGGEMS = ("flaggems", "flaggems_cpp")
_ELSEWHERE = (*FLAGGEMS, "cuda", "metax", "ascend", "musa", "gcu", "kunlunxin", "tsingmicro", "host")
SUBJECTS = ("dtype", "ndim", "numel")  #: of every tensor argument; of the first one; of the first one
_EQUALITY = ("=", "!=")


def checked(chain: tuple[Step, ...], slots: Sequence[str]) -> tuple[tuple[str, tuple[Condition, ...]], ...]:
    """The chain for the core: names of slots, and conditions.

    Raises:
        RoutingError: a word that means nothing here, or ``none`` elsewhere than at the end.
    """
    result = []
    for position, step in enumerate(chain):
        backend = _backend(step, slots)
        if backend == NONE and step.conditions:
            raise RoutingError(step.location, f"'{NONE}' takes no conditions; it serves what no step before it has served")
        if backend == NONE and position + 1 < len(chain):
            raise RoutingError(chain[position + 1].location, f"nothing can follow '{NONE}', which serves every call")
        for condition in step.conditions:
            _check(condition, step)
        result.append((backend, step.conditions))
    return tuple(result)


def _backend(step: Step, slots: Sequence[str]) -> str:
    word = compat.backend(step.backend)
    valid = (*slots, NONE)
    if word in valid:
        return word
    installed = f"the backends here are {', '.join(valid)}"
    if word in _ELSEWHERE:
        raise RoutingError(step.location, f"no '{step.backend}' kernels are installed; {installed}")
    raise RoutingError(
        step.location,
        f"'{step.backend}' is not a backend; {installed}" + nearest(step.backend, (*valid, *_ELSEWHERE)),
    )


def _check(condition: Condition, step: Step) -> None:
    subject, relation, values = condition

    def fail(problem: str) -> None:
        raise RoutingError(step.location, problem)

    if subject not in SUBJECTS:
        fail(f"'{subject}' cannot be compared; the subjects are {', '.join(SUBJECTS)}" + nearest(subject, SUBJECTS))
    if relation not in _EQUALITY and subject == "dtype":
        fail("data types have no order; compare dtype with = or !=")
    if relation not in _EQUALITY and len(values) > 1:
        fail(f"'{relation}' takes one value; use = or != for several")
    for value in values:
        if subject != "dtype" and not value.isdecimal():
            fail(f"'{value}' is not a whole number to compare {subject} with")
        if subject == "dtype" and not isinstance(getattr(torch, value, None), torch.dtype):
            known = [name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)]
            fail(f"'{value}' is not a data type; write it like float64" + nearest(value, known))
