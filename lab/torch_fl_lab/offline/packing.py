"""One file of a lock: its packages, their index, the lock, and a program that installs them with nothing but Python."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import shutil
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from rattler import RepoDataRecord
from rattler.index import index_fs

from torch_fl_lab.errors import UserError
from torch_fl_lab.offline import locking
from torch_fl_lab.offline.archive import CHANNEL, EPOCH, LOCK, MANIFEST, SBOM, SCHEMA, TOOLS, WHEELS, sha256

# The program in the archive: what unpacks, with the installer's library, which any Python that it fits can load.
PROGRAM = ("__init__.py", "_version.py", "errors.py", "offline/__init__.py", "offline/archive.py", "offline/unpacking.py")
MAIN = "from torch_fl_lab.offline.unpacking import main\n\nmain()\n"
Progress = Callable[[int, int, str], None]


def missing(records: Sequence[RepoDataRecord]) -> list[str]:
    """What cannot be had, one line a package: a mirror that is not whole says so before anything is copied."""
    absent = []
    for record in records:
        file = locking.local_file(record)
        if file is not None:
            absent += [] if file.is_file() else [f"{record.file_name} (no {file})"]
            continue
        try:
            with urllib.request.urlopen(urllib.request.Request(record.url, method="HEAD"), timeout=30):
                pass
        except (urllib.error.URLError, OSError) as error:
            absent.append(f"{record.file_name} ({record.url}: {getattr(error, 'reason', error)})")
    return absent


def fetch(record: RepoDataRecord, target: Path) -> None:
    """Copy a package's file, and compare it with the lock.

    Raises:
        UserError: it is another file than the locked one.
    """
    file = locking.local_file(record)
    if file is not None:
        shutil.copyfile(file, target)
    else:
        with urllib.request.urlopen(record.url, timeout=60) as answer, target.open("wb") as sink:
            shutil.copyfileobj(answer, sink, 1 << 20)
    expected, found = (record.sha256 or b"").hex(), sha256(target)
    if expected != found:
        raise UserError(f"{record.url} is not the file of the lock (sha256 expected {expected}, found {found}); lock anew, or mend the channel")


def wheels_of(folder: Path, records: Sequence[RepoDataRecord]) -> list[Path]:
    """The wheels to pack beside the packages.

    Raises:
        UserError: one is of a package that the lock has, or fits no Python of the lock.
    """
    names = {canonicalize_name(record.name.normalized) for record in records}
    python = next((str(record.version).split(".")[:2] for record in records if record.name.normalized == "python"), None)
    found = sorted(folder.glob("*.whl"))
    if not found:
        raise UserError(f"--wheels {folder}: there is no wheel in it; give a folder with .whl files")
    for wheel in found:
        try:
            name, _, _, tags = parse_wheel_filename(wheel.name)
        except InvalidWheelFilename as error:
            raise UserError(f"{wheel}: {error}; take the file as its author named it") from None
        if name in names:
            raise UserError(f"{wheel} is of {name}, which the lock has as a package; take one of the two out")
        interpreters = {tag.interpreter for tag in tags}
        mine = {"py3", f"py{python[0]}{python[1]}", f"cp{python[0]}{python[1]}"} if python else {tag.interpreter for tag in sys_tags()}
        if not interpreters & mine and not any(tag.abi == "abi3" for tag in tags):
            raise UserError(f"{wheel} is for {', '.join(sorted(interpreters))} and the lock has Python {'.'.join(python or ['?'])}; take the wheel for that one")
    return found


def library() -> list[tuple[str, Path]]:
    """The installer's library, as names below the archive's tools and files.

    Raises:
        UserError: it fits one version of Python only, so another machine's might not load it.
    """
    distribution = importlib.metadata.distribution("py-rattler")
    files = [(str(file), Path(str(file.locate()))) for file in distribution.files or [] if file.parts[0] == "rattler" and "__pycache__" not in file.parts]
    if not any(name.endswith(".abi3.so") for name, _ in files):
        raise UserError("the py-rattler of this environment is for one version of Python only; install the wheel of the Python index (pip install py-rattler)")
    return files


def index(channel: Path) -> None:
    """Write the index of a channel; the same packages give the same bytes."""
    (channel / "noarch").mkdir(exist_ok=True)
    asyncio.run(index_fs(channel, force=True, write_zst=False, write_shards=False))
    for file in channel.glob("*/repodata.json"):
        said = json.loads(file.read_text("utf-8"))
        for record in said["packages.conda"].values():
            record.pop("indexed_timestamp", None)  # when it was indexed, which is no fact about the package
        file.write_text(json.dumps(said, sort_keys=True), "utf-8")


def pack(lock: Path, target: Path, wheels: Path | None, work: Path, stated: dict[str, str], progress: Progress) -> dict:
    """Write the archive; the same lock and tools give the same bytes.

    Args:
        work: an empty folder on the target's disk.
        stated: virtual packages that the lock was made for, beside those of any machine.

    Returns:
        the manifest.

    Raises:
        UserError: something cannot be had, or is not what the lock says.
    """
    from torch_fl_lab import sbom  # its library is a tenth of a second that other commands need not wait for

    records = locking.read(lock)
    if absent := missing(records):
        raise UserError(f"{len(absent)} of {len(records)} packages of {lock} cannot be had: {'; '.join(absent)}")
    beside = wheels_of(wheels, records) if wheels else []
    channel = work / CHANNEL
    for number, record in enumerate(records):
        progress(number, len(records), record.file_name)
        folder = channel / str(record.subdir)
        folder.mkdir(parents=True, exist_ok=True)
        fetch(record, folder / record.file_name)
    index(channel)
    files = {str(file.relative_to(work)): file for file in sorted(channel.rglob("*")) if file.is_file() and not file.name.startswith(".")}
    (work / SBOM).write_text(sbom.of_records(lock.parent.name, records, [sbom.wheel(wheel.name, sha256(wheel)) for wheel in beside]), "utf-8")
    files |= {f"{WHEELS}/{wheel.name}": wheel for wheel in beside} | {LOCK: lock, SBOM: work / SBOM}
    described = {
        "schema": SCHEMA,
        "environment": lock.parent.name,
        "python": importlib.metadata.distribution("py-rattler").metadata["Requires-Python"],
        "stated": stated,
        "packages": [f"{record.name.normalized} =={record.version} {record.build}" for record in records],
        "files": {name: {"sha256": sha256(file), "bytes": file.stat().st_size} for name, file in files.items()},
    }
    home = Path(__file__).resolve().parents[1]
    program = {f"torch_fl_lab/{name}": home / name for name in PROGRAM} | {f"{TOOLS}/{name}": file for name, file in library()}
    progress(len(records), len(records), target.name)
    partial = target.with_name(target.name + ".partial")
    with zipfile.ZipFile(partial, "w", compresslevel=1) as archive:
        for name, content in (("__main__.py", MAIN), (MANIFEST, json.dumps(described, indent=1))):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content)
        for name, file in sorted(program.items()):
            _add(archive, name, file, zipfile.ZIP_DEFLATED)  # quickly: a smaller library would win little beside the packages
        for name, file in files.items():  # packages are compressed already
            _add(archive, name, file, zipfile.ZIP_STORED)
    partial.replace(target)
    return described


def _add(archive: zipfile.ZipFile, name: str, file: Path, how: int) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type, entry.external_attr, entry.file_size = how, 0o100644 << 16, file.stat().st_size
    entry._compresslevel = archive.compresslevel  # an entry of one's own has none else, until Python 3.13
    with file.open("rb") as source, archive.open(entry, "w", force_zip64=entry.file_size > 1 << 30) as sink:
        shutil.copyfileobj(source, sink, 1 << 20)
