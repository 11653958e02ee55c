"""One program on both sides: run on a copy of a sample on the CPU, run on a copy on the device, compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .compare import Difference, Tolerance, compare_trees, seen_arguments
from .mirror import CPU, Mirror

SEED = 1234
OTHER_SEEDS = range(1, 7)  # several: few drawn values can be alike by chance

Program = Callable[..., Any]
"""What a check runs: takes a copy of the sample's arguments, returns a tree of what is to be compared."""


@dataclass
class Side:
    """What one run of a program left behind."""

    device: torch.device
    result: Any = None
    error: Exception | None = None
    warnings: set[str] = field(default_factory=set)
    arguments: list[torch.Tensor] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)  # of the arguments, before the program
    drew: bool = False  # random numbers

    @classmethod
    def run(cls, program: Program, arguments: Any, device: torch.device, seed: int = SEED, mode: Any = None) -> Side:
        mirror = Mirror(device)
        copies = mirror(arguments)
        side = cls(device, arguments=mirror.tensors, versions=[t._version for t in mirror.tensors])
        seed_all(device, seed)
        before = torch.get_rng_state() if device == CPU else None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with mode or nullcontext():
                    side.result = program(*copies)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other side must raise the same
                side.error = error.with_traceback(None)
        side.warnings = {place_free(str(w.message)) for w in caught if told(w)}
        side.drew = before is not None and not torch.equal(before, torch.get_rng_state())
        return side


def seed_all(device: torch.device, seed: int) -> None:
    """As `torch.manual_seed` for the CPU and the device, without the accelerators that this PyTorch does not have:
    those remember a stack trace for each call, which is most of the time of a small operator's run."""
    torch.random.default_generator.manual_seed(seed)
    if device != CPU:
        torch.get_device_module(device).manual_seed_all(seed)


class Trial:
    """Runs programs on both sides.

    Args:
        device: the one under test.
        values: False where the operator leaves memory uninitialised, so that only the description is compared.
        seeds_itself: the program sets a seed and puts the generator back, so that draws cannot be seen from outside.
    """

    def __init__(
        self,
        device: torch.device,
        values: bool = True,
        seeds_itself: bool = False,
    ) -> None:
        self.at: Callable[[torch.device], None] = lambda device: None  # called before each side runs
        self.label = ("", 0)  # check and sample of the program that comes
        self.device = device
        self.values = values
        self.seeds_itself = seeds_itself

    def __call__(self, program: Program, *arguments: Any, tolerance: Tolerance | None = None) -> Side:
        """Run and compare; returns the CPU's side, raises `Difference`. Without a tolerance, bit for bit."""
        self.at(CPU)
        cpu = Side.run(program, arguments, CPU)
        random = self.random(cpu, program, arguments)
        self.at(self.device)
        device = Side.run(program, arguments, self.device)
        compare(cpu, device, self.values and not random, tolerance)
        if random and self.values:
            again = Side.run(program, arguments, self.device)
            compare(device, again, True, None)
        return cpu

    def random(self, cpu: Side, program: Program, arguments: Any) -> bool:
        """Whether the values of a run depend on random numbers."""
        if self.seeds_itself:
            draws = Draws()
            Side.run(program, arguments, CPU, mode=draws)
            return draws.seen
        return cpu.drew and not all(same(cpu, Side.run(program, arguments, CPU, seed)) for seed in OTHER_SEEDS)


def compare(wanted: Side, found: Side, values: bool, tolerance: Tolerance | None) -> None:
    """Raises `Difference` at the first one."""
    if wanted.error is not None or found.error is not None:
        compare_errors(wanted.error, found.error)
        return
    compare_trees(wanted, found, values, tolerance)
    if wanted.warnings != found.warnings:
        raise Difference("warnings", f"wanted {sorted(wanted.warnings)}, found {sorted(found.warnings)}")
    seen_arguments(wanted, found, values, tolerance)


class Draws(TorchDispatchMode):
    """Sees whether operators that draw random numbers run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen |= torch.Tag.nondeterministic_seeded in function.tags
        return function(*args, **(kwargs or {}))


def same(one: Side, other: Side) -> bool:
    """Whether the values of two runs are the same, or both raised."""
    if one.error is not None or other.error is not None:
        return one.error is not None and other.error is not None
    try:
        compare_trees(one, other, True, None)
        seen_arguments(one, other, True, None)
    except Difference:
        return False
    return True


def compare_errors(wanted: Exception | None, found: Exception | None) -> None:
    """The same type of exception, or none on both sides; the wording may differ."""
    if type(wanted) is type(found):
        return
    words = ["no exception" if e is None else f"{type(e).__name__}: {first_line(e)}" for e in (wanted, found)]
    raise Difference("exception", f"wanted {words[0]}; found {words[1]}")


def told(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is about what the program does, and not about PyTorch's state of development."""
    return warning.category is UserWarning and " in beta " not in str(warning.message)


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:300]


def place_free(text: str) -> str:
    """A warning without what differs between devices or runs: device names, source positions."""
    text = re.sub(r"\(Triggered internally at .*?\)", "", text, flags=re.DOTALL)
    text = re.sub(r"\b(cpu|CPU|flagos:\d+|flagos|PrivateUse1)\b", "DEVICE", text)
    return text.strip()
