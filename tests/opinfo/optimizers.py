"""The checks of one optimizer with one dtype: every configuration and implementation over some steps."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch

from .checks import Bench
from .gradients import cotangent

STEPS = 3  # before and after the state goes through a state dict
SHAPES = ((3, 4), (4, 2), (5,), ())


def check(bench: Bench, info: Any) -> None:
    """Everything about an OptimizerInfo."""
    bench.seed()
    dtype = bench.case.torch_dtype
    matrices = info.name == "Muon"  # which takes nothing else
    shapes = [shape for shape in SHAPES if len(shape) == 2 or not matrices]
    samples = info.optim_inputs_func("cpu")
    if not info.only_supports_sparse_grads:
        for flag in (None, *info.supported_impls):
            if flag == "fused" and "cpu" not in info.supports_fused_on:
                continue
            name = flag or "plain"
            for number, sample in bench.samples(samples, name):
                parameters = [torch.randn(shape, dtype=dtype) for shape in shapes]
                options = sample.kwargs | {other: other == flag for other in info.supported_impls}
                bench.run(name, number, trained(info.optim_cls, flag == "differentiable"), parameters, options)
    if info.supports_sparse or info.only_supports_sparse_grads:
        for number, sample in bench.samples(samples, "sparse gradient"):
            bench.run(
                "sparse gradient", number, embedded(info.optim_cls), torch.randn(6, 3, dtype=dtype), sample.kwargs
            )
    errors(bench, info)


def trained(cls: type[torch.optim.Optimizer], differentiable: bool) -> Callable[..., Any]:
    """A program: steps, the state into a second optimizer, steps; gives the parameters and the state."""

    def program(values: list[torch.Tensor], options: dict[str, Any]) -> Any:
        parameters = [value.clone().requires_grad_() for value in values]

        def loss() -> torch.Tensor:
            for parameter in parameters:
                parameter.grad = None
            away = [(p - cotangent(p, number)) for number, p in enumerate(parameters)]
            total = sum((a * a.conj()).real.sum() for a in away)
            total.backward()
            return total.detach()

        optimizer = cls(parameters, **options)
        losses = [step(optimizer, loss, differentiable) for _ in range(STEPS)]
        second = cls(parameters, **options)
        second.load_state_dict(deepcopy(optimizer.state_dict()))
        losses += [step(second, loss, differentiable) for _ in range(STEPS)]
        return losses, [p.detach() for p in parameters], state(second)

    return program


def step(optimizer: torch.optim.Optimizer, loss: Callable[[], torch.Tensor], differentiable: bool) -> Any:
    """One step; a differentiable one without recording, since a leaf that needs a gradient cannot be changed."""
    if not differentiable:
        return optimizer.step(loss)
    value = loss()
    with torch.no_grad():
        optimizer.step()
    return value


def state(optimizer: torch.optim.Optimizer) -> Any:
    """The state, its counters as numbers: those may be on the CPU whatever the parameters are on."""
    return [
        {name: float(value) if name == "step" else value for name, value in sorted(entry.items()) if value is not None}
        for entry in optimizer.state_dict()["state"].values()
    ]


def embedded(cls: type[torch.optim.Optimizer]) -> Callable[..., Any]:
    """A program: steps with the sparse gradients of an embedding."""

    def program(values: torch.Tensor, options: dict[str, Any]) -> Any:
        weight = values.clone().requires_grad_()
        rows = torch.tensor([1, 4, 1], device=weight.device)
        optimizer = cls([weight], **options)
        for number in range(STEPS):
            optimizer.zero_grad()
            picked = torch.nn.functional.embedding(rows, weight, sparse=True)
            picked.backward(cotangent(picked, number))
            optimizer.step()
        return weight.detach(), state(optimizer)

    return program


def errors(bench: Bench, info: Any) -> None:
    """Wrong constructions and steps."""
    if info.optim_error_inputs_func is None:
        return

    def program(parameters: Any, options: dict[str, Any]) -> None:
        info.optim_cls(parameters, **options).step()

    bench.seed()
    wrong = info.optim_error_inputs_func("cpu", bench.case.torch_dtype)
    for number, error in bench.samples(wrong, "error inputs"):
        sample = error.optimizer_error_input
        parameters = [torch.randn(2, 2, requires_grad=True)] if sample.params is None else sample.params
        bench.run("error inputs", number, program, parameters, sample.kwargs)
