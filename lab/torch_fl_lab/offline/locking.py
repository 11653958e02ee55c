"""Which packages an environment for a platform has: a pixi.lock (version 7) that this machine can make for another one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

from rattler import (
    BuildString,
    ChannelPriority,
    GenericVirtualPackage,
    LockChannel,
    LockFile,
    LockPlatform,
    MatchSpec,
    PackageName,
    RepoDataRecord,
    Version,
    VirtualPackage,
    VirtualPackageOverrides,
    solve,
)
from rattler.exceptions import SolverError

from torch_fl_lab.errors import UserError

SUBDIR = "linux-64"
NAME = "pixi.lock"
ENVIRONMENT = "default"  # of a lock


def url_of(channel: str) -> str:
    """A channel as a URL; a folder is one of this machine's.

    Raises:
        UserError: it is neither a URL nor a folder with an index.
    """
    if "://" in channel:
        return channel
    folder = Path(channel).resolve()
    if not any(folder.glob("*/repodata.json")):
        raise UserError(f"{channel} is no channel: it has no */repodata.json; give a URL or a channel's folder")
    return folder.as_uri()


def local_file(record: RepoDataRecord) -> Path | None:
    """The package file of a `file://` channel; None for one that is downloaded."""
    url = urlparse(record.url)
    return Path(unquote(url.path)) if url.scheme == "file" else None


def virtual_packages(stated: Mapping[str, str]) -> list[GenericVirtualPackage]:
    """What solvers detect of this machine, with what is stated of another one in its place.

    Args:
        stated: name, such as `__cuda`, to version; an empty version means that there is none.
    """
    detected = [package.into_generic() for package in VirtualPackage.detect(VirtualPackageOverrides.from_env())]
    kept = [package for package in detected if package.name.normalized not in stated]
    made = [GenericVirtualPackage(PackageName(name), Version(version), BuildString("0")) for name, version in stated.items() if version]
    return [*kept, *made]


def solved(channels: Sequence[str], specs: Sequence[str], stated: Mapping[str, str]) -> list[RepoDataRecord]:
    """The packages of an environment, by name.

    Args:
        channels: URLs; a package comes from the first one that has its name.
        specs: as people type them for conda: name=version=build.

    Raises:
        UserError: nothing fits, in the solver's words; or a spec cannot be read.
    """
    try:
        wanted = [MatchSpec(spec, strict=False) for spec in specs]
    except Exception as error:  # the binding has one exception for all causes
        raise UserError(f"{' '.join(specs)}: {' '.join(str(error).split())}; write name, name=version or name=version=build") from None
    try:
        records = asyncio.run(solve(list(channels), wanted, virtual_packages=virtual_packages(stated), channel_priority=ChannelPriority.Strict))
    except SolverError as error:
        raise UserError(f"nothing fits {', '.join(specs)}: {' '.join(str(error).split())}") from None
    except Exception as error:
        raise UserError(f"the channels cannot be read: {' '.join(str(error).split())}; look at --channel") from None
    return sorted(records, key=lambda record: record.name.normalized)


def write(file: Path, channels: Sequence[str], records: Sequence[RepoDataRecord]) -> None:
    """The lock; the same records give the same bytes."""
    platform = LockPlatform(SUBDIR)
    made = LockFile([platform])
    made.set_channels(ENVIRONMENT, [LockChannel(url) for url in channels])
    for record in records:
        made.add_conda_package(ENVIRONMENT, platform, record)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".partial")
    made.to_path(partial)
    partial.replace(file)


def read(file: Path) -> list[RepoDataRecord]:
    """The packages of a lock.

    Raises:
        UserError: it is none, or has another environment than ours.
    """
    try:
        environment = LockFile.from_path(file).environment(ENVIRONMENT)
        if environment is None:
            raise ValueError(f"it has no environment {ENVIRONMENT!r}")
        return [record for platform in environment.platforms() for record in environment.conda_repodata_records_for_platform(platform)]
    except Exception as error:  # the binding has one exception for all causes
        said = " ".join(str(error).split())[:200]
        raise UserError(f"{file} is no lock of torch-fl lock ({said}); make it anew") from None
