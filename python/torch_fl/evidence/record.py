"""The file of evidence: what was run where, with which versions, and how it went.

One JSON document (schema 1) a run. Times are UTC, memory is in bytes, durations in seconds. `files` came later: older documents
have none.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform as machine
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from torch_fl.evidence import capabilities

# What a result may depend on, besides the project itself.
DISTRIBUTIONS = ("torch", "torch-fl", "numpy", "flag-gems", "flagtree", "triton", "torch-fl-triton-host", "pytest")

OUTCOMES = ("passed", "skipped", "failed", "error")


def environment() -> dict[str, Any]:
    """Devices, driver, versions and settings of this process."""
    import torch

    flagos, devices = torch.flagos, []
    for index in range(flagos.device_count()):
        major, minor = flagos.get_device_capability(index)
        name, memory = flagos.get_device_name(index), flagos.mem_get_info(index)[1]
        devices.append({"index": index, "name": name, "capability": f"{major}.{minor}", "memory": memory})
    return {
        "platform": capabilities.build()["platform"],
        "emulated": capabilities.build()["emulated"],
        "devices": devices,
        "driver": _driver(capabilities.build(), capabilities.platform(), os.environ),
        "build": capabilities.build(),
        "versions": {"python": machine.python_version(), **_versions()},
        "host": {"system": machine.platform(), "processors": os.cpu_count()},
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith("FLAGOS_")},
    }


def _driver(build: dict[str, Any], facts: dict[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    """What the SDK's and the driver's own programs say about their versions; empty on emulated devices."""
    sdk = facts.get("sdk")
    if build["emulated"] or not sdk:
        return {}
    named = next((environ[name] for name in sdk.get("root_variables", []) if environ.get(name)), sdk["root"])
    commands = {program: [Path(named, program)] for program in sdk.get("version_programs", [])}
    if command := sdk.get("driver_command"):
        commands[command[0]] = command
    return {name: _said(command) for name, command in commands.items()}


def _said(command: Sequence[str | Path]) -> str:
    """What a program prints, or why it does not; of several cards that it says the same of, it counts once."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    return "\n".join(dict.fromkeys((done.stdout or done.stderr).strip().splitlines()))


def _versions() -> dict[str, str]:
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def results(junit: Path) -> dict[str, Any]:
    """What a JUnit report of pytest says: counts, in all and by file with its seconds, and every test that did not pass with its reason.

    Raises:
        ValueError: the file is no such report.
    """
    try:
        cases = list(ElementTree.parse(junit).getroot().iter("testcase"))
        outcomes = [(f"{case.get('classname', '')}::{case.get('name', '')}", *_outcome(case)) for case in cases]
    except (OSError, ElementTree.ParseError) as error:
        raise ValueError(f"{junit} is no report of pytest ({error})") from None
    counts = Counter(outcome for _, outcome, _ in outcomes)
    return {
        "counts": {word: counts[word] for word in OUTCOMES},
        "files": _files(cases),
        "skipped": _reasons(outcomes, "skipped"),
        "failed": _reasons(outcomes, "failed", "error"),
    }


def _files(cases: Sequence[ElementTree.Element]) -> dict[str, dict[str, float]]:
    """Counts and seconds of each file of tests, by its name without the package."""
    files: dict[str, dict[str, float]] = {}
    for case in cases:
        parts = case.get("classname", "").split(".")
        name = next((part for part in reversed(parts) if part.startswith("test_")), parts[-1])
        file = files.setdefault(name, dict.fromkeys((*OUTCOMES, "seconds"), 0))
        file[_outcome(case)[0]] += 1
        file["seconds"] += float(case.get("time") or 0)
    return {name: file | {"seconds": round(file["seconds"], 3)} for name, file in sorted(files.items())}


def _outcome(case: ElementTree.Element) -> tuple[str, str]:
    for tag, word in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        part = case.find(tag)
        if part is not None:
            return word, part.get("message", "").strip()
    return "passed", ""


def _reasons(outcomes: list[tuple[str, str, str]], *words: str) -> dict[str, str]:
    return {name: reason for name, outcome, reason in sorted(outcomes) if outcome in words}


def write(path: Path, about: dict[str, Any], command: list[str], status: int, junit: Path, begun: datetime) -> dict[str, Any]:
    """Write the document and return it.

    Args:
        about: of `environment`.
        status: pytest's exit status.
    """
    ended = datetime.now(timezone.utc)
    document = {
        "schema": 1,
        "begun": begun.isoformat(timespec="seconds"),
        "seconds": round((ended - begun).total_seconds(), 1),
        **about,
        "command": command,
        "status": status,
        **results(junit),
    }
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    os.replace(partial, path)
    return document
