"""pytest over each file in processes of their own, several at a time, with time limits; then the benchmarks, one at a time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from carried.files import Files, TestFile

NO_TESTS = 5  # pytest's status when it found none
PYTEST = ("-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "_hypothesis_pytestplugin")
# A worker that crashes or hangs is replaced, and costs one test and not the file.
WORKER = ("-n", "1", "--max-worker-restart=20", "-o", "faulthandler_exit_on_timeout=true")


@dataclass(frozen=True)
class Limits:
    test: int
    file: int
    deadline: float | None  # of time.monotonic()

    def left(self) -> float:
        """Seconds that a file which begins now has."""
        return self.file if self.deadline is None else min(self.file, self.deadline - time.monotonic())


@dataclass(frozen=True)
class Outcome:
    """How a file's process ended."""

    name: str
    junit: Path
    problem: str  # why there is no whole report; empty where there is one
    status: int

    @property
    def failed(self) -> bool:
        return bool(self.problem) or self.status not in (0, NO_TESTS)


def run(files: Files, root: Path, env: dict[str, str], logs: Path, jobs: int, limits: Limits) -> list[Outcome]:
    """Run all files, `jobs` at a time, then those that want to be alone; one line is printed for each.

    Args:
        root: where the archive is unpacked.
    """

    def one(file: TestFile) -> Outcome:
        begun = time.monotonic()
        outcome = run_file(file, root, env, logs, limits)
        print(f"{time.monotonic() - begun:7.1f} s  {file.name}: {outcome.problem or ('FAILED' if outcome.failed else 'passed')}", flush=True)
        return outcome

    outcomes = []
    for group, width in ((files.together, jobs), (files.alone, 1)):
        with ThreadPoolExecutor(width) as pool:
            outcomes += pool.map(one, group)
    return outcomes


def run_file(file: TestFile, root: Path, env: dict[str, str], logs: Path, limits: Limits) -> Outcome:
    """One file, in an empty folder, since tests may write where they are started."""
    junit, seconds = logs / f"{file.name}.xml", limits.left()
    if seconds <= 0:
        return Outcome(file.name, junit, "not run, since the time for everything was up", 1)
    command = [sys.executable, "-m", "pytest", *PYTEST, *WORKER, "-o", f"faulthandler_timeout={limits.test}"]
    target = ["--pyargs", file.name] if file.packaged else [f"--rootdir={root / 'tests'}", str(root / file.path)]
    with tempfile.TemporaryDirectory() as folder:
        status = limited([*command, f"--junitxml={junit}", *target], env, Path(folder), logs / f"{file.name}.log", seconds)
    if status is None:
        return Outcome(file.name, junit, f"ended after {seconds:.0f} s, its limit", 1)
    if not junit.is_file():
        return Outcome(file.name, junit, f"pytest ended with status {status} and without a report; see its log", status)
    return Outcome(file.name, junit, "", status)


def limited(command: list[str], env: dict[str, str], cwd: Path, log: Path, seconds: float) -> int | None:
    """The exit status of a command; None where it took too long: then it and all that it started are ended."""
    with log.open("w") as sink:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def benchmark(script: Path, arguments: list[str], env: dict[str, str], output: Path, deadline: float | None) -> int:
    """One benchmark; what it prints goes to `benchmark-<name>.txt`."""
    said = output / f"benchmark-{script.stem}.txt"
    seconds = float("inf") if deadline is None else deadline - time.monotonic()
    status = limited([sys.executable, str(script), *arguments], env, output, said, min(seconds, 1e6)) if seconds > 0 else None
    print(f"{script.name}: {'not ended in time' if status is None else f'status {status}'}; {said}", flush=True)
    return 1 if status is None else status


def pack(logs: Path) -> None:
    """All logs as one file beside their folder, which goes."""
    shutil.make_archive(str(logs), "zip", logs)
    shutil.rmtree(logs)
