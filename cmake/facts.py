"""Write what a build is: compatibility.json, and platform.json, the platform's facts for the running program. And name a wheel.

Run by CMake when it configures, and asked by scikit-build-core for a wheel's version. Facts that are not known are left out: an absent `sdk_version` means unknown, and never
"any". What is named here describes the artefact; the ranges that an installation must keep to are the package's own.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LABEL = re.compile(r"[a-z0-9]+(\.[a-z0-9]+)*", re.IGNORECASE)  # PEP 440
# Neighbours whose versions at build time are evidence of what the build was tried with.
NEIGHBOURS = ("flagtree", "flag-gems", "flagcx")


def read_toml(path: Path) -> dict:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10; scikit-build-core brings it there
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            sys.exit(f"{path} cannot be read by Python 3.10 alone; install tomli: {sys.executable} -m pip install tomli")
    return tomllib.loads(path.read_text("utf-8"))


def installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def uses_cxx11_abi(libc10: Path) -> bool:
    """Whether PyTorch was compiled with the C++11 ABI of libstdc++: it shows in the names that its libraries export."""
    return b"__cxx11" in libc10.read_bytes()


def vendors_core(folder: str) -> dict:
    """Of a vendor's core of PyTorch that kernels were linked with: the package that holds it, and the vendor's version.

    A bundle of ours says which; of a folder that somebody names, `FLAGOS_VENDOR_TORCH_VERSION` has to, or it is not known.
    """
    if not folder:
        return {}
    bundle = Path(folder) / "libtorch.json"
    version = json.loads(bundle.read_text("utf-8"))["vendor_torch_version"] if bundle.is_file() else os.environ.get("FLAGOS_VENDOR_TORCH_VERSION") or None
    return {"bundled_libtorch": "torch-fl-libtorch", "vendor_torch_version": version}


def compatibility(given: argparse.Namespace, platform: dict) -> dict:
    """The content of compatibility.json."""
    minor = "{}.{}".format(*sys.version_info[:2])
    emulated = given.emulated_sdk or platform.get("emulated", False)
    facts = {
        "schema": 1,
        "version": given.version,
        "platform": platform["id"],
        "sdk": platform.get("sdk", {}).get("title"),
        "sdk_version": given.sdk_version or None,
        "emulated": emulated,
        "emulated_sdk": given.emulated_sdk,
        "kernel_sets": given.kernel_sets,
        "python": minor,
        "python_requires": f"=={minor}.*",
        "torch_version": given.torch_version,
        "torch_cxx11_abi": uses_cxx11_abi(given.libc10),
        **vendors_core(given.libtorch),
        "pins": {name: pin for name, pin in platform.get("pins", {}).items() if pin != "none"},
        "build_versions": {name: version for name in NEIGHBOURS if (version := installed(name))},
        "flaggems_vendor": None if emulated else platform.get("triton", {}).get("flaggems_vendor"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def local_label(platform: str, sdk_version: str) -> str:
    """`maca3.8.1.3` and the like; empty for a platform without an SDK, or where its version is unknown."""
    file = ROOT / "src" / "platforms" / platform / "platform.toml"
    sdk = read_toml(file).get("sdk") if file.is_file() else None  # CMake says what is wrong with a name
    return f"{sdk['name']}{sdk_version}" if sdk and sdk_version else ""


def dynamic_metadata(settings: dict, project: dict) -> dict[str, str]:
    """A wheel's version: torch-fl's, and a local label that says which SDK it is for, so that an index keeps wheels of several apart.

    `FLAGOS_WHEEL_LOCAL` names the label; without it that is the SDK and its version, where the platform has one and
    `FLAGOS_SDK_VERSION` says which.

    Raises:
        RuntimeError: `FLAGOS_WHEEL_LOCAL` is no label.
    """
    version = re.search(r'"(.+)"', (ROOT / "python/torch_fl/_version.py").read_text("utf-8").splitlines()[-1])[1]
    label = os.environ.get("FLAGOS_WHEEL_LOCAL", local_label(os.environ.get("FLAGOS_ACCELERATOR", "host"), os.environ.get("FLAGOS_SDK_VERSION", "")))
    if label and not LABEL.fullmatch(label):
        raise RuntimeError(f"FLAGOS_WHEEL_LOCAL={label} is no local version label; write letters, digits and dots, such as maca3.8.1.3")
    return {"version": f"{version}+{label}" if label else version}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--platform-file", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--sdk-version", default="")
    parser.add_argument("--emulated-sdk", type=lambda text: text.upper() in ("ON", "1", "TRUE", "YES"), default=False)
    parser.add_argument("--kernel-sets", type=lambda text: [name for name in text.split(";") if name], default=[])
    parser.add_argument("--torch-version", required=True)
    parser.add_argument("--libc10", type=Path, required=True)
    parser.add_argument("--libtorch", default="", help="the bundle of a vendor's core of PyTorch")
    given = parser.parse_args()
    platform = read_toml(given.platform_file)
    siblings = given.platform_file.parent.parent.glob("*/platform.toml")
    known = sorted({platform["id"], *(path.parent.name for path in siblings)})
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, facts in {"compatibility": compatibility(given, platform), "platform": platform | {"known_platforms": known}}.items():
        (given.folder / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
