"""The recipe, rendered but not built."""

from __future__ import annotations

import re

import pytest
import tomllib
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
from ruamel.yaml import YAML

from flbuild.platforms import ROOT, load_all, variants
from flbuild.sync import variant_keys

RECIPE = ROOT / "recipe" / "recipe.yaml"
FILES = sorted((ROOT / "variants").glob("*.yaml"))


@pytest.fixture(scope="module")
def document() -> dict:
    return YAML(typ="safe").load(RECIPE)


def render(*files, subdir="linux-64"):
    config = VariantConfig.from_files([ROOT / "conda_build_config.yaml", *files])
    return Stage0Recipe.from_file(RECIPE).render(config, RenderConfig(platform=PlatformConfig(target_platform=subdir)))


def outputs(document) -> dict[str, dict]:
    return {output["package"]["name"]: output for output in document["outputs"] if "package" in output}


def test_the_script_environment_carries_every_key_that_can_change_the_compile(document):
    """The staging cache is keyed by these values: a key that is missing lets two variants share one compile."""
    staging = next(output for output in document["outputs"] if "staging" in output)
    environment = dict(staging["build"]["script"]["env"])
    for name in ("FLAGOS_SDK_ROOT", "FLAGOS_CORE_LIBRARY", "FLAGOS_LIBTORCH"):  # of this machine
        assert environment.pop(name) == f'${{{{ env.get("{name}", default="none") }}}}'
    given = {re.fullmatch(r"\$\{\{ (\w+) \}\}", value)[1] for value in environment.values()}
    selection_only = {
        "flagos_build",
        "flagos_build_number",
        "flagos_down_priority",
        "flagos_gate",
        "flagos_sdk_spec",
        "flagos_libtorch",
        "flagos_emulated",
        "flagos_flaggems_spec",
        "flagos_triton_spec",
    }
    every = {key for platform in load_all() for variant in variants(platform) for key in variant_keys(variant)}
    assert given == every - selection_only | {"python", "pytorch"}
    script = (ROOT / "recipe" / staging["build"]["script"]["file"]).read_text()
    assert "${{" not in script


def test_there_is_one_staging_output_and_the_packages(document):
    assert [output["staging"]["name"] for output in document["outputs"] if "staging" in output] == ["torch-fl-build"]
    assert set(outputs(document)) == {
        "torch-fl-runtime",
        "torch-fl-vendor-kernels",
        "torch-fl-flaggems",
        "torch-fl-triton-host",
        "torch-fl-lab",
        "torch-fl",
        "torch-fl-platform",
        "torch-fl-tests",
        "torch-fl-emulated-sdk",
        "${{ flagos_sdk }}-version",
    }


def test_outputs_with_nothing_to_hold_are_skipped_by_a_rule(document):
    skips = {name: output["build"].get("skip") for name, output in outputs(document).items()}
    assert {name: rule for name, rule in skips.items() if rule} == {
        "torch-fl-vendor-kernels": ['flagos_vendor_kernels == "no"'],
        "torch-fl-flaggems": ['flagos_flaggems == "no"'],
        "torch-fl-triton-host": ['flagos_emulated != "yes"'],
        "torch-fl-emulated-sdk": ['flagos_emulated_sdk != "yes"'],
        "${{ flagos_sdk }}-version": ['flagos_sdk_spec == "none"'],
    }


def test_the_metapackage_brings_no_optional_kernels(document):
    run = outputs(document)["torch-fl"]["requirements"]["run"]
    conditions = {part["if"] for part in run if isinstance(part, dict)}
    assert conditions == {'flagos_vendor_kernels == "yes"', 'flagos_flaggems == "yes"'}


def test_the_triton_back_end_is_for_the_triton_of_the_emulated_platform(document):
    (host,) = [platform for platform in load_all() if platform.emulated]
    needs = outputs(document)["torch-fl-triton-host"]["requirements"]["run"]
    assert host.pins.triton_spec in needs


def test_the_triton_back_end_asks_for_what_its_own_metadata_say(document):
    output = outputs(document)["torch-fl-triton-host"]["requirements"]
    metadata = tomllib.loads((ROOT / "triton-host" / "pyproject.toml").read_text())
    declared = {re.sub(r" ", "", spec) for spec in metadata["project"]["dependencies"]}
    assert declared <= {spec.replace(" ", "") for spec in output["run"]}
    assert f"python {metadata['project']['requires-python']}" in output["run"]
    backend = {spec.replace(" ", "") for spec in output["host"]}
    assert set(metadata["build-system"]["requires"]) <= backend


def test_what_flaggems_holds_the_runtime_leaves_out(document):
    """Each staged file is in exactly one package."""
    made = outputs(document)
    ours = [name for name in made["torch-fl-flaggems"]["build"]["files"] if "site_packages" in name]
    assert made["torch-fl-runtime"]["build"]["files"]["exclude"] == ours
    listed = (ROOT / "recipe/outputs/torch-fl-build/dist_info.py").read_text()
    assert [name for name in ours if name.split("}}/")[1].replace("**", "*") not in listed] == []


def test_splitting_outputs_check_links_and_contents(document):
    for output in outputs(document).values():
        if output.get("inherit"):
            assert any(test["package_contents"]["strict"] for test in output["tests"] if "package_contents" in test)
        if output.get("inherit") == "torch-fl-build":
            # What is relocated has a RPATH, which comes before LD_LIBRARY_PATH. Links are flbuild.contents' to check then.
            assert output["build"]["dynamic_linking"] == {"binary_relocation": False}


def test_every_variant_key_is_used(document):
    text = RECIPE.read_text()
    every = {key for platform in load_all() for variant in variants(platform) for key in variant_keys(variant)}
    assert [key for key in every if key not in text] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_renders_the_same_every_time(file):
    first = {(str(v.recipe.package.name), str(v.recipe.build.string)) for v in render(file)}
    for _ in range(3):
        assert {(str(v.recipe.package.name), str(v.recipe.build.string)) for v in render(file)} == first


ON_MACHINES = [(variant.name, arch) for platform in load_all() for variant in variants(platform) for arch in platform.arch]


@pytest.mark.parametrize(("name", "arch"), ON_MACHINES, ids=["-".join(pair) for pair in ON_MACHINES])
def test_it_renders_for_every_machine_that_the_platform_is_built_for(name, arch):
    made = {str(v.recipe.package.name): v for v in render(ROOT / "variants" / f"{name}.yaml", subdir=arch)}
    assert {"torch-fl", "torch-fl-runtime", "torch-fl-platform"} <= made.keys()
    needs = made["torch-fl-runtime"].recipe.to_dict()["requirements"]["build"]
    assert needs == [f"gxx_{arch} 14.*", f"sysroot_{arch} 2.28.*"]


@pytest.mark.parametrize("change", ["flagos_sdk_version", "python", "pytorch"])
def test_two_values_of_a_key_never_share_a_file_name(change, tmp_path):
    """A key that is only used in a script or a run requirement would not reach the hash."""
    host = ROOT / "variants" / "host.yaml"
    other = tmp_path / "other.yaml"
    values = {"flagos_sdk_version": "9.9", "python": "3.12.*", "pytorch": "2.12.*"}
    other.write_text(f'{change}: ["{values[change]}"]\n')

    def runtime(*files):
        return next(
            str(v.recipe.build.string) for v in render(*files) if str(v.recipe.package.name) == "torch-fl-runtime"
        )

    assert runtime(host) != runtime(host, other)
