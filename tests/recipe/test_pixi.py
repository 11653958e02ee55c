"""pixi.toml: valid by pixi's own schema, and with the tasks that the README names."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
import tomllib
from packaging.specifiers import SpecifierSet
from rattler import MatchSpec

from flbuild.pixi import FLAGOS_INDEX
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


@pytest.fixture(scope="module")
def tasks(manifest) -> dict[str, dict]:
    """All tasks by name, of the workspace and of the platforms' environments."""
    own = [feature.get("tasks", {}) for feature in manifest["feature"].values()]
    assert not any(part.keys() & manifest["tasks"].keys() for part in own)
    return {name: task for part in (manifest["tasks"], *own) for name, task in part.items()}


def test_it_has_the_tasks_and_each_says_what_it_does(manifest, tasks):
    assert {"build", "test", "demo", "doctor", "lint", "docs"} | {f"test-{platform.id}" for platform in load_all()} <= set(tasks)
    assert [name for name, task in tasks.items() if not task.get("description")] == []
    assert manifest["workspace"]["channels"] == ["conda-forge"]


def test_its_commands_name_files_that_exist(tasks):
    for name, task in tasks.items():
        default = task["args"][0]["default"] if "args" in task else ""
        command = [part.replace("{{ variant }}", default) for part in task["cmd"]]
        paths = [part for part in command if part.endswith((".yaml", ".py")) and part != "build-locally.py"]
        assert [part for part in paths if not (ROOT / part).is_file()] == [], name


def test_a_card_s_tests_run_in_its_environment_and_all_others_in_the_default_one(manifest):
    """Else a person without the vendor's packages could not run what needs none of them."""
    of_cards = {id: set(feature.get("tasks", {})) for id, feature in manifest["feature"].items()}
    built = {platform.id for platform in load_all() if platform.sdk and not platform.described}
    assert {id: names for id, names in of_cards.items() if names} == {id: {f"test-{id}"} for id in built}
    assert manifest["environments"]["default"] == {"features": ["python"]}


def test_each_platform_has_an_environment_with_its_pins(manifest):
    machines = {entry if isinstance(entry, str) else entry["name"]: entry for entry in manifest["workspace"]["platforms"]}
    assert set(manifest["environments"]) == {"default", *(platform.id for platform in load_all())}
    for platform in load_all():
        feature, pins = manifest["feature"][platform.id], platform.pins
        assert set(feature["platforms"]) <= set(machines) and len(feature["platforms"]) == len(platform.arch)
        for name, spec in feature["dependencies"].items():
            MatchSpec(f"{name} {spec}")  # what solvers can read
        allowed = (f"{minor}.*" for minor in platform.python) if platform.python != "any" else ["3.11.*"]
        assert feature["dependencies"]["python"] in allowed
        asked = feature.get("pypi-dependencies", {})
        assert asked.keys() == {
            name
            for name, pin in (("flagtree", pins.flagtree), ("triton", pins.triton), ("flag-gems", pins.flaggems), ("flagcx", pins.flagcx))
            if pin not in ("none", "unknown")
        }
        for name, spec in asked.items():
            assert spec["rev"] in pins.flaggems if isinstance(spec, dict) else SpecifierSet(spec)
        assert feature.get("pypi-options", {}).get("extra-index-urls", []) == ([FLAGOS_INDEX] if asked else [])


def test_a_driver_that_solvers_detect_is_declared_with_the_oldest_sdk(manifest):
    declared = [entry for entry in manifest["workspace"]["platforms"] if not isinstance(entry, str)]
    assert declared == [{"name": "linux-64-cuda", "platform": "linux-64", "cuda": "12.8"}]


def test_it_builds_the_same_recipe_and_variant_files(manifest):
    command = manifest["tasks"]["build"]["cmd"]
    pairs = list(pairwise(command))
    assert ("--recipe", "recipe/recipe.yaml") in pairs
    given = [value for flag, value in pairs if flag == "--variant-config"]
    assert given == ["conda_build_config.yaml", "variants/{{ variant }}.yaml"]  # the later one wins
