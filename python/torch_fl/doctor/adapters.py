"""What stands between flagos and libraries without a hook, and whether it is switched off."""

from collections.abc import Iterator
from importlib.util import find_spec

from torch_fl import adapters
from torch_fl.doctor import Finding


def check() -> Iterator[Finding]:
    """Each adapter whose library is installed."""
    for library in adapters.ADAPTERS:
        if find_spec(library.partition(".")[0]) is not None:
            off = adapters.switched_off(library)
            yield Finding("note" if off else "fine", f"adapter {library}", "is switched off" if off else f"may be switched off with {adapters.OFF_VARIABLE}={library}")
