"""The running interpreter, copied into a prefix and moved, stands on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flbuild.seed import interpreter

REPORT = """
import ctypes, json, site, ssl, sys, sysconfig, zlib
print(json.dumps({"prefix": sys.prefix, "paths": sysconfig.get_paths(), "path": sys.path,
                  "stdlib": json.__file__, "ctypes": __import__("_ctypes").__file__}))
"""
DEBIAN = Path("/usr/bin/python3")


def candidates() -> list[str]:
    """This interpreter, and the system's when it is another one and can be tried."""
    found = [sys.executable]
    if DEBIAN.exists() and DEBIAN.resolve() != Path(sys._base_executable).resolve():
        found.append(str(DEBIAN))
    return found


@pytest.mark.parametrize("python", candidates(), ids=["this", "system"][: len(candidates())])
def test_a_moved_copy_finds_everything_below_itself(python: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    made, moved = tmp_path / "made", tmp_path / "moved elsewhere"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root)}
    version = subprocess.check_output(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True
    ).strip()
    subprocess.run([python, "-B", "-m", "flbuild.seed.interpreter", made], env=env, check=True)
    made.rename(moved)
    packages = moved / f"lib/python{version}/site-packages"
    (packages / "one_module.py").write_text("x = 1\n")
    done = subprocess.run(
        [moved / "bin/python", "-I", "-c", REPORT + "import one_module"],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["prefix"] == str(moved)
    assert said["paths"]["purelib"] == said["paths"]["platlib"] == str(packages)
    assert all(
        value == str(moved) or value.startswith(f"{moved}/")
        for value in (*said["paths"].values(), said["stdlib"], said["ctypes"])
    )
    assert all(entry.startswith(str(moved)) for entry in said["path"])
    assert Path(said["paths"]["include"], "Python.h").is_file()
    assert not list(moved.rglob("EXTERNALLY-MANAGED"))


def test_only_the_interpreter_s_own_folders_are_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "data.py"
    file.write_text(
        "a = '/usr'\nb = '/usr/lib/python3.11'\nc = '/usr/lib/x86_64-linux-gnu'\nd = '-L/usr/share /opt/usr'\n"
    )
    interpreter.rewrite_prefix(file, "/usr", "/new", "3.11")
    assert (
        file.read_text()
        == "a = '/new'\nb = '/new/lib/python3.11'\nc = '/usr/lib/x86_64-linux-gnu'\nd = '-L/usr/share /opt/usr'\n"
    )
    file.write_text("a = '/home/me/py'\nb = '/home/me/py/share'\nc = '/home/me/python'\n")
    interpreter.rewrite_prefix(file, "/home/me/py", "/new", "3.11")
    assert file.read_text() == "a = '/new'\nb = '/new/share'\nc = '/home/me/python'\n"
