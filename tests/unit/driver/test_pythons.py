"""Another Python on the machine: found on PATH or among pyenv's, and only if it runs; and the variant that asks for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flbuild import arguments, bootstrap, pythons
from flbuild.layout import Layout
from flbuild.variant_files import python_of

ROOT = Path(__file__).parents[3]
HERE = "{}.{}".format(*sys.version_info[:2])


def interpreter(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_the_one_on_the_path_is_taken(machine: Path) -> None:
    assert pythons.find("3.12") is None
    found = interpreter(machine / "bin/python3.12", "echo 3.12")
    interpreter(machine / "pyenv/versions/3.12.1/bin/python3.12", "echo 3.12")
    assert pythons.find("3.12") == found
    assert pythons.find("3.13") is None


def test_a_shim_without_a_version_behind_it_is_passed_over_for_pyenv_s_newest(machine: Path) -> None:
    interpreter(machine / "bin/python3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127")
    for patch in ("3.12.9", "3.12.10", "3.12.1"):
        interpreter(machine / f"pyenv/versions/{patch}/bin/python3.12", "echo 3.12")
    interpreter(machine / "pyenv/versions/3.12.11/bin/python3.12", "echo 3.11")
    assert pythons.find("3.12") == machine / "pyenv/versions/3.12.10/bin/python3.12"


def test_a_variant_says_which_python_it_is_for(toy: Layout) -> None:
    assert python_of(toy.root, "plain") == ""
    (toy.root / "variants/plain.yaml").write_text("flavour:\n  - plain\npython:\n  - 3.12.*\npytorch:\n  - 2.11.*\n")
    assert python_of(toy.root, "plain") == "3.12"
    assert python_of(ROOT, "cuda-13.0") == "3.12" and python_of(ROOT, "host") == ""


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], "3.12"),
        (["--channel", "seed"], "3.12"),
        (["--channel", "somewhere"], ""),  # has Pythons of its own
    ],
)
def test_it_matters_only_where_the_channel_may_be_made_of_it(given: list[str], wanted: str) -> None:
    assert bootstrap.wanted_python(arguments.parser().parse_args(["cuda-13.0", *given])) == wanted
    assert bootstrap.wanted_python(arguments.parser().parse_args(["musa-5.1.0", "--emulated", *given])) == ""


def test_the_driver_goes_on_in_the_python_that_the_variant_is_for(toy: Layout, machine: Path) -> None:
    other = "3.13" if HERE != "3.13" else "3.12"
    (toy.root / "variants/plain.yaml").write_text(f"python:\n  - {other}.*\n")
    interpreter(machine / f"bin/python{other}", f'case "$1" in -I) echo {other};; *) echo "$@";; esac')
    code = "import sys; from pathlib import Path; from flbuild import bootstrap; bootstrap.ROOT = Path(sys.argv[1]); bootstrap.start(['plain', '--test'])"
    done = subprocess.run([sys.executable, "-B", "-c", code, toy.root], env={"PATH": str(machine / "bin"), "PYTHONPATH": str(ROOT)},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.stdout == f"{toy.root}/build-locally.py plain --test\n", done.stderr


def test_pinned_variants_have_tools_and_channels_of_their_own(tmp_path: Path) -> None:
    usual, pinned = Layout(tmp_path), Layout(tmp_path, python="3.12", torch="2.11")
    assert (usual.tools.name, usual.seed.name) == ("tools", "seed")
    assert (pinned.tools.name, pinned.seed.name, pinned.channel) == ("tools-3.12", "seed-torch2.11", usual.channel)
