"""Which packages an environment of the driver has, and its pixi.lock."""

from __future__ import annotations

from pathlib import Path

from rattler import RepoDataRecord
from torch_fl_lab.errors import UserError as LabError
from torch_fl_lab.offline import locking

from flbuild.errors import UserError

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
    try:
        locking.write(file, channels, locking.solved(channels, wanted, {}))
        return locking.read(file)
    except LabError as error:
        raise UserError(f"no environment fits these packages: {error}") from None
