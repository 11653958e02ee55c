"""platform.toml: what it must say, and the sentence it gets when it does not."""

from __future__ import annotations

import pytest

from flbuild import sync
from flbuild.platforms import PlatformError, load, load_all, variants

VENDOR = """
id = "metal"
name = "Metal"
hardware = "a card"
sonames = ["libmetaldriver.so*"]
python = ["3.12"]

[sdk]
name = "maca"
title = "MACA"
versions = ["3.8.0", "3.8.1.3"]
root = "/opt/maca"

[kernels]
slots = ["metal", "cuda"]
vendor = true

[features]
operators = "some"
collectives = "some"
profiler = "some"
compile = "some"
"""


@pytest.fixture
def write(tmp_path):
    """A function that writes the text as src/platforms/metal/platform.toml and gives its path."""

    def run(text: str):
        path = tmp_path / "src" / "platforms" / "metal" / "platform.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return run


def test_every_platform_of_the_tree_is_valid_and_one_is_emulated():
    platforms = load_all()
    assert [platform.id for platform in platforms if platform.emulated] == ["host"]
    names = [variant.name for platform in platforms for variant in variants(platform)]
    assert len(set(names)) == len(names)


def test_each_sdk_version_is_a_variant_with_its_own_readable_build_string(write):
    builds = [(v.name, v.build_prefix, v.build_number, v.down_priority, v.gate) for v in variants(load(write(VENDOR)))]
    assert builds == [("metal-3.8.0", "metal_maca380", 0, 1, None), ("metal-3.8.1.3", "metal_maca3813", 1, 1, None)]


def test_a_virtual_package_gates_and_outranks(write):
    gated = load(write(VENDOR.replace('root = "/opt/maca"', 'root = "/opt/maca"\nvirtual_package = "__cuda"')))
    assert [(v.gate, v.build_number, v.down_priority) for v in variants(gated)] == [
        ("__cuda >=3.8", 100, 0),
        ("__cuda >=3.8", 101, 0),
    ]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('id = "metal"', 'id = "Metal 1"', "id: "),
        ('id = "metal"', 'id = "other"', 'id: is "other", but the folder is called "metal"'),
        ('slots = ["metal", "cuda"]', "", "kernels.slots: Field required"),
        (
            'slots = ["metal", "cuda"]',
            'slots = ["metal", "cuda"]\nslot = 1',
            "kernels.slot: Extra inputs are not permitted",
        ),
        ('versions = ["3.8.0", "3.8.1.3"]', "versions = []", "sdk.versions: "),
        ('versions = ["3.8.0", "3.8.1.3"]', 'versions = ["v3"]', "sdk.versions.0: "),
        ('versions = ["3.8.0", "3.8.1.3"]', 'versions = ["3.80", "38.0"]', "the same digits"),
        ('python = ["3.12"]', "python = []", "python"),
        ('python = ["3.12"]', 'python = "3.12"', "python"),
        ('sonames = ["libmetaldriver.so*"]', 'sonames = ["*"]', "sonames.0: "),
        ('hardware = "a card"', 'hardware = "a card"\nemulated = true', "an emulated platform has no [sdk]"),
        ("vendor = true", "optional = ['vendor']", "kernels.optional names vendor, which the platform does not have"),
        ("vendor = true", "flaggems = true", "kernels.flaggems needs pins.flaggems"),
        (
            "vendor = true",
            "flaggems = true\n[pins]\nflaggems = '5.0.2'",
            "kernels.flaggems needs pins.flaggems, and pins.triton or pins.flagtree",
        ),
        ("vendor = true", "optional = ['cuda']", "kernels.optional.0: "),
        ('hardware = "a card"', 'hardware = "a card"\nevidence = ["run.json"]', "there is no file run.json"),
        ("[sdk]", "[sdk", "not TOML 1.0"),
    ],
)
def test_a_fault_gets_one_sentence_with_file_and_key(write, old, new, sentence):
    assert old in VENDOR
    path = write(VENDOR.replace(old, new, 1))
    with pytest.raises(PlatformError) as caught:
        load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ") and sentence in text and "\n" not in text.strip() or "not TOML" in text, text


def test_a_folder_without_platforms_says_so(tmp_path):
    with pytest.raises(PlatformError, match="no <id>/platform.toml"):
        load_all(tmp_path)


@pytest.mark.parametrize(
    ("pins", "flaggems", "triton"),
    [
        ('flaggems = "5.0.2"\ntriton = "3.7.*"', "flag-gems ==5.0.2", "triton 3.7.*"),
        ('flaggems = "unknown"\ntriton = "3.1.*"\nflagtree = "0.5.*"', "flag-gems", "flagtree 0.5.*"),
    ],
)
@pytest.mark.parametrize(("optional", "word"), [("", "yes"), ("optional = ['flaggems']\n", "optional")])
def test_flaggems_is_pinned_by_the_platform_and_may_be_optional(write, pins, flaggems, triton, optional, word):
    text = VENDOR.replace("vendor = true\n", f"flaggems = true\n{optional}\n[pins]\n{pins}\n")
    for variant in variants(load(write(text))):
        keys = sync.variant_keys(variant)
        assert (keys["flagos_flaggems"], keys["flagos_vendor_kernels"]) == (word, "no")
        assert (keys["flagos_flaggems_spec"], keys["flagos_triton_spec"]) == (flaggems, triton)


def test_status_is_computed_from_evidence(write):
    path = write(VENDOR.replace('hardware = "a card"', 'hardware = "a card"\nevidence = ["run.json"]'))
    (path.parent / "run.json").write_text("{}")
    assert load(path).status == "Stable"
    assert load(write(VENDOR)).status == "Emulated"
    assert "| `metal` | a card | MACA 3.8.0, 3.8.1.3 | 3.12 | Emulated |" in sync.support_table([load(write(VENDOR))])
