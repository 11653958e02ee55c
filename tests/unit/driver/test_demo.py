"""What is run and said after an installation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flbuild import demo, testing


def test_the_known_examples_come_first(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    for name in ("another.py", "transformer.py", "digits.py", "notes.md"):
        (tmp_path / "examples" / name).write_text("")
    assert [path.name for path in demo.examples(tmp_path)] == ["digits.py", "transformer.py", "another.py"]


def test_the_tool_environment_does_not_leak_into_a_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:/usr/bin")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    variables = demo.environment_variables(Path("/envs/host"))
    assert variables["PATH"] == "/envs/host/bin:/usr/bin"
    assert variables["CONDA_PREFIX"] == "/envs/host"
    assert not [name for name in variables if name.startswith("PYTHON")]


def test_the_closing_text_names_what_exists(tmp_path: Path) -> None:
    text = demo.closing(tmp_path / "envs/host", "host")
    for part in ("bin/python my_script.py", "conda activate", "ipykernel install", "--clean", "mv works"):
        assert part in text


def test_suites_without_tests_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "tests/unit/x").mkdir(parents=True)
    (tmp_path / "tests/solve").mkdir(parents=True)
    (tmp_path / "tests/unit/x/test_y.py").write_text("")
    assert testing.suites(tmp_path) == [tmp_path / "tests/unit"]
