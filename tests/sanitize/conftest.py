"""Fixtures of the tests that run under a sanitizer; `python -m flbuild.sanitize` starts them."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = {"address": "address,undefined", "thread": "thread"}

if os.environ.get("TORCH_FL_SANITIZE") not in FLAGS:
    raise pytest.UsageError("these tests need a sanitizer: run `python -m flbuild.sanitize address` or `... thread`")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile one C++ file with the sanitizer of this run: (source, *options) -> the program or library."""

    def compile_(source, *options):
        made = tmp_path_factory.mktemp("compiled") / "made"
        command = [os.environ["CXX"], "-std=c++20", "-O1", "-g", "-pthread", f"-I{ROOT / 'src' / 'abi'}", *options]
        flag = f"-fsanitize={FLAGS[os.environ['TORCH_FL_SANITIZE']]}"
        clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        subprocess.run([*command, flag, str(HERE / source), "-o", str(made), "-ldl"], env=clean, check=True)
        return made

    return compile_
