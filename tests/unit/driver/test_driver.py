"""The driver as a whole, on the toy project and an empty base channel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flbuild.layout import Layout

ROOT = Path(__file__).parents[3]
RUN = """
import sys
from pathlib import Path
from flbuild import bootstrap, ending, solve
bootstrap.ROOT, solve.COMPANIONS = Path(sys.argv.pop(1)), ()
from flbuild.__main__ import run
ending.leave(run())
"""


@pytest.fixture
def drive(toy: Layout):
    """Run the driver; gives its exit status, its JSON document and its standard error."""
    base = toy.root / "base"
    for folder in ("linux-64", "noarch"):
        (base / folder).mkdir(parents=True)
        (base / folder / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}')
    shutil.copy(ROOT / "LICENSE", toy.root)

    def run(*arguments: str) -> tuple[int, dict, str]:
        command = [sys.executable, "-B", "-c", RUN, toy.root, *arguments, "--channel", base.as_uri(), "--json"]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT}/lab"}, capture_output=True, text=True, check=False
        )
        return done.returncode, json.loads(done.stdout), done.stderr

    return run


def skipped(document: dict) -> dict[str, bool]:
    return {stage["name"]: stage["skipped"] for stage in document["stages"]}


def test_from_nothing_to_an_environment_and_again(toy: Layout, drive) -> None:
    status, document, errors = drive("sweet")
    assert (status, errors) == (0, "")
    assert document["ok"] and Path(document["lock"]).read_text().startswith("version: 7")
    assert (toy.environment("sweet") / "share/toy/flavour").read_text() == "sweet\n"
    assert [name for name, was in skipped(document).items() if was] == []
    assert not list(toy.work.glob("build-*/bld"))  # nothing big is left lying about

    status, document, _ = drive("sweet")
    assert {"packages", "environment sweet"} == {name for name, was in skipped(document).items() if was}
    assert sum(stage["seconds"] for stage in document["stages"]) < 10

    (toy.root / "src/make.sh").write_text(
        (toy.root / "src/make.sh").read_text() + "echo more > $PREFIX/share/toy/more\n"
    )
    drive("sweet")
    assert (toy.environment("sweet") / "share/toy/more").exists()


def test_a_failure_is_in_the_document_and_in_the_status(toy: Layout, drive) -> None:
    (toy.root / "src/make.sh").write_text("exit 9\n")
    status, document, errors = drive("plain")
    assert status == 1 and not document["ok"]
    assert "build failed" in document["error"] and document["error"] in errors
    assert "Traceback" not in errors.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["--test"], ["--carry", "."]], ids=" ".join)
def test_testing_what_has_no_tests_is_refused(drive, arguments: list[str]) -> None:
    status, document, _ = drive("plain", *arguments)
    assert status == 1
    assert "torch-fl-tests was not built for plain" in document["error"]


@pytest.mark.parametrize("arguments", [["--flaggems"], ["--test", "--suite", "flaggems"]], ids=" ".join)
def test_flaggems_is_refused_where_the_platform_has_none(drive, arguments: list[str]) -> None:
    status, document, _ = drive("plain", *arguments)
    assert status == 1
    assert document["error"] == "torch-fl-flaggems is not built for plain; see [kernels] in its platform.toml."


def test_an_example_is_run_when_the_environment_is_new(toy: Layout, drive) -> None:
    (toy.root / "examples").mkdir()
    (toy.root / "examples/digits.py").write_text("raise SystemExit(3)\n")
    (toy.root / "src/make.sh").write_text(
        (toy.root / "src/make.sh").read_text() + f"mkdir -p $PREFIX/bin && ln -s {sys.executable} $PREFIX/bin/python\n"
    )
    recipe = toy.root / "recipe/recipe.yaml"
    recipe.write_text(recipe.read_text().replace('["share/toy/**"]', '["share/toy/**", "bin/*"]'))
    status, document, _ = drive("plain")
    assert status == 1 and "examples/digits.py failed with status 3" in document["error"]
    (toy.root / "examples/digits.py").write_text("print('trained')\n")
    status, document, _ = drive("plain")  # it is tried until it has run well
    assert status == 0 and "digits.py" in skipped(document)
    assert "digits.py" not in skipped(drive("plain")[1])
    assert "digits.py" in skipped(drive("plain", "--demo")[1])
    assert "digits.py" not in skipped(drive("plain", "--no-demo")[1])
