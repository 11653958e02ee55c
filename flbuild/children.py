"""Long work runs in a process group of its own, so that nothing of it outlives the driver.

Ctrl-C ends the whole group. After `kill -9` of the driver the group lives on for a while; its number is on disk and
the next run ends it before it touches the folder that the group writes to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

_live: set[int] = set()  # groups of this driver, for the thread that is interrupted while others wait for theirs


def run(
    command: list[str],
    log: Path,
    work: Path,
    env: dict[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> int:
    """Run a command; its output goes to `log`, and each line of standard output to `on_line` when that is given.

    Returns:
        its exit status.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as sink:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if on_line else sink,
            stderr=sink,
            env=env,
            start_new_session=True,
        )
        record = work / f"group.{process.pid}"
        record.touch()
        _live.add(process.pid)
        try:
            for raw in process.stdout or ():
                on_line(raw.decode(errors="replace").rstrip("\n"))
            return process.wait()
        except BaseException:
            end(process.pid)
            process.wait()
            raise
        finally:
            _live.discard(process.pid)
            record.unlink(missing_ok=True)


def end_all() -> None:
    """End every group that this process started and still waits for, in whatever thread."""
    for group in list(_live):
        end(group)


def end(group: int) -> None:
    """End a process group for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return
        time.sleep(0.2)


def reap(work: Path) -> None:
    """End the groups that a killed run left. A number that now belongs to somebody else is not touched."""
    for record in work.glob("group.*"):
        group = int(record.suffix[1:])
        if any(belongs(process, group, work) for process in Path("/proc").glob("[0-9]*")):
            end(group)
        record.unlink(missing_ok=True)


def belongs(process: Path, group: int, work: Path) -> bool:
    """Whether a process is of that group and was started by a driver of this clone."""
    try:
        if int((process / "stat").read_text().rpartition(")")[2].split()[2]) != group:
            return False
        started_here = str(work).encode() in (process / "cmdline").read_bytes()
        return started_here or Path(os.readlink(process / "cwd")).is_relative_to(work)
    except (OSError, ValueError):
        return False
