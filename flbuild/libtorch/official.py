"""The official PyTorch of an environment, which a vendor's core takes the place of."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ["python", "pytorch", "libtorch"]


@dataclass(frozen=True)
class Official:
    """What its packages say."""

    prefix: Path
    version: str
    lib: Path  # where the libraries of the package libtorch lie: the prefix's lib, or site-packages/torch/lib
    others: frozenset[str]  # names there that belong to other packages, and stay

    @classmethod
    def read(cls, prefix: Path) -> Official:
        """Read an environment that has `PACKAGES`."""
        records = {path.name.rsplit("-", 2)[0]: json.loads(path.read_text()) for path in (prefix / "conda-meta").glob("*.json")}
        core = next(name for name in records["libtorch"]["files"] if name.endswith("/libtorch_cpu.so"))
        folder = Path(core).parent
        taken = (Path(file) for name, record in records.items() if name != "libtorch" for file in record["files"])
        others = frozenset(file.name for file in taken if file.parent == folder)
        return cls(prefix, records["libtorch"]["version"], prefix / folder, others)

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])

    @property
    def folder(self) -> str:
        """Of the libraries, relative to the prefix."""
        return self.lib.relative_to(self.prefix).as_posix()

    @property
    def run_path(self) -> list[str]:
        """By which a library there finds its neighbours and the environment's lib."""
        to_lib = os.path.relpath(self.prefix / "lib", self.lib)
        return ["$ORIGIN"] if to_lib == "." else ["$ORIGIN", f"$ORIGIN/{to_lib}"]

    @property
    def glibc(self) -> tuple[int, int]:
        """This machine's."""
        major, minor = platform.libc_ver()[1].split(".")[:2]
        return int(major), int(minor)
