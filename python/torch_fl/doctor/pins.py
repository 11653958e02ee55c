"""Neighbours in other versions than those that were measured: they may be right, and nobody knows."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import metadata

from torch_fl.doctor import Finding
from torch_fl.evidence import capabilities

# Those that no other check looks at: the name in platform.toml, of the distribution, and what it is for.
NEIGHBOURS = (("flagcx", "flagcx", "collectives"),)


def check() -> Iterator[Finding]:
    """Whether a neighbour is the pinned one."""
    for name, distribution, purpose in NEIGHBOURS:
        pin = capabilities.platform()["pins"].get(name, "none")
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            there = "no build of it for this platform is known" if pin == "none" else f"{pin} is the version of this platform" if pin != "unknown" else "its version for this platform is unknown"
            yield Finding("fine", distribution, f"is not installed, which {purpose} across processes need; {there}")
            continue
        yield from measured(distribution, distribution, pin)
        yield Finding("fine", distribution, f"is {version}")


def measured(subject: str, distribution: str, pin: str) -> Iterator[Finding]:
    """A note where the installed version of a distribution is not that of its pin.

    Args:
        subject: of the finding.
        distribution: an installed one.
        pin: a version or a pattern of versions; words (`none`, `unknown`) ask for nothing.
    """
    version = metadata.version(distribution)
    if pin[:1].isdigit() and not fnmatchcase(version, pin):
        yield Finding("note", subject, f"is {distribution} {version}, and {pin} was measured", f"install {distribution} {pin}")
