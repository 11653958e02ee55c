"""The environment with FlagGems: what is asked for, and where its suites may write."""

from __future__ import annotations

import os
from pathlib import Path

from flbuild import flaggems, solve
from flbuild.build import Built
from flbuild.layout import Layout

FILES = (
    "linux-64/torch-fl-0.1.0-host_py311_h1_0.conda",
    "linux-64/torch-fl-flaggems-0.1.0-host_py311_h2_0.conda",
    "noarch/torch-fl-tests-0.1.0-pyh4_0.conda",
    "noarch/torch-fl-triton-host-0.1.0-pyh5_0.conda",
)


def test_the_environment_is_of_exactly_what_was_built() -> None:
    wanted = flaggems.wanted(Built(FILES, True), "host")
    assert wanted[:4] == [
        "torch-fl ==0.1.0 host_py311_h1_0",
        "torch-fl-flaggems ==0.1.0 host_py311_h2_0",
        "torch-fl-tests ==0.1.0 pyh4_0",
        "torch-fl-triton-host ==0.1.0 pyh5_0",
    ]
    assert set(wanted[4:]) == set(solve.COMPANIONS)


def test_the_ordinary_environment_has_none_of_it() -> None:
    assert solve.specs(FILES) == ["torch-fl ==0.1.0 host_py311_h1_0"]
    assert flaggems.is_built(Built(FILES, True)) and not flaggems.is_built(Built(FILES[:1], True))


def test_its_suites_run_in_a_folder_of_their_own_with_caches_there(toy: Layout) -> None:
    suite = toy.root / "tests/triton_host"
    suite.mkdir(parents=True)
    (suite / "test_it.py").write_text("def test_it(): pass\n")
    (toy.root / "tests/flaggems").mkdir()  # nothing in it: left out
    prefix = toy.root / "prefix"
    program = prefix / "bin/python"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nenv > said\necho "$@" >> said\nexit 3\n')
    program.chmod(0o755)
    assert flaggems.tests(toy, prefix, 1, quiet=False) == 3
    work = toy.work / "flaggems"
    said = (work / "said").read_text().splitlines()
    variables = dict(line.split("=", 1) for line in said[:-1] if "=" in line)
    assert all(Path(variables[name]).parent == work for name in flaggems.CACHES)
    assert [word for word in said[-1].split() if os.sep + "tests" + os.sep in word] == [str(suite)]
