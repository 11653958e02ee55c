"""Triton's compiler for the target, under the name of the device. Triton wants exactly one class of its base in this module."""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from triton.backends import compiler as base

DEVICE = "flagos"


def facts() -> dict[str, str]:
    """``backend`` and ``target`` of the platform's Triton, from its platform.json; empty where it has none."""
    found = find_spec("torch_fl")
    file = Path(found.origin or "").parent / "platform.json" if found else Path()
    return json.loads(file.read_text()).get("triton", {}) if file.is_file() else {}


def vendors(backend: str | None) -> type | None:
    """The compiler of the back end `backend` of this Triton; None where it has no such back end."""
    try:
        module = import_module(f"triton.backends.{backend}.compiler") if backend else None
    except ImportError:
        return None
    found = (value for value in vars(module).values() if isinstance(value, type)) if module else ()
    return next((kind for kind in found if issubclass(kind, base.BaseBackend) and kind is not base.BaseBackend), None)


def made(vendor: type | None, target: str) -> type:
    """A compiler that serves `DEVICE` as `vendor` does `target`; one that serves nothing where there is no vendor's."""
    if vendor is None:
        unused = dict.fromkeys(base.BaseBackend.__abstractmethods__, _serves_nothing)
        return type("Compiler", (base.BaseBackend,), unused | {"supports_target": staticmethod(lambda target: False)})

    class Compiler(vendor):
        @staticmethod
        def supports_target(target: base.GPUTarget) -> bool:
            return target.backend == DEVICE

        def __init__(self, named: base.GPUTarget) -> None:
            super().__init__(named)
            self.target = base.GPUTarget(target, named.arch, named.warp_size)

        def add_stages(self, stages: dict[str, Any], *options: Any) -> None:
            super().add_stages(stages, *options)
            first, stage = next(iter(stages.items()))

            # What is kept on disk is the target's: any process can load it, with and without torch_fl.
            def compile_first(source: Any, metadata: dict[str, Any]) -> Any:
                metadata["target"] = self.target
                return stage(source, metadata)

            stages[first] = compile_first

    return Compiler


def _serves_nothing(*unused: Any) -> Any:
    raise NotImplementedError("this platform's Triton has no back end for the device")


_facts = facts()
Compiler = made(vendors(_facts.get("backend")), _facts.get("target", ""))
