"""Libraries that ask for a device by a name of their own: what adds ``flagos`` to their lists.

Most libraries need nothing.  For one that has a public registry of devices,
or a record that describes the device, :func:`enable` fills it in; no library
is imported before that, and nothing of a library is replaced.  The one exception
is PyTorch's autograd engine, which start-up makes explain a failure where PyTorch
itself drives the devices.
"""

import os
from importlib import import_module

ADAPTERS = {
    "flag_gems": "torch_fl.flaggems.adapter",
    "lightning": "torch_fl.adapters.lightning",
    "pytorch_lightning": "torch_fl.adapters.lightning",
    "torch._inductor": "torch_fl.compile.inductor",
    "torch.autograd": "torch_fl.adapters.autograd",
    "triton": "torch_fl.adapters.triton",
}  #: library -> the module whose ``register(library)`` adds the device

OFF_VARIABLE = "FLAGOS_ADAPTERS_OFF"  #: libraries, with a comma between them, that are left as they are


def switched_off(library: str) -> bool:
    """Whether ``FLAGOS_ADAPTERS_OFF`` names `library`."""
    return library in {word.strip() for word in os.environ.get(OFF_VARIABLE, "").split(",")}


def enable(library: str) -> None:
    """Add ``flagos`` to the devices that `library` knows; a second call does nothing, and so does a first one where
    :func:`switched_off` holds.

    Args:
        library: the name that the library is imported by; a key of :data:`ADAPTERS`.

    Raises:
        ValueError: there is no adapter of that name.
        ImportError: the library is not installed.
    """
    if library not in ADAPTERS:
        raise ValueError(f"there is no adapter for {library!r}; there are: {', '.join(sorted(ADAPTERS))}.")
    if not switched_off(library):
        import_module(ADAPTERS[library]).register(library)
