"""Which revision of the sources a package was made of: the keys of CEP 31, in its info/about.json.

rattler-build has an option for them on its command line (`--extra-meta`) and none in its Python interface, so they are put into
packages that are finished. Nothing of what a package installs changes by that.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from backports import zstd

# Runs of the services that build for people, as they number them.
RUNS = {"GITHUB_RUN_ID": "github", "CI_PIPELINE_ID": "gitlab", "BUILD_BUILDID": "azure"}


def git(root: Path, *arguments: str) -> str | None:
    """What git prints in the clone; None where it fails, or where there is no git or no clone."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def source(root: Path, paths: Iterable[str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Where the sources are from.

    Args:
        root: the clone.
        paths: what packages are made of, relative to it.

    Returns:
        `sha`, `remote_url` and `flow_run_id`, each where it is known; nothing at all where one of the files is not as committed.
    """
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top) != root.resolve() or git(root, "status", "--porcelain", "--", *paths) != "":
        return {}
    found = {"sha": git(root, "rev-parse", "HEAD"), "remote_url": public(git(root, "remote", "get-url", "origin"))}
    found["flow_run_id"] = next((f"{service}_{environment[name]}" for name, service in RUNS.items() if environment.get(name)), None)
    return {key: value for key, value in found.items() if value}


def public(address: str | None) -> str | None:
    """A remote as others may read it: without a password or a token; None for a folder of this machine."""
    if not address or "://" not in address:
        return address if address and "@" in address and ":" in address else None  # git@host:owner/name has no password
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.scheme != "file" else None


def stamp(package: Path, said: Mapping[str, str]) -> None:
    """Put the keys into a finished `.conda` file, which is replaced when the new one is whole; its payload is copied as it is."""
    if not said:
        return
    partial = package.with_name(package.name + ".partial")
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(partial, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            new.writestr(entry, _with_extra(content, said) if entry.filename.startswith("info-") else content)
    partial.replace(package)


def _with_extra(packed: bytes, said: Mapping[str, str]) -> bytes:
    """The tar of info/, packed as before, whose about.json has the keys besides what else `extra` had."""
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(zstd.decompress(packed))) as old, tarfile.open(fileobj=made, mode="w") as new:
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else b""
            if member.name == "info/about.json":
                about = json.loads(content)
                content = json.dumps(about | {"extra": about.get("extra", {}) | said}, indent=2, sort_keys=True).encode()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content) if member.isfile() else None)
    return zstd.compress(made.getvalue())
