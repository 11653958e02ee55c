"""The test suites: those of the sources in the tool environment, the others against the installed packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flbuild import demo, sanitize, sharing
from flbuild.errors import UserError
from flbuild.layout import Layout

SUITES = ("solve", "package", "skeleton", "recipe", "unit", "lab", "docs")  # the long ones first
CONTRACT = "torch_fl_tests"
OPINFO = "torch_fl_opinfo"
NO_TESTS = 5  # pytest's status when it found none


def suites(root: Path) -> list[Path]:
    """The folders of tests that run from the sources."""
    return [folder for name in SUITES if (folder := root / "tests" / name).is_dir() and any(folder.rglob("test_*.py"))]


def run_sources(layout: Layout, variant: str, base_channel: str, jobs: int, quiet: bool = False) -> int:
    """pytest over the source suites; its output is shown as it is (`quiet`: on standard error, for `--json`).

    Args:
        base_channel: folder or URL of the channel that dependencies come from.
        jobs: processes that share the tests.

    Returns:
        pytest's exit status.
    """
    folders = suites(layout.root)
    if not folders:
        raise UserError(f"there are no tests below {layout.root / 'tests'}; is the clone whole?")
    prefix = layout.environment(f"{variant}-test")
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(layout.root), str(layout.root / "lab")]),
        "RATTLER_CACHE_DIR": str(layout.package_cache),
        "TORCH_FL_CHANNEL": str(layout.channel),
        "TORCH_FL_BASE_CHANNEL": base_channel,
        "TORCH_FL_ENVIRONMENT": str(prefix),
    }
    for library in prefix.glob("lib/libtorch_fl_platform_*.so"):
        env["FLAGOS_PLATFORM_LIBRARY"] = str(library)
    return run_pytest(layout, folders, env, jobs, quiet)


def run_pytest(
    layout: Layout, folders: list[Path], env: dict[str, str], jobs: int, quiet: bool, python: str = sys.executable
) -> int:
    """Tests of the sources, by the tools' Python or another one."""
    options = ["-q", "--durations=12", "-p", "no:cacheprovider", *sharing.options(jobs), f"--rootdir={layout.root}"]
    return subprocess.run(
        [python, "-B", "-m", "pytest", *options, *folders],
        env=env,
        cwd=layout.root,
        stdout=sys.stderr if quiet else None,
        check=False,
    ).returncode


def shared_out(jobs: int) -> list[str]:
    """pytest's options for so many processes."""
    return ["-n", str(jobs), "--dist=worksteal"] if jobs > 1 else []


def run_installed(package: str, prefix: Path, work: Path, jobs: int, quiet: bool = False) -> int:
    """A suite from its installed package, in a folder that has none of the sources."""
    options = ["-q", "--durations=12", "-p", "no:cacheprovider", *shared_out(jobs), "--pyargs", package]
    return run_python(["-B", "-m", "pytest", *options], prefix, work, quiet)


def run_opinfo(prefix: Path, work: Path, jobs: int, quiet: bool = False) -> int:
    """Every sample of PyTorch's databases; an interrupted run is carried on. Leaves opinfo.json and opinfo.svg in `work`."""
    files = ["--json", "full.json", "--summary", "opinfo.json", "--svg", "opinfo.svg"]
    return run_python(["-m", OPINFO, "--jobs", str(jobs), *files, "--resume"], prefix, work, quiet)


def run_python(arguments: list[str], prefix: Path, work: Path, quiet: bool, extra: dict[str, str] | None = None) -> int:
    """Python of the environment in the folder `work`, with the environment's variables and the `extra` ones."""
    work.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [prefix / "bin/python", *arguments],
        env=demo.environment_variables(prefix) | (extra or {}),
        cwd=work,
        check=False,
        stdout=sys.stderr if quiet else None,
    ).returncode


def has_sanitizers(layout: Layout) -> bool:
    """Whether the project has tests for instrumented builds."""
    return (layout.root / sanitize.TESTS).is_dir()


def run_sanitizers(layout: Layout, prefix: Path, jobs: int, quiet: bool = False) -> int:
    """The core, compiled with each set of sanitizers, under the tests made for it; needs CMake and Ninja."""
    return sanitize.check_all(layout, prefix / "bin/python", jobs, [str(sanitize.TESTS)], quiet)
