"""Solve an environment and write it down as a pixi.lock (version 7)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rattler import (
    ChannelPriority,
    LockChannel,
    LockFile,
    LockPlatform,
    RepoDataRecord,
    VirtualPackage,
    VirtualPackageOverrides,
    solve,
)
from rattler.exceptions import SolverError

from flbuild.errors import UserError

SUBDIR = "linux-64"
TEST_PACKAGE = "torch-fl-tests"
FLAGGEMS_PACKAGE = "torch-fl-flaggems"
KERNELS_PACKAGE = "torch-fl-vendor-kernels"
TRITON_PACKAGE = "torch-fl-triton-host"
LAB_PACKAGE = "torch-fl-lab"
# Built packages that are installed where they are asked for or depended on.
ON_REQUEST = {TEST_PACKAGE, FLAGGEMS_PACKAGE, TRITON_PACKAGE}
# What the demonstrations and a person at a prompt need besides the product.
COMPANIONS = ("numpy", "pip", "scikit-learn", "transformers")


def name_of(file: str) -> str:
    """The package of a file `folder/name-version-build.conda`."""
    return Path(file).name.rsplit("-", 2)[0]


def specs(packages: tuple[str, ...], *asked: str) -> list[str]:
    """Exactly the files that were built, and of those `ON_REQUEST` only the `asked` ones."""
    wanted = []
    for file in packages:
        name, version, build = Path(file).name.removesuffix(".conda").rsplit("-", 2)
        if name in asked or name not in ON_REQUEST:
            wanted.append(f"{name} =={version} {build}")
    return wanted


def lock(channels: list[str], wanted: list[str], file: Path) -> list[RepoDataRecord]:
    """Solve and write the lock; the same solution gives the same bytes.

    Returns:
        the records to install.

    Raises:
        UserError: no environment fits; the solver's reason is given.
    """
    detected = VirtualPackage.detect(VirtualPackageOverrides.from_env())
    try:
        records = asyncio.run(
            solve(channels, wanted, virtual_packages=detected, channel_priority=ChannelPriority.Strict)
        )
    except SolverError as error:
        raise UserError(f"no environment fits these packages: {' '.join(str(error).split())}") from None
    platform = LockPlatform(SUBDIR)
    made = LockFile([platform])
    made.set_channels("default", [LockChannel(url) for url in channels])
    for record in sorted(records, key=lambda r: r.name.normalized):
        made.add_conda_package("default", platform, record)
    file.parent.mkdir(parents=True, exist_ok=True)
    made.to_path(file)
    return locked(file)


def locked(file: Path) -> list[RepoDataRecord]:
    """The records of a lock, as it is on disk."""
    environment = LockFile.from_path(file).environment("default")
    return [
        record
        for platform in environment.platforms()
        for record in environment.conda_repodata_records_for_platform(platform)
    ]
