"""Where dependencies come from: a conda channel within reach, or the seed."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rattler import Channel, ChannelConfig, Config
from ruamel.yaml import YAML, YAMLError

SECONDS = 3.0


def condarc_files() -> list[Path]:
    """conda's configuration files, the most specific first."""
    home = Path.home()
    named = [Path(os.environ["CONDARC"])] if os.environ.get("CONDARC") else []
    return [
        *named,
        home / ".condarc",
        home / ".conda" / ".condarc",
        home / ".config/conda/.condarc",
        Path("/etc/conda/.condarc"),
    ]


def configured() -> list[str]:
    """URLs of the channels this machine is set up for, conda-forge last.

    Read are conda's files and those shared by pixi, rattler-build and their kin; a mirror of a channel comes before it.
    """
    names: list[str] = []
    config = ChannelConfig()
    for file in condarc_files():
        try:
            said = YAML(typ="safe").load(file.read_text()) or {}
        except (OSError, YAMLError, UnicodeDecodeError):
            continue
        if not isinstance(said, dict):
            continue
        if isinstance(said.get("channel_alias"), str):
            config = ChannelConfig(channel_alias=said["channel_alias"].rstrip("/") + "/")
        names += [str(name) for name in said.get("channels") or []]
        names += [
            f"{url.rstrip('/')}/{name}" if not url.rstrip("/").endswith(name) else url
            for name, url in (said.get("custom_channels") or {}).items()
        ]
    try:
        shared = Config.load_from_default_locations()
        names += list(shared.default_channels or [])
        mirrors = {str(k): list(v) for k, v in dict(shared.mirrors or {}).items()}
    except Exception:  # a broken file of another tool must not stop a build that does not need it
        mirrors = {}
    urls = [
        str(Channel(name, config).base_url)
        for name in names + ["conda-forge"]
        if name not in ("defaults", "nodefaults")
    ]
    ordered: dict[str, None] = {}
    for url in urls:
        for mirror in mirrors.get(url, []) + mirrors.get(url.rstrip("/"), []):
            ordered[mirror] = None
        ordered[url] = None
    return list(ordered)


def answers(url: str) -> bool:
    """Whether a channel has packages for us and says so within `SECONDS`."""
    request = urllib.request.Request(f"{url.rstrip('/')}/linux-64/repodata.json.zst", method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.status == 200
    except (OSError, ValueError):
        return False


def choose(asked: list[str], seed_url: str) -> tuple[list[str], str]:
    """The channels to use, and why.

    Args:
        asked: `["auto"]`, or any of `seed`, names and URLs, in order of priority.
        seed_url: the URL that stands for `seed`.
    """
    if asked != ["auto"]:
        return [seed_url if name == "seed" else str(Channel(name).base_url) for name in asked], "as asked"
    candidates = configured()
    with ThreadPoolExecutor(max_workers=len(candidates)) as pool:
        found = [url for url, good in zip(candidates, pool.map(answers, candidates), strict=True) if good]
    if found:
        return found, "configured or conda-forge, and within reach"
    return [seed_url], f"no conda channel answered within {SECONDS:.0f} s"
