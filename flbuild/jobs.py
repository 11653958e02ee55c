"""Run a worker with the right environment, and show why it failed."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from flbuild import children
from flbuild.errors import DISK_FULL_TEXT, UserError, disk_full
from flbuild.layout import Layout

LOG_TAIL = 40  # lines of a failing log that are shown


def ccache_wrapper(layout: Layout, used: bool = True) -> str | None:
    """A folder for PATH whose ccache keeps its files here, or only calls the compiler; build scripts run with a foreign HOME and no
    other variables.
    """
    ccache = shutil.which("ccache")
    if not ccache:
        return None
    folder = layout.quarantine("bin")
    wrapper, disabled = folder / "ccache", "" if used else " CCACHE_DISABLE=1"
    wrapper.write_text(f'#!/bin/sh\nexport CCACHE_DIR="{layout.ccache}" CCACHE_MAXSIZE=2G{disabled}\nexec "{ccache}" "$@"\n')
    wrapper.chmod(0o755)
    return str(folder)


def run(
    layout: Layout,
    job: dict,
    name: str,
    jobs: int,
    cache: Path,
    on_line: Callable[[str], None] = lambda line: None,
    variables: Mapping[str, str] = MappingProxyType({}),
    compiler_cache: bool = True,
) -> None:
    """Run a worker; on failure show the end of the log that tells why.

    Args:
        variables: of the environment, for the recipe alone: nothing that runs later sees them.

    Raises:
        UserError: it failed.
    """
    log = layout.logs / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    file = layout.work / f"{name}.json"
    file.write_text(json.dumps(job, indent=1))
    search = [folder for folder in (ccache_wrapper(layout, compiler_cache), os.environ.get("PATH", os.defpath)) if folder]
    scratch = layout.quarantine("tmp")
    env = os.environ | {
        "TMPDIR": str(scratch),
        "PATH": os.pathsep.join(search),
        "PYTHONPATH": str(layout.root),
        "RATTLER_CACHE_DIR": str(cache),
        "CPU_COUNT": str(jobs),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs),
        **variables,
    }
    if children.run([sys.executable, "-B", "-m", "flbuild.worker", str(file)], log, layout.work, env, on_line) == 0:
        return
    text = log.read_text(errors="replace")
    for script_log in sorted(
        Path(job.get("output", os.devnull)).glob("bld/*/work/conda_build.log"), key=os.path.getmtime
    )[-1:]:
        shutil.copy(script_log, layout.logs / f"{name}-script.log")
        log, text = layout.logs / f"{name}-script.log", script_log.read_text(errors="replace") + last_error(text)
    if DISK_FULL_TEXT in text:
        raise disk_full(layout.artifacts)
    print("\n".join(text.splitlines()[-LOG_TAIL:]), file=sys.stderr)
    raise UserError(f"{job['kind']} failed: {last_error(text).strip()}; the whole log is {log}")


def last_error(text: str) -> str:
    """The sentence of the exception that ended a worker."""
    lines = [line for line in text.splitlines() if "Error: " in line or "FAILED" in line]
    return "\n" + lines[-1].split("PyRattlerBuildError: ")[-1] if lines else "\nsee above"
