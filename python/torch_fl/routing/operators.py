"""Names of the ATen operators, as the dispatcher knows them."""

from functools import cache


@cache
def operator_names() -> frozenset[str]:
    """Every ATen operator of this PyTorch, with its overload: ``add.Tensor``, ``mm``."""
    import torch

    prefix = "aten::"
    return frozenset(name[len(prefix) :] for name in torch._C._dispatch_get_all_op_names() if name.startswith(prefix))


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
