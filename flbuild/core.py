"""The core that another platform's build of the same sources has compiled: a machine with many platforms compiles it once.

The core knows no platform, so libtorch_fl.so is the same for all of them where Python, PyTorch, compiler and sources are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rattler.package_streaming import extract

from flbuild.layout import Layout

VARIABLE = "FLAGOS_CORE_LIBRARY"  # read by the recipe
NONE = "none"  # its word for an absent value
BUNDLE = "libtorch"  # key of an identity: a vendor's core of PyTorch, which kernels are linked with and this core is not
PACKAGE = "torch-fl-runtime-"
LIBRARY = Path("lib", "libtorch_fl.so")


def without_variant(identity: Mapping[str, str], name: str) -> dict[str, str]:
    """What decides a build of the core, which is the same for all platforms."""
    return {key: value for key, value in identity.items() if not key.endswith(f"/{name}.yaml") and key != BUNDLE}


def compiled(layout: Layout, records: Path, name: str, identity: Mapping[str, str]) -> Path | None:
    """The core out of the published packages of another variant, in a folder that goes with the build; None where there is none.

    Args:
        records: folder with a record of each published variant.
        name: the variant to be built.
        identity: everything that decides its packages. The base channel is part of it, and must have one Python and one
            PyTorch only.
    """
    wanted = without_variant(identity, name)
    for file in sorted(records.glob("*.json")):
        record = json.loads(file.read_text())
        if file.stem == name or without_variant(record["identity"], file.stem) != wanted:
            continue
        package = next((layout.channel / path for path in record["packages"] if Path(path).name.startswith(PACKAGE)), None)
        if package is not None and package.is_file():
            folder = layout.quarantine("core")
            extract(package, folder)
            return folder / LIBRARY
    return None
