"""The version of a wheel, for scikit-build-core: torch-fl's, and a local label that says which SDK it is for.

`FLAGOS_WHEEL_LOCAL` names the label; without it that is the SDK and its version (`0.1.0+maca3.8.1.3`), where the platform has one and
`FLAGOS_SDK_VERSION` says which. An index keeps wheels of several SDKs apart by it; conda packages have their build string for that.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from facts import read_toml  # beside this file

ROOT = Path(__file__).resolve().parents[1]
LABEL = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*", re.IGNORECASE)  # PEP 440


def local_label(platform: str, sdk_version: str) -> str:
    """`maca3.8.1.3` and the like; empty for a platform without an SDK, or where its version is unknown."""
    file = ROOT / "src" / "platforms" / platform / "platform.toml"
    sdk = read_toml(file).get("sdk") if file.is_file() else None  # CMake says what is wrong with the name
    return f"{sdk['name']}{sdk_version}" if sdk and sdk_version else ""


def dynamic_metadata(field: str, settings: dict | None = None, project: dict | None = None) -> str:
    """What scikit-build-core asks for.

    Raises:
        RuntimeError: `FLAGOS_WHEEL_LOCAL` is no label.
    """
    version = re.search(r'"(.+)"', (ROOT / "python/torch_fl/_version.py").read_text("utf-8").splitlines()[-1])[1]
    label = os.environ.get("FLAGOS_WHEEL_LOCAL", local_label(os.environ.get("FLAGOS_ACCELERATOR", "host"), os.environ.get("FLAGOS_SDK_VERSION", "")))
    if label and not LABEL.fullmatch(label):
        raise RuntimeError(f"FLAGOS_WHEEL_LOCAL={label} is no local version label; write letters, digits and dots, such as maca3.8.1.3")
    return f"{version}+{label}" if label else version
