"""pixi.toml: valid by pixi's own schema, and with the tasks that the README names."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
import tomllib

from flbuild.platforms import ROOT, load_all


@pytest.fixture(scope="module")
def manifest() -> dict:
    return tomllib.loads((ROOT / "pixi.toml").read_text())  # Python's reader knows TOML 1.0 only


def test_it_is_valid_by_the_schema_that_pixi_publishes(manifest):
    from jsonschema import Draft7Validator

    named = os.environ.get("TORCH_FL_PIXI_SCHEMA")
    if not named:
        pytest.skip("TORCH_FL_PIXI_SCHEMA does not name a copy of pixi's schema.json")
    schema = json.loads(Path(named).read_text())
    assert [f"{'/'.join(map(str, e.path))}: {e.message}" for e in Draft7Validator(schema).iter_errors(manifest)] == []
    broken = {**manifest, "tasks": {"build": {"comand": "x"}}}
    assert list(Draft7Validator(schema).iter_errors(broken))  # the schema does look at tasks


def test_it_has_the_tasks_and_each_says_what_it_does(manifest):
    tasks = manifest["tasks"]
    assert {"build", "test", "demo", "docs"} | {f"test-{platform.id}" for platform in load_all()} <= set(tasks)
    assert [name for name, task in tasks.items() if not task.get("description")] == []
    assert manifest["workspace"]["channels"] == ["conda-forge"]


def test_its_commands_name_files_that_exist(manifest):
    for name, task in manifest["tasks"].items():
        variant = task["args"][0]["default"] if task.get("args") else ""
        command = [part.replace("{{ variant }}", variant) for part in task["cmd"]]
        paths = [part for part in command if part.endswith((".yaml", ".py")) and part != "build-locally.py"]
        assert [part for part in paths if not (ROOT / part).is_file()] == [], name


def test_it_builds_the_same_recipe_and_variant_files(manifest):
    command = manifest["tasks"]["build"]["cmd"]
    pairs = list(pairwise(command))
    assert ("--recipe", "recipe/recipe.yaml") in pairs
    given = [value for flag, value in pairs if flag == "--variant-config"]
    assert given == ["conda_build_config.yaml", "variants/{{ variant }}.yaml"]  # the later one wins
