"""Hash-checked downloads by pip, with its errors made into sentences. Standard library only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from flbuild import errors
from flbuild.errors import UserError

NETWORK = ("NewConnectionError", "ConnectTimeout", "ReadTimeout", "Max retries", "Name or service not known", "getaddrinfo",
           "ProxyError", "SSLError", "Temporary failure in name resolution", "Connection refused", "Network is unreachable")  # fmt: skip


class NotFound(UserError):
    """No index or folder that pip knows has the release."""


def run(
    python: Path | str, arguments: list[str], log: Path, on_line: Callable[[str], None] = lambda line: None
) -> None:
    """Run `python -m pip ARGUMENTS`; its whole output goes to `log`.

    Raises:
        UserError: pip failed; the sentence says why.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        str(python),
        "-m",
        "pip",
        "--no-input",
        "--disable-pip-version-check",
        *arguments,
        "--retries",
        "2",
        "--progress-bar",
        "off",
    ]
    with log.open("w") as sink:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        try:
            for line in process.stdout:
                sink.write(line)
                on_line(line)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
    if process.returncode:
        raise explain(log.read_text(), log)


def explain(output: str, log: Path) -> UserError:
    """The sentence for a failed pip run."""
    if errors.DISK_FULL_TEXT in output:
        return errors.disk_full(log.parent)
    mismatch = re.search(
        r"^\s+(\S.*?) from (\S+).*\n\s+Expected sha256 (\w+)(?:\n\s+Expected .*)*\n\s+Got\s+(\w+)", output, re.MULTILINE
    )
    if mismatch:
        _what, where, expected, got = mismatch.groups()
        wheel = where.split("#")[0].rsplit("/", 1)[-1]
        return UserError(
            f"the wheel {wheel} is not the one that was pinned (sha256 expected {expected}, got {got}): it is corrupted or was"
            " replaced; run `python3 -m pip cache purge` and try again, and do not use it if that does not help."
        )
    reason = next((word for word in NETWORK if word in output), None)
    if reason:
        said = next(line.strip() for line in output.splitlines() if reason in line)
        return UserError(
            f"PyPI cannot be reached ({shorten(said)}); check the network or pip's proxy and index settings (pip config list)."
        )
    missing = re.search(r"No matching distribution found for (\S+)", output)
    if missing:
        return NotFound(
            f"PyPI, as pip is configured here, has no {missing[1]} for this Python; see {log} and `pip config list`."
        )
    said = [line.removeprefix("ERROR:").strip() for line in output.splitlines() if line.startswith("ERROR:")]
    return UserError(f"pip failed: {shorten(said[-1] if said else output.strip()[-200:])}; its whole output is {log}")


def shorten(text: str, limit: int = 240) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def download_bytes(requirements: Path) -> int:
    """The size of all wheels of a list, as its head line says."""
    said = re.search(r"^# download-bytes: (\d+)", requirements.read_text(), re.MULTILINE)
    return int(said[1]) if said else 0
