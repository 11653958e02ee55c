"""What the system's loader finds for a library, asked of the loader itself: its rules are its own, and nothing is run."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

NEEDED = re.compile(r"^\s*(\S+) => (?:(/.*) \(0x[0-9a-f]+\)|not found)$", re.MULTILINE)
VERSION = re.compile(r"version `([^']+)' not found \(required by ([^)]+)\)")


@dataclass(frozen=True)
class Needs:
    """What a library needs, itself and through others.

    Args:
        found: name -> file; None where there is none.
        versions: the versions of symbols that a found file lacks, as sentences.
        searched: name -> the folders in which the loader looked, with the rule that sent it there.
        fault: why the loader refuses the library altogether.
    """

    found: dict[str, str | None]
    versions: list[str]
    searched: dict[str, str]
    fault: str = ""


def program() -> str | None:
    """The loader that started this process; None where it is not glibc's."""
    found = re.search(r"/\S*/ld-linux[^/\s]*\.so\.\d", Path("/proc/self/maps").read_text())
    return found[0] if found else None


def ask(library: Path) -> Needs:
    """What a library needs and where the loader finds it, with this process's LD_LIBRARY_PATH.

    Raises:
        OSError: there is no loader of glibc.
    """
    loader = program()
    if loader is None:
        raise OSError("this process was not started by glibc's loader")
    done = _trace(loader, library)
    found = {name: file or None for name, file in NEEDED.findall(done.stdout)}
    versions = [f"{Path(of).name} needs version {version}" for version, of in VERSION.findall(done.stdout + done.stderr)]
    fault = "" if found or versions or not done.returncode else (done.stderr.strip().splitlines() or ["without a word"])[-1]
    return Needs(found, versions, _searched(loader, library) if None in found.values() else {}, fault)


def _trace(loader: str, library: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As ldd does: the loader's own --list ends at the first library that it does not find."""
    environ = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1", **variables}
    return subprocess.run([loader, str(library)], capture_output=True, text=True, timeout=60, check=False, env=environ)


def _searched(loader: str, library: Path) -> dict[str, str]:
    trace = _trace(loader, library, LD_DEBUG="libs")
    places: dict[str, dict[str, None]] = {}
    name = ""
    for line in (trace.stdout + trace.stderr).splitlines():
        if started := re.search(r"find library=(\S+)", line):
            name = started[1]
        elif tried := re.search(r"search (?:path|cache)=\S*?\s*(?:\((\w+)[^)]*\))?$", line):
            places.setdefault(name, {})[tried[1] or ("the system's cache" if "cache=" in line else "the system's folders")] = None
        elif tried := re.search(r"trying file=(\S+)/", line):
            places.setdefault(name, {})[tried[1]] = None
    hidden = re.compile(r"/(glibc-hwcaps|tls|x86_64|haswell|avx512_1)(/|$)")
    return {name: ", ".join(place for place in found if not hidden.search(place)) for name, found in places.items()}
