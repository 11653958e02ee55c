"""Run the demonstrations of `examples/` in an environment, and say how to go on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from flbuild.errors import UserError

NAMES = ("digits.py", "transformer.py")


def examples(root: Path) -> list[Path]:
    """The demonstrations there are: the known ones first, then any other script of the folder."""
    found = sorted((root / "examples").glob("*.py"))
    return sorted(found, key=lambda path: (NAMES.index(path.name) if path.name in NAMES else len(NAMES), path.name))


def environment_variables(prefix: Path) -> dict[str, str]:
    """What activation would set, without the tool environment's own search path."""
    search = [p for p in os.environ.get("PATH", os.defpath).split(os.pathsep) if not p.startswith(sys.prefix)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | {"PATH": os.pathsep.join([str(prefix / "bin"), *search]), "CONDA_PREFIX": str(prefix)}


def run(prefix: Path, script: Path, options: Sequence[str] = (), quiet: bool = False) -> None:
    """Run one of them; its output is the person's to read.

    Raises:
        UserError: it failed.
    """
    done = subprocess.run(
        [prefix / "bin/python", script, *options],
        env=environment_variables(prefix),
        stdout=subprocess.DEVNULL if quiet else None,
        check=False,
    )
    if done.returncode:
        raise UserError(f"the demonstration {script} failed with status {done.returncode}; its output is above.")


def closing(prefix: Path, variant: str) -> str:
    """How to use what was made."""
    try:
        shown: Path | str = prefix.relative_to(Path.cwd())
    except ValueError:
        shown = prefix
    return f"""
The environment is {prefix}

  use it         export PATH="{prefix}/bin:$PATH"   (or: conda activate {prefix})
  your script    {shown}/bin/python my_script.py    with device="flagos"
  what runs how  {shown}/bin/python -m torch_fl routes
  Jupyter        {shown}/bin/python -m pip install ipykernel
                 {shown}/bin/python -m ipykernel install --user --name torch-fl-{variant}
  move it        mv works: bin/python and `python -m ...` find their folder; scripts such as bin/torch-fl keep the old one
  remove it      python3 build-locally.py --clean   (all of build_artifacts/)
"""
