"""Crossing the staging cache on purpose: two variants of one invocation must not share one compile unnoticed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest
from flbuild import contents

PAIR = ["plain-3.8.0", "plain-3.8.1.3"]


def test_two_variants_in_one_invocation_are_compiled_apart(miniature, tmp_path):
    output = miniature.build(PAIR, tmp_path / "out")
    assert contents.problems(output, tmp_path / "unpacked") == []
    assert len(list(output.glob("linux-64/torch-fl-runtime-*.conda"))) == 2


def test_without_the_keys_in_the_script_environment_the_checks_fail(miniature, tmp_path):
    """The builder's cache key ignores values that stand only in the script's text."""
    tree = tmp_path / "tree"
    shutil.copytree(miniature.tree, tree)
    crossed = replace(miniature, tree=tree)
    recipe = crossed.recipe.read_text()
    environment = re.search(r"        file: outputs/torch-fl-build/build\.sh\n(?:        #.*\n)*        env:\n((?: {10}\w+: .*\n)+)", recipe)
    lines = [line.strip().split(": ", 1) for line in environment[1].splitlines()]
    exports = "".join(f"          - export {name}='{value}'\n" for name, value in lines)
    script = f"        content:\n{exports}          - bash $RECIPE_DIR/outputs/torch-fl-build/build.sh\n"
    crossed.recipe.write_text(recipe.replace(environment[0], script))

    output = crossed.build(PAIR, tmp_path / "out")

    found = contents.problems(output, tmp_path / "unpacked")
    if not found:
        pytest.fail("two variants shared a compile and nothing noticed, or the builder no longer crosses them: see the recipe")
    assert any("compatibility.json says plain 3.8" in line for line in found), found
