"""What the environment's own records say is installed: conda's and Python's."""

import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

#: conda's name of what Python calls otherwise
CONDA_NAMES = {"torch": "pytorch"}


@cache
def conda() -> dict[str, dict[str, Any]]:
    """The records of conda-meta by the package's name; none where the environment is not conda's.

    Raises:
        ValueError: a record is no JSON.
    """
    found = {}
    for file in sorted(Path(sys.prefix, "conda-meta").glob("*.json")):
        try:
            record = json.loads(file.read_text("utf-8"))
            found[record["name"]] = record
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is no record of a package ({error})") from None
    return found


def copies(name: str) -> list[metadata.Distribution]:
    """Every copy of a Python distribution that this interpreter finds: the first is the one that counts."""
    return list(metadata.distributions(name=name))


def missing(record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The files of a package that are not there (False) or have another size (True); what a file's contents are is not looked at.

    Args:
        record: of :func:`conda`.
    """
    for entry in (record.get("paths_data") or {}).get("paths", []):
        file = Path(sys.prefix, entry["_path"])
        if entry["_path"].endswith(".pyc"):
            continue
        if not file.exists() and not file.is_symlink():
            yield entry["_path"], False
        # a file with a prefix in it is written anew when it is installed
        elif entry.get("path_type") == "hardlink" and not entry.get("prefix_placeholder") and entry.get("size_in_bytes") not in (None, file.stat().st_size):
            yield entry["_path"], True
