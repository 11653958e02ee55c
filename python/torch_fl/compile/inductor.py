"""The adapter that makes ``flagos`` a GPU to Dynamo and Inductor: entries in their registries and lists.

It is one entry of :mod:`torch_fl.adapters`.  Everything here adds an entry of flagos' own, made of what the same registry
has for the target, the device that PyTorch drives; nothing that is there is changed.
"""

import threading

import torch

DEVICE = "flagos"
LIBRARY = "torch._inductor"

_lock = threading.RLock()
_done = False


def target() -> str:
    """The device type that flagos stands for."""
    from torch_fl.evidence import capabilities

    return capabilities.platform()["triton"]["target"]


def register(library: str) -> None:
    """Add flagos everywhere; a second call does nothing."""
    global _done
    with _lock:
        if _done:
            return
        _done = True  # first, since what is imported below asks for the device again
        try:
            _register(target())
        except BaseException:
            _done = False
            raise


def _register(known: str) -> None:
    from torch._dynamo.device_interface import get_interface_for_device, register_interface_for_device
    from torch._inductor import utils
    from torch._inductor.codegen.common import get_device_op_overrides, register_device_op_overrides

    from torch_fl.compile import interface

    # Dynamo's registry. Inductor also asks for "flagos:1".
    ours = interface.of(get_interface_for_device(known))
    register_interface_for_device(DEVICE, ours)
    for index in range(torch.flagos.device_count()):
        register_interface_for_device(f"{DEVICE}:{index}", ours)

    # Inductor's list of devices that are treated as GPUs has no function to register with. get_gpu_type wants at most
    # one of them to be there and remembers its answer: the target, whose benchmarks and properties are flagos' own.
    utils.get_gpu_type()
    if DEVICE not in utils.GPU_TYPES:
        utils.GPU_TYPES.append(DEVICE)

    # Device and stream of the generated wrapper are the target's. (Asking for the target's fills the registry, which is
    # filled only while it is empty.)
    register_device_op_overrides(DEVICE, get_device_op_overrides(known))
    _register_templates(known)


def _register_templates(known: str) -> None:
    """Choices of mode "max-autotune" by device: those of the target. There is no function that lists them."""
    from torch._inductor.template_heuristics import registry

    for (template, device, operator), heuristic in list(registry._TEMPLATE_HEURISTIC_REGISTRY.items()):
        if device == known:
            registry.register_template_heuristic(template, DEVICE, op_name=operator)(heuristic)
