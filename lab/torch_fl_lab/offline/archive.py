"""The layout of an archive that `torch-fl pack` writes.  Standard library only: the archive's own program reads it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path, PurePosixPath

from torch_fl_lab.errors import UserError

SCHEMA = 1
MANIFEST, LOCK, SBOM, CHANNEL, WHEELS, TOOLS = "manifest.json", "pixi.lock", "sbom.cdx.json", "channel", "wheels", "tools"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
MOST_OF_A_MANIFEST = 16 << 20  # bytes


def sha256(file: Path) -> str:
    """Of a file's content, read in pieces."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            found.update(piece)
    return found.hexdigest()


class Archive:
    """An archive to read from, as long as it is open.

    Raises:
        UserError: it is none, damaged, or has names that lead out of it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.zip = zipfile.ZipFile(path)
            self.manifest = self._manifest()
        except OSError as error:
            raise UserError(f"{path}: {(error.strerror or str(error)).lower()}; give a file that torch-fl pack has written") from None
        except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, NotImplementedError) as error:
            raise UserError(f"{path} is damaged or was not written by torch-fl pack ({str(error) or type(error).__name__}); get it again") from None

    def _manifest(self) -> dict:
        entry = self.zip.getinfo(MANIFEST)
        if entry.file_size > MOST_OF_A_MANIFEST:
            raise ValueError(f"its {MANIFEST} is too large")
        found = json.loads(self.zip.read(entry))
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ValueError(f"its {MANIFEST} has another schema than {SCHEMA}")
        files, packages = found.get("files"), found.get("packages")
        whole = isinstance(files, dict) and all(isinstance(f, dict) and isinstance(f.get("bytes"), int) and isinstance(f.get("sha256"), str) for f in files.values())
        if not whole or not isinstance(packages, list) or not all(isinstance(spec, str) for spec in packages):
            raise ValueError(f"its {MANIFEST} lacks files or packages")
        if lacking := [name for name in (LOCK, SBOM) if name not in files]:
            raise ValueError(f"its {MANIFEST} lacks {lacking[0]}")
        names = {info.filename for info in self.zip.infolist()}
        for name in names | set(files):
            if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
                raise ValueError(f"{name!r} leads out of it")
        if absent := sorted(set(files) - names):
            raise ValueError(f"{absent[0]} is missing")
        return found

    @property
    def files(self) -> dict[str, dict]:
        """Name to size and sha256, of everything that is installed or says what is."""
        return self.manifest["files"]

    def extract(self, name: str, folder: Path) -> Path:
        """One file, compared with the manifest while it is written.

        Raises:
            UserError: it is not what the manifest says.
        """
        target, said = folder / name, self.files[name]
        target.parent.mkdir(parents=True, exist_ok=True)
        found, size = hashlib.sha256(), 0
        try:
            with self.zip.open(name) as stream, target.open("wb") as sink:
                while piece := stream.read(1 << 20):
                    size += len(piece)
                    if size > said["bytes"]:
                        break
                    found.update(piece)
                    sink.write(piece)
        except (zipfile.BadZipFile, EOFError, ValueError) as error:
            raise UserError(f"{self.path}: {name} is damaged ({error}); get the archive again") from None
        if size != said["bytes"] or found.hexdigest() != said["sha256"]:
            raise UserError(f"{self.path}: {name} is not what the manifest says (sha256 expected {said['sha256']}, found {found.hexdigest()}); get the archive again")
        return target

    def extract_tools(self, folder: Path) -> None:
        """The installer's library, into a folder for Python's path."""
        for info in self.zip.infolist():
            if info.filename.startswith(f"{TOOLS}/") and not info.is_dir():
                target = folder / info.filename[len(TOOLS) + 1 :]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.zip.read(info))
