"""Where a vendor's libraries and what they say of themselves come from: a wheel, an installed `torch`, or its folder `lib`."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from flbuild.errors import UserError

# Of a wheel what may be bundled: the libraries beside torch, those that a repair of the wheel put apart, and the version.
WANTED = re.compile(r"(torch/lib/[^/]+|torch\.libs/[^/]+|torch/version\.py)")
VERSION = re.compile(r"""^__version__\s*(?::[^=]*)?=\s*["']([^"']+)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """Libraries by name, and the version that the vendor gave its PyTorch: `2.10.0+metax3.8.1.3`."""

    libraries: dict[str, Path]
    version: str

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def find(given: Path, scratch: Path) -> Source:
    """Read a vendor's PyTorch.

    Args:
        given: a wheel, a folder `torch`, or its `lib`.
        scratch: an empty folder, for what is taken out of a wheel.

    Raises:
        UserError: it is none of them.
    """
    if given.suffix == ".whl":
        return of_folder(unpacked(given, scratch) / "torch", given)
    if (given / "lib").is_dir():
        return of_folder(given, given)
    return of_folder(given.parent, given) if given.name == "lib" and given.is_dir() else refuse(given, "is neither a wheel nor a folder with libraries")


def unpacked(wheel: Path, scratch: Path) -> Path:
    """Of a wheel what may be bundled, in `scratch`."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [entry for entry in archive.infolist() if WANTED.fullmatch(entry.filename)]
            archive.extractall(scratch, members)
    except (OSError, zipfile.BadZipFile) as error:
        refuse(wheel, f"cannot be read ({error})")
    return scratch


def of_folder(torch: Path, given: Path) -> Source:
    """The libraries of an unpacked `torch`."""
    libraries = {file.name: file for folder in (torch.parent / "torch.libs", torch / "lib") for file in sorted(folder.glob("*.so*"))}
    if not libraries:
        refuse(given, "has no libraries in torch/lib")
    version = torch / "version.py"
    found = VERSION.search(version.read_text()) if version.is_file() else None
    if not found:
        refuse(given, f"does not say which PyTorch it is, since there is no {version.name} beside lib")
    return Source(libraries, found[1])


def refuse(given: Path, why: str) -> Source:
    """Raises."""
    raise UserError(f"{given} {why}; give the vendor's wheel of PyTorch, the folder torch of an installation, or its lib.")
