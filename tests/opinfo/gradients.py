"""Derivatives: backward, twice backward, forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves, tree_map

from .checks import Bench

SECOND = 2  # samples for second derivatives
LAYOUTS = 3


def check(bench: Bench, info: Any) -> None:
    dtype = bench.case.torch_dtype
    if not info.supports_autograd or dtype not in info.supported_backward_dtypes("cpu"):
        return
    from .operators import of, samples_of

    bench.seed()
    samples = samples_of(bench, info, requires_grad=True)
    for number, sample in bench.samples(samples, "gradient"):
        bench.run("gradient", number, backward(info.op, sample.output_process_fn_grad), *of(sample))
    if info.inplace_variant is not None and info.supports_inplace_autograd:
        own = [s for s in samples if not s.broadcasts_input]
        for number, sample in bench.samples(own, "inplace gradient", LAYOUTS):
            inplace = through_copy(info.inplace_variant)
            bench.run("inplace gradient", number, backward(inplace, sample.output_process_fn_grad), *of(sample))
    if info.supports_gradgrad:
        for number, sample in bench.samples(samples, "second gradient", SECOND):
            twice = backward(info.op, sample.output_process_fn_grad, twice=True)
            bench.run("second gradient", number, twice, *of(sample))
    if info.supports_forward_ad:
        for number, sample in bench.samples(samples, "forward mode", LAYOUTS):
            bench.run("forward mode", number, tangents(info.op), *of(sample))
    for number, sample in bench.samples(samples, "noncontiguous gradient", LAYOUTS):
        try:
            changed = sample.noncontiguous()
        except (RuntimeError, NotImplementedError, TypeError):
            continue
        bench.run("noncontiguous gradient", number, backward(info.op, sample.output_process_fn_grad), *of(changed))


def through_copy(function: Callable[..., Any]) -> Callable[..., Any]:
    """In place on a copy: a leaf that needs a gradient may not be changed."""

    def run(value: Any, *args: Any, **kwargs: Any) -> Any:
        return function(tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, value), *args, **kwargs)

    return run


def cotangent(like: torch.Tensor, number: int) -> torch.Tensor:
    """Fixed numbers of a tensor's shape and dtype, the same on every device."""
    generator = torch.Generator().manual_seed(number)
    kind = torch.complex128 if like.dtype.is_complex else torch.float64
    return torch.randn(like.shape, dtype=kind, generator=generator).to(dtype=like.dtype).to(like.device)


def needing(tree: Any) -> list[torch.Tensor]:
    return [t for t in tree_leaves(tree) if isinstance(t, torch.Tensor) and t.requires_grad]


def backward(function: Callable[..., Any], finish: Callable[[Any], Any], twice: bool = False) -> Callable[..., Any]:
    """A program that gives the result and the gradients of all arguments that need one (twice: theirs as well)."""

    def run(value: Any, args: Any, kwargs: Any) -> Any:
        inputs = needing((value, args, kwargs))
        result = function(value, *args, **kwargs)
        first = pull(needing(finish(result)), inputs, twice)
        if not twice:
            return result, [plain(g) for g in first]
        # Sums, so their memory layout is that of the term that came first: not compared.
        return result, [compact(g) for g in pull(needing(first), inputs, False)]

    return run


def plain(t: torch.Tensor | None) -> torch.Tensor | None:
    """A gradient by itself: what it is a view of or shares memory with is the formula's affair."""
    return t if t is None else t.detach().clone()


def compact(t: torch.Tensor | None) -> torch.Tensor | None:
    return t if t is None or t.layout != torch.strided else t.detach().contiguous()


def pull(outputs: list[torch.Tensor], inputs: list[torch.Tensor], again: bool) -> list[torch.Tensor | None]:
    if not outputs or not inputs:
        return []
    weights = [cotangent(t, number) for number, t in enumerate(outputs)]
    return list(torch.autograd.grad(outputs, inputs, weights, create_graph=again, allow_unused=True))


def tangents(function: Callable[..., Any]) -> Callable[..., Any]:
    """A program that gives the result's tangents."""

    def run(value: Any, args: Any, kwargs: Any) -> Any:
        numbers = iter(range(1000))

        def dual(t: Any) -> Any:
            if not isinstance(t, torch.Tensor) or not t.requires_grad:
                return t
            return forward_ad.make_dual(t.detach(), cotangent(t, next(numbers)))

        with forward_ad.dual_level():
            result = function(*tree_map(dual, (value, *args)), **tree_map(dual, kwargs))
            duals = [forward_ad.unpack_dual(t) for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
            return [(d.primal.detach().clone(), None if d.tangent is None else d.tangent.clone()) for d in duals]

    return run
