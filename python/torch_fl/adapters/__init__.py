"""Libraries that ask for a device by a name of their own: what adds ``flagos`` to their lists.

Most libraries need nothing.  For one that has a public registry of devices,
:func:`enable` fills it in; no library is imported before that, and nothing
of a library is replaced.
"""

from importlib import import_module

ADAPTERS = {
    "lightning": "torch_fl.adapters.lightning",
    "pytorch_lightning": "torch_fl.adapters.lightning",
}  #: library -> the module whose ``register(library)`` adds the device


def enable(library: str) -> None:
    """Add ``flagos`` to the devices that `library` knows; a second call does nothing.

    Args:
        library: the name that the library is imported by; a key of :data:`ADAPTERS`.

    Raises:
        ValueError: there is no adapter of that name.
        ImportError: the library is not installed.
    """
    if library not in ADAPTERS:
        raise ValueError(f"there is no adapter for {library!r}; there are: {', '.join(sorted(ADAPTERS))}.")
    import_module(ADAPTERS[library]).register(library)
