"""The rows of the operator matrix: a call of PyTorch, the FlagGems functions that serve it, arguments and dtypes.

Rows are data; ``test_matrix.py`` compares each with the CPU.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

F32, F16, BF16, I64, I32, BOOL = torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool
FLOATS = (F32, F16, BF16)
NUMBERS = (*FLOATS, I64)
SHAPE = (17, 33)  # no power of two, so every block has a ragged edge


@dataclass(frozen=True)
class Row:
    """One call and the dtypes it is tried with.

    `functions` are FlagGems' names (``flag_gems.only_enable(include=...)``).
    `random` results are checked for range only.  `errors` maps a dtype to the
    message with which Triton's own front end refuses the kernel.
    """

    name: str
    functions: tuple[str, ...]
    call: Callable
    arguments: Callable[[torch.dtype], tuple]
    dtypes: tuple[torch.dtype, ...] = FLOATS
    random: bool = False
    errors: dict[torch.dtype, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def values(*shape: int, dtype: torch.dtype, positive: bool = False) -> torch.Tensor:
    """Random values on the CPU, at least 0.1 (or 1) if `positive`."""
    if dtype is BOOL:
        return torch.rand(shape) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(1 if positive else -9, 10, shape, dtype=dtype)
    drawn = torch.randn(shape)
    return (drawn.abs() + 0.1 if positive else drawn).to(dtype)


def of(*shapes: tuple[int, ...]) -> Callable[[torch.dtype], tuple]:
    """Arguments of these shapes, all of the dtype under test."""
    return lambda dtype: tuple(values(*shape, dtype=dtype) for shape in shapes)


def one(dtype: torch.dtype) -> tuple:
    return (values(*SHAPE, dtype=dtype),)


def one_positive(dtype: torch.dtype) -> tuple:
    return (values(*SHAPE, dtype=dtype, positive=True),)


def two(dtype: torch.dtype) -> tuple:
    """The second is positive: a divisor."""
    return values(*SHAPE, dtype=dtype), values(*SHAPE, dtype=dtype, positive=True)


def broadcast(dtype: torch.dtype) -> tuple:
    return values(*SHAPE, dtype=dtype), values(SHAPE[1], dtype=dtype, positive=True)
