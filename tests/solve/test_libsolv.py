"""conda and mamba, whose solver is libsolv, choose what rattler chooses, and refuse what it refuses.

With the program that `python -m tests.solve.libsolv` makes, and TORCH_FL_LIBSOLV names; where there is none, a run of everything makes it.
"""

from __future__ import annotations

import os
import subprocess
from itertools import permutations
from pathlib import Path

import pytest
from rattler.exceptions import SolverError

from . import metadata
from .libsolv.__main__ import main as make
from .metadata import EVERY, driver
from .test_every_build import BUILDS, ONE_EACH

MACHINE = {"unix": "0", "linux": "6.1", "glibc": "2.40", "archspec": "1"}
Request = tuple[tuple[str, ...], dict[str, str]]


def requests() -> list[Request]:
    """What is asked for, and what the machine has: all that the other tests ask, in the words of both."""
    made: list[Request] = [((f"torch-fl=*={EVERY[name].build_prefix}_*", f"python {python}.*", f"pytorch {pytorch}.*"), driver(name)) for name, python, pytorch in BUILDS]
    for name, variant in EVERY.items():
        request = f"torch-fl=*={variant.build_prefix}_*"
        made += [((request, f"python 3.{minor}.*"), driver(name)) for minor in range(9, 14)]
        made += [((request, f"pytorch 2.{minor}.*"), driver(name)) for minor in range(9, 14)]
    for left, right in permutations(ONE_EACH, 2):
        a, b = (EVERY[ONE_EACH[platform]].build_prefix for platform in (left, right))
        made += [((f"torch-fl-runtime=*={a}_*", f"{other}=*={b}_*"), driver("cuda-13.3")) for other in ("torch-fl", "torch-fl-platform")]
    for name in ("torch-fl", "torch-fl-runtime", "torch-fl-tests", "third", "torch-fl-lab"):
        made += [((name,), {"cuda": cuda} if cuda else {}) for cuda in (None, "12.6", "12.8", "13.0", "13.3", "13.9")]
    return made


def chosen_by_rattler(channel, request: Request) -> set[str] | None:
    try:
        return {f"{r.name.normalized}={r.version}={r.build}" for r in metadata.solution(channel, *request).values()}
    except SolverError:
        return None


@pytest.fixture
def program(tmp_path) -> Path:
    """libsolv, to be asked a request a line."""
    if named := os.environ.get("TORCH_FL_LIBSOLV"):
        return Path(named)
    if not os.environ.get("CI"):
        pytest.skip("TORCH_FL_LIBSOLV names no program; `python -m tests.solve.libsolv` makes one")
    if subprocess.run(["cc", "-E", "-include", "zlib.h", "-xc", "/dev/null"], capture_output=True, check=False).returncode:
        pytest.skip("libsolv needs zlib's headers, which are not here")
    return make(tmp_path)


def test_both_solvers_choose_the_same(metadata_channel, program):
    asked = requests()
    lines = [",".join(f"__{name}={version}" for name, version in {**MACHINE, **detected}.items()) + ";" + ";".join(specs) for specs, detected in asked]
    done = subprocess.run([program, metadata_channel / "linux-64/repodata.json"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = [None if line == "UNSAT" else set(line.split()) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked)
    ours = [chosen_by_rattler(metadata_channel, request) for request in asked]
    assert None in ours and any(ours)
    assert [(request, mine, theirs) for request, mine, theirs in zip(asked, ours, answers, strict=True) if mine != theirs] == []
