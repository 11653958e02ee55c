"""The slot ``flaggems_cpp``: FlagGems' operators compiled to C++, ``liboperators.so`` in a build with C++ wrappers.

FlagGems itself gives that library no table that another program could read.
One that wants to serve flagos exports what every kernel library does
(``FLAGOS_KERNELS("flaggems_cpp", table)`` of ``flagos_kernels.h``); others,
such as FlagGems' own, are left alone and not even loaded.
"""

import mmap
from importlib.util import find_spec
from pathlib import Path

NAME = "liboperators.so"
ENTRY = b"flagos_kernels_entry"  # FLAGOS_KERNELS_ENTRY of flagos_kernels.h


def libraries() -> list[str]:
    """Paths of the installed FlagGems' ``liboperators.so`` with a table for flagos: one, or none."""
    spec = find_spec("flag_gems")
    folders = map(Path, spec.submodule_search_locations or ()) if spec else ()
    places = [place for folder in folders for place in (folder / NAME, *folder.glob(f"lib*/{NAME}"))]
    return [str(path) for path in places if path.is_file() and _has_table(path)]


def _has_table(path: Path) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(ENTRY) >= 0
