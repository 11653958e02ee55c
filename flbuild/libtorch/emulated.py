"""A vendor's PyTorch where there is no vendor's: the official one's libraries with an emulated device's beside them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flbuild.errors import UserError
from flbuild.layout import Layout, remove
from flbuild.libtorch.official import Official
from flbuild.platforms import Variant
from flbuild.report import Stage

SOURCES = Path("tests") / "emulation"


def folder_of(layout: Layout, variant: Variant) -> Path:
    return layout.artifacts / "emulated-libtorch" / variant.name


def libraries(layout: Layout, variant: Variant) -> Path:
    """Where the emulated libraries lie once they are compiled."""
    return folder_of(layout, variant) / "build" / "lib"


def make(layout: Layout, variant: Variant, official: Official, stage: Stage) -> Path:
    """Compile the emulated libraries of `tests/emulation/<platform>/libtorch` and put the folder `torch` of a wheel together.

    Raises:
        UserError: nobody has emulated this vendor's, or it does not compile.
    """
    program = layout.root / SOURCES / variant.platform.id / "libtorch" / "make_wheel.py"
    if not program.is_file():
        raise UserError(f"{variant.platform.name} has no emulated PyTorch in {program.parent}: leave --with boxing out, or write one.")
    folder = folder_of(layout, variant)
    python = official.prefix / "bin" / "python"
    log = layout.logs / f"emulated-libtorch-{variant.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    remove(folder / "torch")
    build = folder / "build"
    targets = [name.removeprefix("lib").partition(".so")[0] for name in variant.platform.libtorch.device]
    definitions = {"TORCH_FL_PLATFORM": variant.platform.id, "TORCH_FL_EMULATED": "ON", "TORCH_FL_UNITY": "ON", "Python_EXECUTABLE": python}
    steps = (
        ["cmake", "-S", layout.root, "-B", build, "-G", "Ninja", *(f"-D{name}={value}" for name, value in definitions.items())],
        ["cmake", "--build", build, "--target", *targets],
        [sys.executable, "-B", program, "--torch", official.lib.parent, "--libraries", libraries(layout, variant), "--output", folder,
         "--label", f"{variant.platform.id}{variant.sdk_version}"],
    )  # fmt: skip
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"CCACHE_DIR": str(layout.ccache)}
    with log.open("w") as output:
        for number, step in enumerate(steps):
            stage.advance(number, len(steps), "emulated PyTorch")
            if subprocess.run(step, env=env, stdout=output, stderr=output, check=False).returncode:
                raise UserError(f"the emulated PyTorch of {variant.platform.name} failed to build; see {log}")
    return folder / "torch"
