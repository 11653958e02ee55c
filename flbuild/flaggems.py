"""FlagGems' kernels: an environment that has them, and the suites that need it."""

from __future__ import annotations

from pathlib import Path

from flbuild import solve, testing
from flbuild.build import Built
from flbuild.errors import UserError
from flbuild.layout import Layout

SUITES = ("triton_host", "flaggems", "survey")
# The environment lives as long as the clone, and what runs in a test may write nowhere else.
CACHES = {"TRITON_CACHE_DIR": "triton", "FLAGGEMS_CACHE_DIR": "flaggems", "XDG_CACHE_HOME": "cache"}


def is_built(built: Built) -> bool:
    """Whether the platform has them."""
    return solve.FLAGGEMS_PACKAGE in map(solve.name_of, built.packages)


def wanted(built: Built, variant: str) -> list[str]:
    """Match specs of the environment.

    Raises:
        UserError: the platform has no such kernels.
    """
    if not is_built(built):
        raise UserError(f"{solve.FLAGGEMS_PACKAGE} is not built for {variant}; see [kernels] in its platform.toml.")
    return solve.specs(built.packages, *solve.ON_REQUEST) + list(solve.COMPANIONS)


def suites(root: Path) -> list[Path]:
    """The folders of tests that need the environment."""
    return [folder for name in SUITES if any((folder := root / "tests" / name).rglob("test_*.py"))]


def tests(layout: Layout, prefix: Path, jobs: int, quiet: bool) -> int:
    """pytest over these suites, in a folder that has none of the sources; caches go where the next run removes them.

    Returns:
        pytest's exit status.
    """
    work = layout.quarantine("flaggems")
    caches = {variable: str(work / folder) for variable, folder in CACHES.items()}
    options = ["-q", "-p", "no:cacheprovider", *testing.shared_out(jobs), f"--rootdir={layout.root}"]
    folders = [str(folder) for folder in suites(layout.root)]
    return testing.run_python(["-B", "-m", "pytest", *options, *folders], prefix, work, quiet, caches)
