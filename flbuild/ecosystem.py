"""The ecosystem suite: pinned libraries from PyPI, in a clone of the test environment that nobody else uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rattler import RepoDataRecord

from flbuild import environment, pip, solve, testing
from flbuild.digest import sha256_text
from flbuild.errors import UserError
from flbuild.layout import Layout, remove
from flbuild.report import Report, Stage

MARKER = ".ecosystem"  # what the clone holds; written when it is whole
FOLDER = Path("tests/ecosystem")
REMAKE = "make the list again for what is installed: python -m flbuild.seed.pin --ecosystem {}/bin/python"


def pinned(root: Path, records: list[RepoDataRecord]) -> Path:
    """The hashed list for the environment's Python; it may not be there."""
    version = next(str(record.version) for record in records if record.name.normalized == "python")
    return root / FOLDER / "requirements" / f"py{''.join(version.split('.')[:2])}.txt"


def run(layout: Layout, report: Report, variant: str, urls: list[str], wanted: list[str], jobs: int) -> int:
    """Install what the list names, then run the suite in a folder that has none of the sources.

    Args:
        urls: channels, the first one first.
        wanted: match specs of the test environment.
        jobs: processes that share the suite.

    Returns:
        pytest's exit status; 0 where no set of libraries is pinned for this Python, which is said.

    Raises:
        UserError: an installation failed, or it touched what the environment had before.
    """
    name = f"{variant}-ecosystem"
    lock = layout.work / f"{name}.lock"
    records = solve.lock(urls, wanted, lock)
    listed = pinned(layout.root, records)
    if not listed.is_file():
        report.say(f"\nno libraries are pinned for this Python ({listed.stem}), so the ecosystem suite does not run")
        return 0
    prefix = layout.environment(name)
    with report.stage("ecosystem libraries") as stage:
        clone(layout, prefix, lock, records, listed, stage)
    report.say("\necosystem tests of the installed packages", style="bold")
    with report.stage("ecosystem tests"):
        return tests(layout, prefix, jobs, report.as_json)


def clone(layout: Layout, prefix: Path, lock: Path, records: list[RepoDataRecord], listed: Path, stage: Stage) -> None:
    """Make the environment from nothing, unless it is what lock and list say: pip leaves what older lists brought."""
    holds = sha256_text(lock.read_text(), listed.read_text())
    marker = prefix / MARKER
    if marker.is_file() and marker.read_text() == holds:
        stage.skip("unchanged")
        return
    remove(prefix)
    environment.make(prefix, lock, records, layout.package_cache / "pkgs", stage)
    before = files_of_packages(prefix)
    count = install(layout, prefix, listed, stage)
    changed = [file for file, (package, state) in before.items() if fingerprint(prefix / file) != state]
    if changed:
        raise UserError(
            f"the libraries of {listed} replaced {changed[0]} of {before[changed[0]][0]}; {REMAKE.format(prefix)}"
        )
    marker.write_text(holds)
    stage.detail = f"{len(records)} packages and {count} wheels, hashes checked"


def install(layout: Layout, prefix: Path, listed: Path, stage: Stage) -> int:
    """pip into the environment: what the list names and nothing else.

    Returns:
        how many wheels that were.
    """
    total, seen = listed.read_text().count("=="), 0

    def count(line: str) -> None:
        nonlocal seen
        if line.startswith("Collecting "):
            seen += 1
            stage.advance(seen, total, line.split()[1].split("=")[0])

    python = ["--python", str(prefix / "bin/python")]
    options = [
        "--require-hashes",
        "--no-deps",
        "--only-binary=:all:",
        "--cache-dir",
        str(layout.artifacts / "cache/pip"),
    ]
    pip.run(sys.executable, [*python, "install", *options, "-r", str(listed)], layout.logs / "ecosystem.log", count)
    check = [sys.executable, "-m", "pip", "--disable-pip-version-check", *python, "check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(
            f"the libraries of {listed} do not go together: {done.stdout.strip().splitlines()[0]}; {REMAKE.format(prefix)}"
        )
    return total


def fingerprint(file: Path) -> tuple[int, int, int] | None:
    """What a file that is written again cannot keep."""
    if not (file.is_symlink() or file.is_file()):
        return None
    state = file.lstat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def files_of_packages(prefix: Path) -> dict[str, tuple[str, tuple[int, int, int] | None]]:
    """Path in the prefix -> its package, and its state now."""
    return {
        file: (record.stem, fingerprint(prefix / file))
        for record in sorted((prefix / "conda-meta").glob("*.json"))
        for file in json.loads(record.read_text())["files"]
        if not file.endswith(".pyc")  # Python writes these again as it likes
    }


def tests(layout: Layout, prefix: Path, jobs: int, quiet: bool) -> int:
    """pytest over the suite; caches that libraries make go where the next run removes them."""
    work = layout.quarantine("ecosystem")
    caches = {"HF_HOME": str(work / "hub"), "XDG_CACHE_HOME": str(work / "cache")}
    options = ["-q", "-p", "no:cacheprovider", *testing.shared_out(jobs), f"--rootdir={layout.root}"]
    return testing.run_python(["-B", "-m", "pytest", *options, str(layout.root / FOLDER)], prefix, work, quiet, caches)
