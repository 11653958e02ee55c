"""The module ``triton``: FlagTree and Triton both install it, and only one may."""

from collections.abc import Iterator
from importlib import metadata

from torch_fl.doctor import Finding, pins
from torch_fl.evidence import capabilities


def check() -> Iterator[Finding]:
    """Whether one distribution has the module, and has this vendor's back end."""
    owners = sorted(set(metadata.packages_distributions().get("triton", [])))
    facts = capabilities.platform()
    backend = None if capabilities.build()["emulated"] else (facts.get("triton") or {}).get("backend")
    if len(owners) > 1:
        yield Finding("wrong", "triton", f"{' and '.join(owners)} both install the module triton, and what is left of either is chance", "remove both and install one")
        return
    if not owners:
        yield Finding("fine", "triton", "is not installed; FlagGems and torch.compile need it")
        return
    known = sorted(entry.name for entry in metadata.entry_points(group="triton.backends"))
    where = f"{owners[0]} {metadata.version(owners[0])}"
    if backend and backend not in known:
        pin = facts["pins"]["flagtree"]
        yield Finding("wrong", "triton", f"{where} has no back end {backend} (it has: {', '.join(known) or 'none'})", f"install flagtree {pin} in its place")
    else:
        yield from pins.measured("triton", owners[0], facts["pins"].get(owners[0], ""))
        yield Finding("fine", "triton", f"{where} with {', '.join(known) or 'no back end'}")
