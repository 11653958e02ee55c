"""variants/*.yaml and conda_build_config.yaml combine as conda-build's users expect."""

from __future__ import annotations

import json

import pytest
from rattler_build import VariantConfig

from flbuild.platforms import ROOT, load_all, variants

COMMON = ROOT / "conda_build_config.yaml"
FILES = sorted((ROOT / "variants").glob("*.yaml"))


def keys_of(config: VariantConfig) -> dict[str, list[str]]:
    return {key: [str(value) for value in values] for key, values in config.to_dict().items() if key != "zip_keys"}


def test_one_file_for_each_variant_of_each_platform():
    assert [file.stem for file in FILES] == sorted(v.name for p in load_all() for v in variants(p))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_variant_is_one_configuration(file):
    config = VariantConfig.from_files([COMMON, file])
    assert len(config.combinations()) == 1
    assert all(len(values) == 1 for values in keys_of(config).values())
    assert keys_of(config)["flagos_platform"] == [file.stem.partition("-")[0]]


def test_both_files_contribute_and_selectors_are_evaluated():
    keys = keys_of(VariantConfig.from_files([COMMON, ROOT / "variants" / "host.yaml"]))
    assert keys["c_compiler"] == ["gcc"] and keys["cxx_compiler"] == ["gxx"]  # lines with a # [linux] selector
    assert keys["pytorch"] == ["2.13.*"] and keys["flagos_build"] == ["host"]


def test_a_later_file_wins_key_by_key(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text('python: ["3.12.*"]\npytorch: ["2.12.*"]\n')
    files = [COMMON, ROOT / "variants" / "host.yaml"]
    after = keys_of(VariantConfig.from_files([*files, mine]))
    assert (after["python"], after["pytorch"], after["flagos_build"]) == (["3.12.*"], ["2.12.*"], ["host"])
    before = keys_of(VariantConfig.from_files([mine, *files]))
    assert (before["python"], before["pytorch"]) == (["3.11.*"], ["2.13.*"])


def test_an_axis_of_ones_own_multiplies_the_builds(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text('python: ["3.11.*", "3.12.*"]\n')
    config = VariantConfig.from_files([COMMON, ROOT / "variants" / "host.yaml", mine])
    assert sorted(str(dict(c)["python"]) for c in config.combinations()) == ["3.11.*", "3.12.*"]


def test_the_keys_of_a_platform_are_zipped_together(tmp_path):
    """Changing one of them alone is refused: half a platform cannot be built."""
    host = ROOT / "variants" / "host.yaml"
    pair = tmp_path / "pair.json.yaml"
    keys = keys_of(VariantConfig.from_file(host))
    doubled = {key: [*values, f"{values[0]}2"] for key, values in keys.items()}
    pair.write_text(json.dumps(doubled))
    combined = VariantConfig.from_files([COMMON, host, pair]).combinations()
    assert sorted(str(dict(c)["flagos_platform"]) for c in combined) == ["host", "host2"]
    pair.write_text('flagos_platform: ["host", "other"]\n')
    with pytest.raises(Exception, match="(?i)zip"):
        VariantConfig.from_files([COMMON, host, pair]).combinations()
