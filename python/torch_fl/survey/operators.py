"""ATen operators by the names that routing files use (``add.Tensor``, ``mm``)."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

FACTORY_ARGUMENTS = ("dtype", "layout", "device", "pin_memory")


@cache
def overload(key: str) -> Any | None:
    """PyTorch's callable for ``name`` or ``name.overload``; None where this PyTorch has no such operator."""
    base, _, kind = key.partition(".")
    packet = getattr(torch.ops.aten, base, None)
    return getattr(packet, kind or "default", None) if packet is not None else None


def key_of(function: Any) -> str:
    """The routing name of a callable of ``torch.ops``."""
    schema = function._schema
    name = schema.name.partition("::")[2]
    return f"{name}.{schema.overload_name}" if schema.overload_name else name


@cache
def composite(key: str) -> bool:
    """Whether PyTorch composes the operator of others, above autograd: a kernel must then bring its own derivative."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{key}", "CompositeImplicitAutograd")


@cache
def written(key: str) -> tuple[str, ...]:
    """Names of the arguments that the operator writes to."""
    arguments = overload(key)._schema.arguments
    return tuple(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write)


@cache
def outputs(key: str) -> tuple[str, ...]:
    """Names of the ``out=`` arguments."""
    return tuple(a.name for a in overload(key)._schema.arguments if a.is_out)


@cache
def functional(key: str) -> str | None:
    """The overload that computes the same as an in-place or ``out=`` one and returns a new tensor."""
    base = key.partition(".")[0]
    inplace = base.endswith("_") and not base.endswith("__")
    if not inplace and not outputs(key):
        return None
    name = base.rstrip("_") if inplace else base
    packet = getattr(torch.ops.aten, name, None)
    wanted = inputs(key)
    for kind in packet.overloads() if packet is not None else ():
        other = f"{name}.{kind}" if kind != "default" else name
        if not written(other) and inputs(other) == wanted:
            return other
    return None


def inputs(key: str) -> list[tuple[str, str]]:
    """Names and types of the arguments, without ``out=`` and what only factories take."""
    arguments = overload(key)._schema.arguments
    return [(a.name, str(a.type)) for a in arguments if not a.is_out and a.name not in FACTORY_ARGUMENTS]
