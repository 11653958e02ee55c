"""Bills of materials in CycloneDX's JSON: of a package, of a lock, of an installed environment, of a packed one.

The same thing gives the same bytes: the serial number is made of what is in it, and the time is that of the newest package.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import parse_wheel_filename
from rattler import PackageRecord, PrefixRecord, RepoDataRecord

from torch_fl_lab import payload
from torch_fl_lab.errors import UserError
from torch_fl_lab.offline import locking
from torch_fl_lab.offline.archive import LOCK, WHEELS, Archive
from torch_fl_lab.preflight import archives

NAMESPACE = uuid.UUID("6c9f1f0e-9d43-5f0c-8a5c-2f5f3c2a9f11")  # of our serial numbers
PAYLOAD = "torch-fl:payload-sha256"
DEPENDS = "conda:depends"


def of(place: Path) -> str:
    """The bill of whatever this is.

    Args:
        place: a `.conda` file, a `pixi.lock`, an archive of `torch-fl pack`, or an installed environment.

    Raises:
        UserError: it is none of these.
    """
    if place.is_dir():
        return of_prefix(place)
    if place.name == LOCK:
        return of_records(place.parent.resolve().name, locking.read(place))
    if place.suffix in (".conda", ".bz2"):
        return of_package(place)
    if place.suffix == ".whl":
        raise UserError(f"{place} is a wheel, whose own tools make its bill; give a .conda file, a pixi.lock, a file of torch-fl pack or an environment")
    return of_archive(place)


def of_package(file: Path) -> str:
    """A package's: its files, what it asks for, the revision of its sources, its payload's digest."""
    source = archives.source(file)
    try:
        record = asyncio.run(RepoDataRecord.from_package_archive(file))
    except Exception as error:  # the binding has one exception for all causes
        raise UserError(f"{file} is damaged or no conda package ({' '.join(str(error).split())[:200]}); get it again") from None
    inside = [
        Component(name=name, type=ComponentType.FILE, bom_ref=name, hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [])
        for name, sha256 in sorted(payload.files(file).items())
    ]
    subject = component(record)
    subject.properties.add(Property(name=PAYLOAD, value=payload.digest(file)))
    for spec in record.depends:
        subject.properties.add(Property(name=DEPENDS, value=spec))
    if "sha" in source:
        subject.properties.add(Property(name="conda:source:sha", value=source["sha"]))
    if "remote_url" in source:
        subject.external_references.add(ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(source["remote_url"])))
    return written(subject, inside, {}, [record])


def of_records(name: str, records: Iterable[PackageRecord], beside: Iterable[Component] = ()) -> str:
    """An environment's: each package with its hash and licence, and which one needs which."""
    records = sorted(records, key=lambda record: record.name.normalized)
    parts = {record.name.normalized: component(record) for record in records}
    needs = {parts[record.name.normalized]: [parts[need] for need in _needed(record) if need in parts] for record in records}
    subject = Component(name=name, type=ComponentType.APPLICATION, bom_ref=f"environment:{name}")
    return written(subject, [*parts.values(), *beside], needs, records)


def of_prefix(prefix: Path) -> str:
    """An installed environment's."""
    places = sorted((prefix / "conda-meta").glob("*.json"))
    if not places:
        raise UserError(f"{prefix} is no environment: it has no conda-meta/*.json; give the folder that has bin/ and lib/")
    try:
        records = [PrefixRecord.from_path(place) for place in places]
    except Exception as error:  # the binding has one exception for all causes
        raise UserError(f"{prefix}/conda-meta is damaged ({' '.join(str(error).split())[:200]}); install the environment again") from None
    return of_records(prefix.resolve().name, records)


def of_archive(file: Path) -> str:
    """A packed environment's, and that of the wheels beside it."""
    archive = Archive(file)
    wheels = [wheel(Path(name).name, said["sha256"]) for name, said in archive.files.items() if name.startswith(f"{WHEELS}/")]
    with tempfile.TemporaryDirectory() as folder:
        records = locking.read(archive.extract(LOCK, Path(folder)))
    return of_records(archive.manifest["environment"], records, wheels)


def component(record: PackageRecord) -> Component:
    """A conda package, named as package URLs name it; where it was downloaded from is not told."""
    qualifiers = {"build": str(record.build), "subdir": record.subdir, "type": "conda"}
    purl = PackageURL("conda", None, record.name.normalized, str(record.version), qualifiers)
    hashes = [(HashAlgorithm.SHA_256, record.sha256), (HashAlgorithm.MD5, record.md5)]
    return Component(
        name=record.name.normalized,
        version=str(record.version),
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        hashes=[HashType(alg=algorithm, content=found.hex()) for algorithm, found in hashes if found],
        licenses=[LicenseFactory().make_from_string(record.license)] if record.license else [],
    )


def wheel(name: str, sha256: str) -> Component:
    """A wheel that is packed beside the packages."""
    project, version, _, _ = parse_wheel_filename(name)
    purl = PackageURL("pypi", None, project, str(version), {"file_name": name})
    digest = HashType(alg=HashAlgorithm.SHA_256, content=sha256)
    return Component(name=project, version=str(version), type=ComponentType.LIBRARY, bom_ref=purl.to_string(), purl=purl, hashes=[digest])


def written(subject: Component, parts: Iterable[Component], needs: dict[Component, list[Component]], records: Iterable[PackageRecord]) -> str:
    """The document."""
    parts = list(parts)
    content = "\n".join(sorted(f"{part.bom_ref} {[found.content for found in part.hashes]}" for part in [subject, *parts]))
    times = [stamp for record in records if isinstance(stamp := record.timestamp, datetime)]
    made = Bom(components=parts, serial_number=uuid.uuid5(NAMESPACE, hashlib.sha256(content.encode()).hexdigest()))
    made.metadata = BomMetaData(component=subject, timestamp=max(times) if times else datetime.fromtimestamp(0).astimezone())
    made.register_dependency(subject, parts)
    for part, needed in needs.items():
        made.register_dependency(part, needed)
    return JsonV1Dot6(made).output_as_string(indent=1) + "\n"


def _needed(record: PackageRecord) -> list[str]:
    return [spec.split()[0].lower() for spec in record.depends]
