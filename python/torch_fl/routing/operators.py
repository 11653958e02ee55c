"""Names that PyTorch knows: operators, their arguments, data types."""

from functools import cache


@cache
def operator_names() -> frozenset[str]:
    """Every ATen operator of this PyTorch, with its overload: ``add.Tensor``, ``mm``."""
    import torch

    prefix = "aten::"
    return frozenset(name[len(prefix) :] for name in torch._C._dispatch_get_all_op_names() if name.startswith(prefix))


def argument_names(operator: str) -> list[str]:
    """The arguments of `operator`, in the order of its schema."""
    import torch

    name, _, overload = operator.partition(".")
    return [argument.name for argument in torch._C._get_schema(f"aten::{name}", overload).arguments]


@cache
def dtype_names() -> frozenset[str]:
    """The data types of this PyTorch, in all their spellings: ``float64``, ``double``."""
    import torch

    return frozenset(name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype))


@cache
def _encoded() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for name in sorted(operator_names()):
        for form in {name, encode(name)}:
            table[form] = (*table.get(form, ()), name)
    return table


def encode(name: str) -> str:
    """An operator name as part of an environment variable: ``add_.Tensor`` is ``add___Tensor``."""
    return name.replace(".", "__")


def decode(suffix: str) -> tuple[str, ...]:
    """The operators that `suffix` (of ``FLAGOS_OP_<suffix>``) can mean: none, one, or several."""
    return _encoded().get(suffix, ())
