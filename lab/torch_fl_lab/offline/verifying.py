"""Is an environment still what was installed?  Every file against the records, the records against the lock; no network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch_fl_lab.errors import UserError
from torch_fl_lab.offline import locking
from torch_fl_lab.offline.archive import SBOM, Archive, sha256

# What is made while an environment is used, and belongs to no package.
OWN = ("conda-meta/", ".demonstrated", "CACHEDIR.TAG", locking.NAME, SBOM)


@dataclass(frozen=True)
class Difference:
    """`changed`, `missing`, `package`: it is not what was installed.

    `compiled`: byte code that Python has written anew, as it does where a source's time is another; `added`: a file that no package has.
    """

    kind: Literal["changed", "missing", "package", "compiled", "added"]
    what: str

    @property
    def wrong(self) -> bool:
        return self.kind not in ("compiled", "added")


def records(prefix: Path) -> list[dict]:
    """The records of an environment's packages.

    Raises:
        UserError: there are none, or one is damaged.
    """
    found = []
    for file in sorted((prefix / "conda-meta").glob("*.json")):
        try:
            said = json.loads(file.read_text("utf-8"))
            found.append({key: said[key] for key in ("name", "version", "build", "paths_data")} | {"files": said.get("files", [])})
        except (OSError, ValueError, KeyError):
            raise UserError(f"{file} is damaged; install the environment again") from None
    if not found:
        raise UserError(f"{prefix} is no environment (no records in {prefix / 'conda-meta'}); give the folder that has bin/ and conda-meta/")
    return found


def differences(prefix: Path) -> Iterator[Difference]:
    """All that differs from what was installed, worst first.

    Raises:
        UserError: it is no environment, or its lock cannot be read.
    """
    installed = records(prefix)
    known: set[str] = set()
    for record in installed:
        known |= set(record["files"])
        for path in record["paths_data"].get("paths", []):
            yield from _compare(prefix, record["name"], path)
            known.add(path["_path"])
    lock = prefix / locking.NAME
    if lock.is_file():
        wanted = {(r.name.normalized, str(r.version), str(r.build)) for r in locking.read(lock)}
        here = {(r["name"], r["version"], r["build"]) for r in installed}
        for name, version, build in sorted(wanted ^ here):
            where = "is in the lock and not installed" if (name, version, build) in wanted else "is installed and not in the lock"
            yield Difference("package", f"{name} {version} {build} {where}")
    for file in sorted(prefix.rglob("*")):
        name = str(file.relative_to(prefix))
        if not file.is_dir() and name not in known and not name.startswith(OWN) and "__pycache__" not in file.parts:
            yield Difference("added", name)


def _compare(prefix: Path, package: str, path: dict) -> Iterator[Difference]:
    file, kind = prefix / path["_path"], path.get("path_type")
    if not (file.is_symlink() or file.exists()):
        yield Difference("missing", f"{path['_path']} of {package}")
    elif kind == "softlink" or kind == "directory" or file.is_symlink():
        return
    elif (expected := path.get("sha256_in_prefix") or (None if path.get("prefix_placeholder") else path.get("sha256"))) and sha256(file) != expected:
        yield Difference("compiled" if file.parent.name == "__pycache__" else "changed", f"{path['_path']} of {package}")


def archive(path: Path) -> int:
    """Compare every file of an archive with its manifest.

    Returns:
        how many there are.

    Raises:
        UserError: one is not what the manifest says; the first is named.
    """
    import tempfile

    opened = Archive(path)
    with tempfile.TemporaryDirectory(prefix="torch-fl-") as work:
        for name in opened.files:
            opened.extract(name, Path(work)).unlink()
    return len(opened.files)
