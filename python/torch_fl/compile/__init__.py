"""``torch.compile`` on flagos: Inductor generates code for the card whose device PyTorch drives.

Which that is, platform.toml says in its section ``triton``.  Nothing of this is loaded by ``import torch_fl``.  PyTorch
comes here by itself: Dynamo asks ``torch.flagos.is_available()`` before it traces, Inductor asks ``torch.flagos`` for
the classes it generates code with (:func:`inductor_class`), and the entry point group ``torch_dynamo_backends`` leads to
:func:`backend`.
"""

import sys
from collections.abc import Sequence
from typing import Any

import torch

_ELSEWHERE = 'torch.compile\'s "eager" and "aot_eager" back ends work on every platform'


def problem() -> str | None:
    """Why Inductor cannot compile for flagos here, in a sentence; None where it can."""
    from torch_fl import adapters
    from torch_fl.compile.inductor import LIBRARY
    from torch_fl.evidence import capabilities

    if adapters.switched_off(LIBRARY):
        return f"{adapters.OFF_VARIABLE} names {LIBRARY}; take it out"
    return capabilities.missing("compile")


def register() -> bool:
    """Make flagos a device of Dynamo and Inductor where this platform can be compiled for; a second call does nothing.

    Returns:
        Whether Inductor can compile for flagos.
    """
    from torch_fl import adapters
    from torch_fl.compile.inductor import LIBRARY

    if problem():
        return False
    adapters.enable(LIBRARY)
    return True


def register_if_in_use() -> None:
    """:func:`register`, if Inductor has been imported."""
    # A module that is still being imported lacks its last functions.
    if hasattr(sys.modules.get("torch._inductor.compile_fx"), "compile_fx"):
        register()


def inductor_class(name: str) -> Any:
    """What Inductor finds as ``torch.flagos.<name>``: a class, or what says why there is none as soon as it is used.

    Args:
        name: Scheduling, PythonWrapperCodegen, CppWrapperCodegen or WrapperFxCodegen.
    """
    if reason := problem():
        return _Refused(f"torch.compile's Inductor has no code for flagos here: {reason}; {_ELSEWHERE}")
    register()
    from torch_fl.compile import scheduling

    if name == "CppWrapperCodegen":
        return _Refused("flagos has no C++ wrapper: leave cpp_wrapper and AOTInductor off")
    return getattr(scheduling, name)


class _Refused:
    """Stands where Inductor expects a class, and is refused as soon as Inductor asks for anything."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __call__(self, *unused: Any, **options: Any) -> Any:
        raise NotImplementedError(self._reason)

    @property
    def supports_caching(self) -> bool:
        """The first that Inductor asks about a graph, before it takes it apart."""
        raise NotImplementedError(self._reason)


def backend(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any], *, mode: str | None = None, options: dict | None = None
) -> Any:
    """``torch.compile(model, backend="flagos")``: Inductor, with its modes and options.

    Raises:
        NotImplementedError: this platform cannot be compiled for.
    """
    from torch import _inductor

    if reason := problem():
        raise NotImplementedError(f'torch.compile(backend="flagos") cannot compile here: {reason}; {_ELSEWHERE}')
    register()
    chosen = {**(_inductor.list_mode_options(mode) if mode else {}), **(options or {})}
    return _inductor.compile(gm, list(example_inputs), options=chosen or None)


def _reset() -> None:
    """What torch._dynamo.reset() calls: graphs that were captured are dropped."""
    if trees := sys.modules.get("torch._inductor.cudagraph_trees"):
        trees.reset_cudagraph_trees()


backend.reset = _reset
