"""The kernels of this installation, as routes see them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, ModuleType

from .chain import NONE

NO_SLOT = "slot not installed"
NO_CALLABLE = "callable missing"


class Installed:
    """Slots of kernels in their order of preference, and the operators that each has a kernel for.

    Args:
        slots: their names.
        kernels: gives the operators of a slot; asked when a route names the slot.
        problems: slot -> one sentence why it has no kernels although it is installed.
    """

    def __init__(
        self,
        slots: Sequence[str],
        kernels: Callable[[str], Iterable[str]],
        problems: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.slots = tuple(slots)
        self.problems = problems
        self._kernels = kernels
        self._operators: dict[str, frozenset[str]] = {}

    def operators(self, slot: str) -> frozenset[str]:
        """The operators that `slot` has kernels for."""
        if slot not in self._operators:
            self._operators[slot] = frozenset(self._kernels(slot))
        return self._operators[slot]

    def missing(self, slot: str, operator: str) -> str:
        """Why `slot` cannot serve `operator` here: :data:`NO_SLOT`, :data:`NO_CALLABLE`, or "" where it can."""
        if slot == NONE:
            return ""
        if slot not in self.slots:
            return NO_SLOT
        return "" if operator in self.operators(slot) else NO_CALLABLE


def of_core(core: ModuleType) -> Installed:
    """What the started or starting core has loaded."""
    slots = core.known_slots()
    problems = {}
    if "flaggems" in slots:
        from torch_fl.flaggems import operators

        if problem := operators.problem():
            problems["flaggems"] = problem
    return Installed(slots, core.slot_operators, problems)
