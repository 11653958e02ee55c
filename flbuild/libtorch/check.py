"""Whether libraries fit together and to the machine, before anything is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from flbuild.elf import Elf

# What every Linux with glibc and a C++ runtime has.
BASE_SYSTEM = {
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "libutil.so.1"),
    *("libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1"),
}
GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")


def unexplained(libraries: Iterable[Elf], driver: list[str]) -> dict[str, list[str]]:
    """Names that libraries need and nobody has: not the bundle, not the driver, not the base system.

    Args:
        driver: patterns of the names that the vendor's driver and SDK have.

    Returns:
        for each such name, the libraries that ask for it.
    """
    libraries = list(libraries)
    known = BASE_SYSTEM | {library.path.name for library in libraries}
    asked: dict[str, list[str]] = {}
    for library in libraries:
        for name in library.needed:
            if name not in known and not any(fnmatchcase(name, pattern) for pattern in driver):
                asked.setdefault(name, []).append(library.path.name)
    return asked


def uses_cxx11_abi(libc10: Path) -> bool:
    """Whether a PyTorch was compiled with the C++11 ABI of libstdc++: it shows in the names that its core exports."""
    return any("__cxx11" in name for name in Elf(libc10).exported)


def newest_glibc(libraries: Iterable[Elf]) -> tuple[int, int]:
    """The version of glibc that libraries ask for; (0, 0) when they ask for none."""
    asked = (GLIBC.fullmatch(version) for library in libraries for version in library.versions_needed)
    return max((tuple(map(int, match.groups())) for match in asked if match), default=(0, 0))
