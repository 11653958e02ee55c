"""Calls of ATen operators, taken from PyTorch's own samples (OpInfo).

A sample is run on the CPU, forward and backward, and every call that reaches the dispatcher is written down with its
arguments: so `native_layer_norm_backward` gets the arguments that autograd gives it. Operators that PyTorch composes
of others never reach that point; for them the Python function's arguments are tried on the overload.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from . import operators
from .mirror import CPU, Mirror, plain

ENOUGH = 40  # calls to choose from
MOST_BYTES = 1 << 20  # of the arguments of a call: samples are small, a few are not


@dataclass
class Call:
    """One call: the operator's routing name, its arguments on the CPU, and the sample that it is from."""

    key: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor)]

    @property
    def dtype(self) -> str:
        """The dtype that the call is filed under: of the first tensor that is no mask, else what a factory is to make."""
        dtypes = [tensor.dtype for tensor in self.tensors]
        chosen = next((d for d in dtypes if d != torch.bool), dtypes[0] if dtypes else None)
        chosen = chosen or self.kwargs.get("dtype") or torch.get_default_dtype()
        return str(chosen).removeprefix("torch.")

    @property
    def signature(self) -> tuple[str, ...]:
        """All dtypes of the call, as conditions of a route see them."""
        dtypes = {tensor.dtype for tensor in self.tensors} | {self.kwargs.get("dtype")} - {None}
        dtypes = dtypes or {torch.get_default_dtype()}
        return tuple(sorted(str(dtype).removeprefix("torch.") for dtype in dtypes))

    @property
    def form(self) -> str:
        """What tells calls apart that are worth running both: shapes, gaps, numbers, options."""
        return repr([describe(leaf) for leaf in tree_leaves((self.args, self.kwargs))])


def describe(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return tuple(leaf.shape), leaf.is_contiguous(), leaf.dtype
    return leaf


Seen = Callable[[str, tuple[Any, ...], dict[str, Any]], None]


class Dispatched(TorchDispatchMode):
    """Tells of every operator that is dispatched below autograd."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function.namespace == "aten":
            self.seen(operators.key_of(function), args, kwargs)
        return function(*args, **kwargs)


class Named(TorchFunctionMode):
    """Tells of every function of `torch` and method of tensors by its plain name."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with _disable_current_modes():  # what is done with the arguments is no call of the sample
            self.seen(getattr(function, "__name__", ""), args, kwargs)
        return function(*args, **kwargs)


@cache
def samples_by_name() -> dict[str, Any]:
    """The OpInfo entries by full name."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {info.full_name: info for info in op_db}


def run_samples(
    info: Any, dtype: torch.dtype, most: int, dispatched: Seen, named: Seen, enough: Callable[[], bool] = lambda: False
) -> None:
    """Run an entry's samples on the CPU, in all its variants, telling of the calls, until there are enough."""
    differentiable = dtype in info.supported_backward_dtypes("cpu") if info.supports_autograd else False
    functions = [info.op, info.inplace_variant, *(alias.op for alias in info.aliases)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in islice(info.sample_inputs("cpu", dtype, requires_grad=differentiable), most):
            if enough():
                return
            for function in functions:
                if function is None or (function is info.inplace_variant and sample.broadcasts_input):
                    continue
                arguments = (sample.input, *sample.args), sample.kwargs
                if not all(map(plain, tree_leaves(arguments))):
                    continue
                args, kwargs = Mirror(CPU)(arguments)
                with suppress(Exception), Dispatched(dispatched), Named(named):
                    run_sample(function, args, kwargs, differentiable and function is info.op)


def run_sample(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], differentiable: bool) -> None:
    if not differentiable:
        with torch.no_grad():
            function(*args, **kwargs)
        return
    results = [r for r in tree_leaves(function(*args, **kwargs)) if isinstance(r, torch.Tensor)]
    results = [r for r in results if r.requires_grad]
    if results:
        torch.autograd.backward(results, [torch.ones_like(r) for r in results])


def calls_of(keys: Iterable[str], entries: Iterable[str], dtype: torch.dtype, samples: int) -> list[Call]:
    """The calls of some operators that samples of this dtype lead to.

    Args:
        entries: full names of OpInfo entries.
        samples: the most samples of each entry.
    """
    wanted = {key for key in keys if operators.overload(key) is not None}
    by_base: dict[str, list[str]] = {}
    for key in wanted:
        by_base.setdefault(key.partition(".")[0], []).append(key)
    found: list[Call] = []
    for name in entries:
        info = samples_by_name().get(name)
        if info is None or dtype not in info.supported_dtypes("cpu"):
            continue

        def add(key: str, args: Any, kwargs: Any, name: str = name) -> None:
            leaves = tree_leaves((args, kwargs))
            tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
            if all(map(plain, leaves)) and sum(t.numel() * t.itemsize for t in tensors) <= MOST_BYTES:
                copied_args, copied_kwargs = Mirror(CPU, gradients=False)((args, kwargs))
                found.append(Call(key, copied_args, copied_kwargs, source=name))

        def dispatched(key: str, args: Any, kwargs: Any, add: Seen = add) -> None:
            if key in wanted:
                add(key, args, kwargs)

        def named(base: str, args: Any, kwargs: Any, add: Seen = add) -> None:
            for key in by_base.get(base, ()):
                fitting = fitted(key, args, kwargs)
                if fitting is not None:
                    add(key, *fitting)

        run_samples(info, dtype, samples, dispatched, named, enough=lambda: len(found) >= ENOUGH)
    return found


def fitted(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a Python function as the overload takes them, or None where it does not.

    Options that the overload does not have are left out where they are off (`inplace=False`).
    """
    names = [argument.name for argument in operators.overload(key)._schema.arguments if not argument.kwarg_only]
    known = {argument.name for argument in operators.overload(key)._schema.arguments}
    spare = [*args[len(names) :], *(value for name, value in kwargs.items() if name not in known)]
    if any(value is not None and value is not False for value in spare):
        return None
    args, kwargs = args[: len(names)], {name: value for name, value in kwargs.items() if name in known}
    return (args, kwargs) if accepts(key, args, kwargs) else None


def accepts(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the CPU computes this call; a tensor in the place of a plain number is none that anybody writes."""
    if not all(map(plain, tree_leaves((args, kwargs)))):
        return False
    for argument, value in zip(operators.overload(key)._schema.arguments, args, strict=False):
        if isinstance(value, torch.Tensor) and "Tensor" not in str(argument.type):
            return False
    args, kwargs = Mirror(CPU, gradients=False)((args, kwargs))
    with suppress(Exception), torch.no_grad():
        operators.overload(key)(*args, **kwargs)
        return True
    return False
