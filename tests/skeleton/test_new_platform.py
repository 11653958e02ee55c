"""`torch-fl dev new-platform` writes a folder that is a platform, and touches nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAME = "mycard"
FOLDER = f"src/platforms/{NAME}/"


def test_only_the_new_folder_and_what_sync_owns_has_changed(written):
    assert {name for name in written["added"] if not name.startswith(FOLDER)} == {f"variants/{NAME}-1.0.yaml"}
    assert written["changed"] == {"pixi.toml", "README.md"}
    assert written["removed"] == set()


def test_the_folder_is_whole_and_speaks_of_nobody_else(checkout, written):
    names = {name.removeprefix(FOLDER) for name in written["added"]}
    assert {"platform.toml", "README.md", "CMakeLists.txt", "device/table.cpp", "emulation/CMakeLists.txt"} <= names
    for name in written["added"]:
        text = (checkout / name).read_text()
        assert "skeleton" not in (text + name).lower(), name
        assert len(text.splitlines()) < 200, name


def test_the_derived_files_are_in_step(checkout, written):
    check = [sys.executable, "-m", "flbuild.sync", "--check"]
    done = subprocess.run(check, cwd=checkout, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((NAME,), "exists; take another name"),
        (("My-Card",), "is no name of a platform"),
        (("skeleton",), "is the template's own name"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_one_sentence(command, checkout, written, arguments, sentence):
    done = command("new-platform", *arguments, "--checkout", str(checkout))
    assert done.exit_code == 2 and sentence in " ".join(done.output.replace("\u2502", " ").split())


def test_elsewhere_than_in_a_checkout_it_says_so(command, tmp_path):
    done = command("new-platform", NAME, "--checkout", str(tmp_path))
    assert done.exit_code == 2 and "is no checkout of torch-fl" in " ".join(done.output.replace("\u2502", " ").split())


def test_without_the_sdk_the_build_says_what_to_do(configure):
    _, done = configure("-DTORCH_FL_EMULATED=OFF")
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "needs the Mycard SDK" in said and "set MYCARD_HOME" in said and "-DTORCH_FL_EMULATED=ON" in said
