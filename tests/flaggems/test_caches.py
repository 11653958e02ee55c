"""Compiled and tuned kernels go into the user's own folders, and nowhere else: an environment may be one for all."""

import os
import stat
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import torch
x = torch.arange(64, dtype=torch.float32, device="flagos")
assert torch.equal((x + x).cpu(), 2 * torch.arange(64.0))
assert torch.flagos.dispatch_counts().get(("add.Tensor", "flaggems")), torch.flagos.dispatch_counts()
"""


def run(home: Path, **variables: str) -> None:
    """One FlagGems kernel, for a user with that home."""
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLAGOS_", "TRITON_", "FLAGGEMS_", "XDG_"))}
    (home / "my.conf").write_text("add.Tensor = flaggems\n")
    environ = kept | {"HOME": str(home), "FLAGOS_BACKEND_CONFIG": str(home / "my.conf")} | variables
    done = subprocess.run([sys.executable, "-B", "-c", PROGRAM], env=environ, cwd=home, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def written(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} - {"my.conf"}


def test_each_user_has_caches_in_the_home_or_in_the_named_folders_and_nowhere_else(tmp_path):
    run(tmp_path / "ann")
    assert list((tmp_path / "ann" / ".triton" / "cache").rglob("*.so"))
    assert written(tmp_path / "ann") <= {".triton", ".flaggems"}

    caches = {"TRITON_CACHE_DIR": tmp_path / "triton", "FLAGGEMS_CACHE_DIR": tmp_path / "flaggems"}
    run(tmp_path / "bob", **{name: str(folder) for name, folder in caches.items()})
    assert written(tmp_path / "bob") == set()
    libraries = list((caches["TRITON_CACHE_DIR"] / "torch_fl_triton_host").glob("*.so"))
    others = stat.S_IWGRP | stat.S_IWOTH
    assert libraries and not any(library.stat().st_mode & others for library in libraries)  # nobody else can change machine code
