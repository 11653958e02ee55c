"""``out=``: right, of another layout, to be resized, of another dtype, on another device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from .checks import Bench
from .compare import Difference
from .mirror import Mirror
from .trial import Side, first_line

MOST = 4


def fitting(t: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype).fill_(1)


def transposed(t: torch.Tensor) -> torch.Tensor:
    order = list(reversed(range(t.dim())))
    return torch.ones([t.shape[i] for i in order], dtype=t.dtype).permute(order)


def too_large(t: torch.Tensor) -> torch.Tensor:
    return torch.ones([*t.shape, 2], dtype=t.dtype)


def nothing(t: torch.Tensor) -> torch.Tensor:
    return torch.empty(0, dtype=t.dtype)


def integers(t: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(fitting(t), dtype=torch.int16)


def doubles(t: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(fitting(t), dtype=torch.complex128 if t.dtype.is_complex else torch.float64)


def within(t: torch.Tensor) -> torch.Tensor:
    """A part of a larger tensor, whose other elements must stay as they are."""
    return torch.ones([*t.shape, 2], dtype=t.dtype).select(-1, 0)


KINDS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "out": fitting,
    "out transposed": transposed,
    "out within": within,
    "out to resize": too_large,
    "out empty": nothing,
    "out integers": integers,
    "out doubles": doubles,
}


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, args, kwargs, out: function(value, *args, **kwargs, out=out)


def check(bench: Bench, info: Any, samples: list[Any]) -> None:
    if not info.supports_out or bench.case.database != "ops":  # a list has no `out=`
        return
    from .operators import of

    for number, sample in bench.samples(samples, "out", MOST):
        made = expected(info, of(sample))
        if made is None:
            continue
        for name, kind in KINDS.items():
            bench.run(name, number, program(info.op), *of(sample), shaped_like(made, kind))
        elsewhere(bench, number, info.op, of(sample), made)


def shaped_like(made: Any, kind: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return kind(made) if isinstance(made, torch.Tensor) else tuple(kind(t) for t in made)


def expected(info: Any, arguments: Any) -> torch.Tensor | tuple[torch.Tensor, ...] | None:
    """The CPU's results, when all are strided tensors."""
    side = Side.run(lambda value, args, kwargs: info.op(value, *args, **kwargs), arguments, torch.device("cpu"))
    if side.error is not None:
        return None
    made = [side.result] if isinstance(side.result, torch.Tensor) else side.result
    if not isinstance(made, (tuple, list)) or not all(isinstance(t, torch.Tensor) for t in made):
        return None
    return side.result if all(t.layout == torch.strided for t in made) else None


def elsewhere(bench: Bench, number: int, function: Callable[..., Any], arguments: Any, made: Any) -> None:
    """`out` on the CPU for tensors of the device: an error, never a silent copy."""
    name = "out on the CPU"
    if not any(isinstance(t, torch.Tensor) and t.dim() for t in tree_leaves(arguments)):
        return
    if not bench.plan.wants(name) or bench.plan.native:  # this asks one device alone
        return
    bench.tell(f"{name}, sample {number}, on {bench.trial.device}")
    bench.count(name).runs += 1
    out = shaped_like(made, fitting)
    if not any(t.numel() for t in tree_leaves(out)):
        return
    try:
        value, args, kwargs = Mirror(bench.trial.device)(arguments)
        function(value, *args, **kwargs, out=out)
    except RuntimeError:
        return
    except Exception as error:  # noqa: BLE001 - it is the type that is judged
        text = f"wanted RuntimeError, found {type(error).__name__}: {first_line(error)}"
        bench.found(name, number, Difference("exception", text))
        return
    bench.found(name, number, Difference("exception", "wanted RuntimeError, found none"))
