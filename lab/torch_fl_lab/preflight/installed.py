"""What an environment has: its packages, by the records of conda and of Python, and the documents of ours."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

from packaging.utils import canonicalize_name

from torch_fl_lab.errors import UserError
from torch_fl_lab.preflight.archives import NAME, bounded

# Where the names of conda and of Python differ.
PYTHON_NAMES = {"pytorch": "torch"}
CONDA_NAMES = {python: conda for conda, python in PYTHON_NAMES.items()}


class Environment:
    """A prefix, looked at and not run.

    Args:
        prefix: its folder.

    Raises:
        UserError: it is no environment.
    """

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        sites = sorted(prefix.glob("lib/python3.*/site-packages"))
        if len(sites) != 1:
            raise UserError(f"{prefix} is no environment (it has {len(sites) or 'no'} lib/python3.*/site-packages); give the folder that has bin/ and lib/")
        self.site = sites[0]
        self.python = sites[0].parent.name.removeprefix("python")
        self.versions = {canonicalize_name(d.name): d.version for d in importlib.metadata.distributions(path=[str(self.site)]) if d.name}
        self.conda = {}
        for record in (prefix / "conda-meta").glob("*.json"):
            try:
                said = json.loads(record.read_text("utf-8"))
                self.conda[said["name"]] = said
            except (ValueError, KeyError, OSError):
                raise UserError(f"{record} is damaged; install the environment again") from None

    def version(self, name: str) -> str | None:
        """Of a package, by the name that conda or Python has for it."""
        for known in (name, CONDA_NAMES.get(name)):
            if known in self.conda:
                return str(self.conda[known]["version"])
        return self.versions.get(canonicalize_name(PYTHON_NAMES.get(name, name)))

    def documents(self) -> dict[str, bytes]:
        """Every compatibility.json of ours, by the package that it is of."""
        places = {"torch-fl-runtime": self.site / "torch_fl" / NAME}
        places |= {place.parent.name: place for place in sorted(self.prefix.glob(f"share/torch-fl/*/{NAME}"))}
        found = {}
        for package, place in places.items():
            if place.is_file():
                with place.open("rb") as stream:
                    found[package] = bounded(stream, str(place))
        return found
