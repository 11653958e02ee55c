"""The test suites: those of the sources in the tool environment, the contract suite against the installed packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flbuild import demo, sanitize
from flbuild.errors import UserError
from flbuild.layout import Layout

SUITES = ("unit", "recipe", "package", "solve", "docs")
CONTRACT = "torch_fl_tests"
NO_TESTS = 5  # pytest's status when it found none


def suites(root: Path) -> list[Path]:
    """The folders of tests that run from the sources."""
    return [folder for name in SUITES if (folder := root / "tests" / name).is_dir() and any(folder.rglob("test_*.py"))]


def run_sources(layout: Layout, variant: str, base_channel: str, quiet: bool = False) -> int:
    """pytest over the source suites; its output is shown as it is (`quiet`: on standard error, for `--json`).

    Args:
        base_channel: folder or URL of the channel that dependencies come from.

    Returns:
        pytest's exit status.
    """
    folders = suites(layout.root)
    if not folders:
        raise UserError(f"there are no tests below {layout.root / 'tests'}; is the clone whole?")
    prefix = layout.environment(f"{variant}-test")
    env = os.environ | {
        "PYTHONPATH": str(layout.root),
        "RATTLER_CACHE_DIR": str(layout.package_cache),
        "TORCH_FL_CHANNEL": str(layout.channel),
        "TORCH_FL_BASE_CHANNEL": base_channel,
        "TORCH_FL_ENVIRONMENT": str(prefix),
    }
    for library in prefix.glob("lib/libtorch_fl_platform_*.so"):
        env["FLAGOS_PLATFORM_LIBRARY"] = str(library)
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={layout.root}"]
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, *folders],
        env=env,
        cwd=layout.root,
        stdout=sys.stderr if quiet else None,
        check=False,
    ).returncode


def run_contract(prefix: Path, work: Path, quiet: bool = False) -> int:
    """The contract suite, from the installed package, in a folder that has none of the sources."""
    work.mkdir(parents=True, exist_ok=True)
    options = ["-q", "-p", "no:cacheprovider", "--pyargs", CONTRACT]
    return subprocess.run(
        [prefix / "bin/python", "-B", "-m", "pytest", *options],
        env=demo.environment_variables(prefix),
        cwd=work,
        check=False,
        stdout=sys.stderr if quiet else None,
    ).returncode


def run_sanitizers(layout: Layout, prefix: Path, jobs: int, quiet: bool = False) -> int:
    """The core, compiled with each set of sanitizers, under the tests made for it; needs CMake and Ninja."""
    tests = [str(sanitize.TESTS)]
    statuses = [
        sanitize.check(layout, kind, prefix / "bin/python", jobs, tests, quiet) for kind in sanitize.kinds(layout.root)
    ]
    return next((status for status in statuses if status), 0)
