"""The checks of one operator with one dtype: function, method, in place, aliases, and the groups in other files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import gradients, layouts, outputs
from .checks import Bench
from .mirror import OnHost


def check(bench: Bench, info: Any) -> None:
    """Everything about an OpInfo."""
    bench.seed()
    samples = samples_of(bench, info, requires_grad=False)
    calls(bench, info, samples)
    layouts.check(bench, info, samples)
    outputs.check(bench, info, samples)
    errors(bench, info)
    gradients.check(bench, info)


def samples_of(bench: Bench, info: Any, requires_grad: bool) -> list[Any]:
    """PyTorch's samples, made on the CPU."""
    samples = list(info.sample_inputs("cpu", bench.case.torch_dtype, requires_grad=requires_grad))
    if bench.plan.host_arguments:
        for sample in samples:
            sample.args = tuple(OnHost(a) if isinstance(a, torch.Tensor) else a for a in sample.args)
    return samples


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """A program of one call; it takes (input, args, kwargs)."""
    return lambda value, args, kwargs: function(value, *args, **kwargs)


def of(sample: Any) -> tuple[Any, Any, Any]:
    """A sample's arguments for a program."""
    return sample.input, tuple(sample.args), dict(sample.kwargs)


def variants(info: Any) -> dict[str, Callable[..., Any]]:
    """The other ways to call the operator."""
    found = {"method": info.method_variant, "operator": info.operator_variant}
    for alias in info.aliases:
        found[f"alias {alias.name}"] = alias.op
        found[f"alias {alias.name} method"] = alias.method_variant
    return {name: function for name, function in found.items() if function is not None}


def inplace_variants(info: Any) -> dict[str, Callable[..., Any]]:
    found = {"inplace": info.inplace_variant, "inplace operator": info.inplace_operator_variant}
    for alias in info.aliases:
        found[f"alias {alias.name} inplace"] = alias.inplace_variant
    return {name: function for name, function in found.items() if function is not None}


def calls(bench: Bench, info: Any, samples: list[Any]) -> None:
    for number, sample in bench.samples(samples, "function"):
        bench.run("function", number, program(info.op), *of(sample))
    for name, function in variants(info).items():
        for number, sample in bench.samples(samples, name, most=3):
            bench.run(name, number, program(function), *of(sample))
    for name, function in inplace_variants(info).items():
        fitting = [s for s in samples if not s.broadcasts_input]
        for number, sample in bench.samples(fitting, name, most=None if name == "inplace" else 3):
            bench.run(name, number, program(function), *of(sample))


def errors(bench: Bench, info: Any) -> None:
    """Wrong calls: PyTorch's own, once for each operator."""
    if info.error_inputs_func is None or bench.case.torch_dtype != min(info.supported_dtypes("cpu"), key=str):
        return
    bench.seed()
    for number, wrong in bench.samples(info.error_inputs("cpu"), "error inputs"):
        bench.run("error inputs", number, program(info.op), *of(wrong.sample_input))
