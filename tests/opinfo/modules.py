"""The checks of one module with one dtype: training, evaluation, second derivatives, layouts, creation, saving."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .checks import Bench
from .gradients import compact, needing, plain, pull
from .layouts import every, reversed_strides

PARAMETERS_SEED = 99
Prepare = Callable[[torch.nn.Module], torch.nn.Module]


def check(bench: Bench, info: Any) -> None:
    """Everything about a ModuleInfo."""
    for training in (True, False):
        name = "training" if training else "evaluation"
        for number, sample in bench.samples(inputs(bench, info, training), name):
            run(bench, info, name, number, sample, training)
    samples = inputs(bench, info, True)
    if info.supports_gradgrad:
        for number, sample in bench.samples(samples, "second gradient", 2):
            run(bench, info, "second gradient", number, sample, True, twice=True)
    for number, sample in bench.samples(samples, "column-major", 3):
        run(bench, info, "column-major", number, sample, True, change=lambda t: every(t, reversed_strides))
    for number, sample in bench.samples(samples, "channels last", 3):
        run(bench, info, "channels last", number, sample, True, channels_last, channels_last_input)
    for number, sample in bench.samples([] if info.is_lazy else samples, "save and load", 2):
        run(bench, info, "save and load", number, sample, False, saved_and_loaded)
    if "device" in inspect.signature(info.module_cls.__init__).parameters:
        for number, sample in bench.samples(samples, "created on the device", 3):
            constructor = sample.constructor_input
            program = created_there(info.module_cls, bench.case.torch_dtype)
            bench.run(
                "created on the device", number, program, torch.device("cpu"), constructor.args, constructor.kwargs
            )
    errors(bench, info)


def inputs(bench: Bench, info: Any, training: bool, function: str = "module_inputs_func") -> list[Any]:
    bench.seed()
    options = {"device": "cpu", "dtype": bench.case.torch_dtype, "requires_grad": True, "training": training}
    return list(getattr(info, function)(info, **options))


def run(
    bench: Bench,
    info: Any,
    name: str,
    number: int,
    sample: Any,
    training: bool,
    prepare: Prepare = lambda module: module,
    change: Callable[[Any], Any] = lambda value: value,
    twice: bool = False,
) -> None:
    constructor, forward = sample.constructor_input, sample.forward_input
    if forward is None:
        return
    program = trained(info.module_cls, bench.case.torch_dtype, training, prepare, twice)
    args, kwargs = (tree_map(with_gradient(change), part) for part in (forward.args, forward.kwargs))
    bench.run(name, number, program, torch.device("cpu"), constructor.args, constructor.kwargs, args, kwargs)


def with_gradient(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The change, applied to a tensor's values; what needed a gradient is a leaf that needs one again."""

    def changed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return change(value.detach()).requires_grad_(value.requires_grad)

    return changed


def trained(
    cls: type[torch.nn.Module], dtype: torch.dtype, training: bool, prepare: Prepare, twice: bool
) -> Callable[..., Any]:
    """A program: a forward and a backward pass; gives results, gradients and state."""

    def program(device: torch.device, c_args: Any, c_kwargs: Any, args: Any, kwargs: Any) -> Any:
        module = prepare(made(cls, c_args, c_kwargs).to(device).to(dtype).train(training))
        result = module(*args, **kwargs)
        wanted = [*needing((args, kwargs)), *module.parameters()]
        first = pull(needing(result), wanted, twice)
        second = [compact(g) for g in pull(needing(first), wanted, False)] if twice else []
        return (
            result,
            [] if twice else [plain(g) for g in first],
            second,
            {name: t.detach() for name, t in module.state_dict().items()},
        )

    return program


def made(cls: type[torch.nn.Module], args: Any, kwargs: Any) -> torch.nn.Module:
    """The module, its parameters always the same and drawn on the CPU, whatever device its sample names."""
    if "device" in kwargs:
        kwargs = kwargs | {"device": "cpu"}
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(PARAMETERS_SEED)
        return cls(*args, **kwargs)


def created_there(cls: type[torch.nn.Module], dtype: torch.dtype) -> Callable[..., Any]:
    def program(device: torch.device, args: Any, kwargs: Any) -> Any:
        module = cls(*args, **kwargs | {"device": device, "dtype": dtype})
        return [
            t if not torch.nn.parameter.is_lazy(t) else str(t.device.type) == device.type
            for t in [*module.parameters(), *module.buffers()]
        ]

    return program


def saved_and_loaded(module: torch.nn.Module) -> torch.nn.Module:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def channels_last(module: torch.nn.Module) -> torch.nn.Module:
    ranks = {t.dim() for t in module.parameters() if not torch.nn.parameter.is_lazy(t)}
    form = torch.channels_last_3d if 5 in ranks and 4 not in ranks else torch.channels_last
    return module.to(memory_format=form) if ranks & {4, 5} != {4, 5} else module


def channels_last_input(value: Any) -> Any:
    forms = {4: torch.channels_last, 5: torch.channels_last_3d}
    return value.contiguous(memory_format=forms[value.dim()]) if value.dim() in forms else value


def errors(bench: Bench, info: Any) -> None:
    """Wrong constructions and calls."""
    if info.module_error_inputs_func is None:
        return

    def program(device: torch.device, c_args: Any, c_kwargs: Any, args: Any, kwargs: Any) -> Any:
        module = made(info.module_cls, c_args, c_kwargs).to(device).to(bench.case.torch_dtype)
        return module(*args, **kwargs)

    wrong = inputs(bench, info, True, "module_error_inputs_func")
    for number, error in bench.samples(wrong, "error inputs"):
        sample = error.module_error_input
        constructor, forward = sample.constructor_input, sample.forward_input
        args, kwargs = (forward.args, forward.kwargs) if forward is not None else ((), {})
        bench.run(
            "error inputs", number, program, torch.device("cpu"), constructor.args, constructor.kwargs, args, kwargs
        )
