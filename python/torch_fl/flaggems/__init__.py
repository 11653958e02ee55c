"""FlagGems (Triton kernels) as a slot of kernels: what it serves, and its functions on first use.

Importing FlagGems takes seconds, so start-up reads its table of operators
from its source (:mod:`.operators`), and :func:`load` imports it when the
first of its kernels is called.
"""

import functools
from collections.abc import Callable
from typing import Any

from . import operators
from .adapter import library

__all__ = ["load", "operators"]


def load(name: str) -> Callable[..., Any]:
    """FlagGems' function `name`; the first call in a process imports FlagGems for the device ``flagos``.

    Args:
        name: a function of :func:`.operators.table`, such as ``add``.

    Raises:
        RuntimeError: FlagGems cannot be imported here, or has no such function; one sentence with the operator, the
            function, the cause and the remedy.
    """
    try:
        function = getattr(library(), name)
    except Exception as error:  # whatever a foreign package raises while it is imported
        served = [op for op, function in operators.table().items() if function == name]
        what = f"FlagGems' function '{name}'" + (f", which serves {' and '.join(served)}," if served else "")
        first, *_ = str(error).strip().splitlines() or [type(error).__name__]
        raise RuntimeError(
            f"{what} cannot be loaded: {first.strip().rstrip('.! ')} "
            f"(FLAGOS_OP_<operator>=none sends an operator elsewhere)"
        ) from error
    own_gradient = name in {operators.table().get(op) for op in operators.DIFFERENTIABLE}
    return _on_contiguous(function) if own_gradient else function


def _on_contiguous(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with contiguous tensors where a gradient is recorded, and a contiguous gradient for its result.

    The backward passes of 5.0.2 take that for granted or, for attention, assert it: too late to send the call elsewhere.
    """
    import torch

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        if not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            return function(*args, **named)
        given = (value.contiguous() if isinstance(value, torch.Tensor) else value for value in args)
        result = function(*given, **named)
        result.register_hook(torch.Tensor.contiguous)
        return result

    return call
