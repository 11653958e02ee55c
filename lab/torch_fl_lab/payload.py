"""A package's payload: what it installs, apart from what is written about it (when it was built, and in which folder)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rattler.package import PathsJson

from torch_fl_lab.errors import UserError


def files(package: Path) -> dict[str, str]:
    """Path to sha256 of every file that a `.conda` or `.tar.bz2` file installs; of a link it is that of its target.

    Raises:
        UserError: it is no such file.
    """
    try:
        entries = PathsJson.from_package_archive(package).paths
    except Exception as error:  # the binding has one exception for all causes
        raise UserError(f"{package} is damaged or no conda package ({' '.join(str(error).split())[:200]}); get it again") from None
    return {entry.relative_path.as_posix(): (entry.sha256 or b"").hex() for entry in entries}


def digest(package: Path) -> str:
    """One sha256 for all of them: of the lines `<sha256>  <path>` in the order of paths, as `sha256sum` would print them.

    Two builds of the same sources with the same tools in the same folder give the same one.
    """
    lines = (f"{sha256}  {path}\n" for path, sha256 in sorted(files(package).items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
