"""Arguments made by hand for operators that neither a sample nor a relation reaches.

What is written here is how an operator is called, never what comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import operators
from .calls import Call, accepts
from .mirror import CPU

FORWARD = {"float32", "float64", "float16", "bfloat16"}


def tensor(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Values between -4 and 4, whole ones for integers."""
    generator = torch.Generator().manual_seed(1009 * seed + sum(shape))
    values = torch.rand(shape, generator=generator, dtype=torch.float64) * 8 - 4
    return (values > 0) if dtype == torch.bool else values.to(dtype)


def indices(limit: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, limit, shape, generator=torch.Generator().manual_seed(limit))


def _bicubic_backward(t: Callable[..., torch.Tensor]) -> list[Any]:
    return [t(1, 2, 8, 9), [8, 9], [1, 2, 5, 6], False, None, None]


def _pool_backward(t: Callable[..., torch.Tensor]) -> list[Any]:
    return [t(1, 2, 4, 4), t(1, 2, 8, 8), [2, 2], [2, 2], [0, 0], [1, 1], False]


def _layer_norm_backward(t: Callable[..., torch.Tensor]) -> list[Any]:
    """A batch of sequences, as in every transformer."""
    x = t(3, 5, 8, seed=1)
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return [t(3, 5, 8), x, [8], mean, (variance + 1e-5).rsqrt(), t(8, seed=2), t(8, seed=3), [True, True, True]]


def _batch_norm_backward(t: Callable[..., torch.Tensor]) -> list[Any]:
    """Of evaluation, where the running statistics count; as `torch.func` calls it, what a training step would save is there, too."""
    mean, deviation = t(4, seed=3), t(4, seed=4).abs()
    return [t(6, 4, 5), t(6, 4, 5, seed=1), t(4, seed=2), mean, deviation**2, mean + 1, 1 / (deviation + 1), False, 1e-5, [True, True, True]]


MADE: dict[str, Callable[[Callable[..., torch.Tensor]], list[Any]]] = {
    "_assert_async": lambda t: [torch.ones((), dtype=t(1).dtype)],
    "_is_all_true": lambda t: [t(5, 7)],
    "_upsample_bicubic2d_aa": lambda t: [t(1, 2, 5, 6), [8, 9], False, None, None],
    "_upsample_bicubic2d_aa_backward": _bicubic_backward,
    "_weight_norm_interface": lambda t: [t(6, 7), t(6, 1), 0],
    "embedding_backward": lambda t: [t(4, 7), indices(5, 4), 5, -1, False, False],
    "margin_ranking_loss": lambda t: [t(9), t(9, seed=1), t(9, seed=2).sign(), 0.5, 1],
    "native_dropout": lambda t: [t(64, 64), 0.25, True],
    "rand_like": lambda t: [t(64, 64)],
    "relu6": lambda t: [t(17, 33) * 2],
    "selu": lambda t: [t(17, 33)],
    "zero": lambda t: [t(17, 33)],
    "lift_fresh_copy": lambda t: [t(17, 33)],
    "fill.Tensor": lambda t: [t(17, 33), t()],
    "repeat_interleave.Tensor": lambda t: [indices(4, 9).to(t(1).dtype)],
    "quantile": lambda t: [t(17, 33), t(3).abs() / 8, 1],
    "isin.Scalar_Tensor": lambda t: [2, t(17, 33).round() if t(1).dtype.is_floating_point else t(17, 33)],
    "isin.Tensor_Scalar": lambda t: [t(17, 33).round() if t(1).dtype.is_floating_point else t(17, 33), 2],
    "remainder.Scalar_Tensor": lambda t: [7, t(17, 33).abs() + 1],
    "scatter.reduce": lambda t: [t(6, 7), 0, indices(6, 4, 7), t(4, 7, seed=1)],
    "bernoulli_.float": lambda t: [t(64, 64), 0.25],
    "exponential_": lambda t: [t(64, 64), 1.5],
    "uniform_": lambda t: [t(64, 64), -1.0, 3.0],
    "normal_": lambda t: [t(64, 64), 1.0, 2.0],
    "native_layer_norm": lambda t: [t(3, 5, 8), [8], t(8), t(8, seed=1), 1e-5],
    "native_layer_norm_backward": _layer_norm_backward,
    "native_batch_norm_backward": _batch_norm_backward,
    "mm": lambda t: [t(33, 40), t(40, 17, seed=1)],
    "bmm": lambda t: [t(3, 33, 40), t(3, 40, 17, seed=1)],
    "addmm": lambda t: [t(17), t(33, 40, seed=1), t(40, 17, seed=2)],
    **{f"{name}.Tensor": lambda t: [t(17, 33), t(17, 33, seed=1)] for name in ("add", "add_", "sub", "sub_")},
    "rms_norm": lambda t: [t(3, 5, 8), [8], t(8, seed=1), 1e-5],
    "max_pool2d_with_indices": lambda t: [t(3, 4, 8, 9), [2, 2], [2, 2]],
    "index_select": lambda t: [t(9, 7), 0, indices(9, 5)],
    "embedding": lambda t: [t(9, 7), indices(9, 5)],
    "select_backward": lambda t: [t(4, 6), [4, 5, 6], 1, 2],
    "_safe_softmax": lambda t: [t(6, 33), 1],
}
KEYWORDS: dict[str, dict[str, Any]] = {"scatter.reduce": {"reduce": "multiply"}}
FACTORIES: dict[str, list[list[Any]]] = {
    "randperm": [[64]],
    "rand": [[[64, 64]]],
    "randn": [[[64, 64]]],
    "zeros": [[[3, 5]], [[0]], [[]]],
    "ones": [[[3, 5]], [[0]], [[]]],
    "full": [[[3, 5], 2], [[], 1]],
    "eye": [[5], [0]],
    "eye.m": [[5, 7]],
    "arange": [[17]],
    "arange.start": [[2, 17]],
    "arange.start_step": [[2, 17, 3]],
    "linspace": [[1, 9, 17]],
    "logspace": [[1, 3, 9]],
}

INFERRED: dict[str, list[list[Any]]] = {  # the dtype follows from the numbers, or is the default
    "arange": [[12.0], [12]],
    "arange.start": [[0.5, 3], [2, 17]],
    "arange.start_step": [[0, 3, 0.5], [2, 17, 3]],
    "full": [[[3, 5], 1.5], [[3], 2], [[3], True]],
    "linspace": [[1, 9, 17]],
    "logspace": [[1, 3, 9]],
    "zeros": [[[3, 5]]],
    "ones": [[[3, 5]]],
    "eye": [[5]],
    "eye.m": [[5, 7]],
    "rand": [[[64, 64]]],
    "randn": [[[64, 64]]],
}
PLAIN: dict[str, Any] = {"number": 2, "Scalar": 2, "int": 1, "float": 0.5, "bool": False}


def made(key: str, dtype: torch.dtype) -> list[Call]:
    """Calls of an operator made for its schema; empty where there is no recipe or the CPU refuses."""

    def t(*shape: int, seed: int = 0) -> torch.Tensor:
        return tensor(*shape, dtype=dtype, seed=seed)

    calls = []
    if key in MADE:
        try:
            calls.append(Call(key, tuple(MADE[key](t)), dict(KEYWORDS.get(key, {})), "made for the schema"))
        except (RuntimeError, NotImplementedError):  # the dtype cannot hold such arguments
            return []
    calls += [
        Call(key, tuple(args), {"dtype": dtype, "device": CPU}, "made for the schema")
        for args in FACTORIES.get(key, ())
    ]
    if dtype == torch.get_default_dtype():  # the dtype that a route takes such a call for
        inferred = INFERRED.get(key, ())
        calls += [Call(key, tuple(args), {"device": CPU}, "made without a dtype") for args in inferred]
    return [call for call in calls if accepts(key, call.args, call.kwargs)]


def uniform(key: str, dtype: torch.dtype) -> list[Call]:
    """Tensors of one shape and small numbers, for operators whose arguments are only these; where nothing else is had."""
    args: list[Any] = []
    for place, argument in enumerate(operators.overload(key)._schema.arguments):
        if argument.is_out or argument.kwarg_only or argument.has_default_value():
            break
        kind = str(argument.type)
        if kind == "Tensor":
            args.append(tensor(17, 33, dtype=dtype, seed=place))
        elif kind in PLAIN:
            args.append(PLAIN[kind])
        else:
            return []
    call = Call(key, tuple(args), {}, "made for the schema")
    return [call] if args and accepts(key, call.args, call.kwargs) else []
