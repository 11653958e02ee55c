"""Calls of operators that no sample reaches: from those of a near relation, or made for the schema."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import torch

from . import operators
from .calls import Call, accepts


def relations(key: str) -> list[str]:
    """Operators whose arguments may serve for `key`: its functional form, other overloads, what it is an alias of."""
    base = key.partition(".")[0]
    near = [operators.functional(key)] if operators.functional(key) else []
    for name in dict.fromkeys((base, base.rstrip("_"), *aliases().get(base.rstrip("_"), ()))):
        packet = getattr(torch.ops.aten, name, None)
        for kind in packet.overloads() if packet is not None else ():
            other = f"{name}.{kind}" if kind != "default" else name
            if other != key and not operators.written(other):
                near.append(other)
    return list(dict.fromkeys(near))


@cache
def aliases() -> dict[str, tuple[str, ...]]:
    """PyTorch's second names of operators, from its samples."""
    from .calls import samples_by_name

    table: dict[str, tuple[str, ...]] = {}
    for info in samples_by_name().values():
        for alias in info.aliases:
            table[alias.name] = (*table.get(alias.name, ()), info.name)
            table[info.name] = (*table.get(info.name, ()), alias.name)
    return table


def adapted(key: str, calls: Iterable[Call]) -> list[Call]:
    """The calls of a relation with their arguments as `key` takes them, as far as the CPU computes that."""
    result = []
    for call in calls:
        other = fit(key, call)
        if other is not None and accepts(key, other.args, other.kwargs):
            result.append(other)
    return result


def fit(key: str, call: Call) -> Call | None:
    """Arguments of the same name, else of the same place; a tensor where a number is wanted gives its first element."""
    theirs = operators.overload(call.key)._schema.arguments
    given = {argument.name: value for argument, value in zip(theirs, call.args, strict=False)} | call.kwargs
    places = {i: value for i, value in enumerate(call.args)}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for place, argument in enumerate(operators.overload(key)._schema.arguments):
        if argument.is_out:
            continue
        if argument.name not in given and place not in places:
            if argument.has_default_value():
                continue
            return None
        value = converted(given.get(argument.name, places.get(place)), str(argument.type))
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return with_out(Call(key, tuple(args), kwargs, call.source))


def converted(value: Any, wanted: str) -> Any:
    if wanted in ("number", "Scalar", "Optional[number]") and isinstance(value, torch.Tensor):
        return value.reshape(-1)[0].item() if value.numel() else 1
    if wanted == "Tensor" and isinstance(value, (bool, int, float, complex)):
        return torch.tensor(value)
    return value


def with_out(call: Call) -> Call | None:
    """The call with fitting ``out=`` tensors, made from what the functional form gives."""
    names = operators.outputs(call.key)
    if not names:
        return call
    functional = operators.functional(call.key)
    if functional is None:
        return None
    args, kwargs = call.args, {k: v for k, v in call.kwargs.items() if k not in names}
    try:
        with torch.no_grad():
            made = operators.overload(functional)(*args, **kwargs)
    except Exception:  # noqa: BLE001 - then the CPU does not compute the call
        return None
    made = made if isinstance(made, tuple) else (made,)
    outs = {name: torch.ones_like(result) for name, result in zip(names, made, strict=False)}
    return Call(call.key, args, kwargs | outs, call.source)
