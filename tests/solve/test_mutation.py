"""Faults made on purpose in a copy of the recipe: each must stop the build or be found by the checks."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest

from flbuild import contents

PAIR = ["plain-3.8.0", "plain-3.8.1.3"]


def test_two_variants_in_one_invocation_are_compiled_apart(miniature, tmp_path):
    output = miniature.build(PAIR, tmp_path / "out")
    assert contents.problems(output, tmp_path / "unpacked", miniature.tree) == []
    assert len(list(output.glob("linux-64/torch-fl-runtime-*.conda"))) == 2


def copy_of(miniature, folder):
    shutil.copytree(miniature.tree, folder)
    return replace(miniature, tree=folder)


def test_a_driver_library_that_platform_toml_does_not_allow_stops_the_build(miniature, tmp_path):
    """Before anything is published: build-locally.py asks this of what it has built."""
    output = miniature.build(["stub-13.0.1"], tmp_path / "out")
    assert contents.unknown_links(output, tmp_path / "right", miniature.tree) == []
    strict = copy_of(miniature, tmp_path / "tree")
    facts = strict.tree / "src" / "platforms" / "stub" / "platform.toml"
    allowed = 'sonames = ["libstubdriver.so*", "libstubrt.so.*"]'
    assert allowed in facts.read_text()
    facts.write_text(facts.read_text().replace(allowed, 'sonames = ["libstubrt.so.*"]'))
    found = contents.unknown_links(output, tmp_path / "wrong", strict.tree)
    assert found == ["libtorch_fl_platform_stub.so: needs libstubdriver.so.1, which platform.toml does not allow"]


def test_without_the_keys_in_the_script_environment_the_checks_fail(miniature, tmp_path):
    """Crosses the staging cache: its key ignores values that stand only in the script's text."""
    crossed = copy_of(miniature, tmp_path / "tree")
    recipe = crossed.recipe.read_text()
    environment = re.search(
        r"        file: outputs/torch-fl-build/build\.sh\n(?:        #.*\n)*        env:\n((?: {10}\w+: .*\n)+)", recipe
    )
    lines = [line.strip().split(": ", 1) for line in environment[1].splitlines()]
    exports = "".join(f"          - export {name}='{value}'\n" for name, value in lines)
    script = f"        content:\n{exports}          - bash $RECIPE_DIR/outputs/torch-fl-build/build.sh\n"
    crossed.recipe.write_text(recipe.replace(environment[0], script))

    output = crossed.build(PAIR, tmp_path / "out")

    found = contents.problems(output, tmp_path / "unpacked", miniature.tree)
    if not found:
        pytest.fail(
            "two variants shared a compile and nothing noticed, or the builder no longer crosses them: see the recipe"
        )
    assert any("compatibility.json says plain 3.8" in line for line in found), found
