"""platform.toml: what it must say, and the sentence it gets when it does not."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch

import pytest

from flbuild import sync
from flbuild.platforms import PlatformError, load, load_all, on_emulated_sdk, switched, variants

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

[switches]
FLAGOS_BUILD_VENDOR = "vendor"

[switches_refused]
FLAGOS_BUILD_BOXING = "there is nothing to box into"

[capabilities]
cpu_kernels_in_place = "device memory is out of the CPU's reach"
native_kernels = true
peer_copies = true
profiler = true
memset_records = true
own_tracer = true
own_allocator = true
cpu_rules = true
index_checks = true
sole_accelerator = true
low_precision = true
tf32 = true
compile = "not tried"
collectives = true

[features]
operators = "some"
collectives = "some"
profiler = "some"
compile = "some"
"""

COUNTS = {"passed": 0, "skipped": 7, "failed": 0, "error": 0}
EVIDENCE = {"schema": 1, "platform": "metal", "emulated": False, "devices": [{"index": 0, "name": "a card"}], "counts": COUNTS}
EVIDENCE["command"] = ["python", "-m", "pytest", "--pyargs", "torch_fl_tests", "torch_fl_tests_metal"]


@pytest.fixture
def write(tmp_path):
    """A function that writes the text as src/platforms/metal/platform.toml and gives its path."""

    def run(text: str):
        path = tmp_path / "src" / "platforms" / "metal" / "platform.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "CMakeLists.txt").touch()  # there is a device layer
        return path

    return run


def test_every_platform_of_the_tree_is_valid_and_one_is_emulated():
    platforms = load_all()
    assert [platform.id for platform in platforms if platform.emulated] == ["host"]
    names = [variant.name for platform in platforms for variant in variants(platform)]
    assert len(set(names)) == len(names)


def test_each_sdk_version_is_a_variant_with_its_own_readable_build_string(write):
    builds = [(v.name, v.build_prefix, v.build_number, v.down_priority, v.gate) for v in variants(load(write(VENDOR)))]
    assert builds == [("metal-3.8.0", "metal_maca380", 0, 1, None), ("metal-3.8.1.3", "metal_maca3813", 100, 1, None)]


def with_pytorch(table: str) -> str:
    return VENDOR.replace('python = ["3.12"]', 'python = ["3.12"]\npytorch = ["2.10", "2.11"]').replace("[kernels]", f"{table}\n[kernels]")


def test_each_sdk_version_goes_with_the_newest_pytorch_or_with_the_one_that_is_named(write):
    made = variants(load(write(with_pytorch('[sdk.pytorch]\n"3.8.0" = "2.10"\n'))))
    assert {variant.name: variant.minors["pytorch"] for variant in made} == {"metal-3.8.0": "2.10", "metal-3.8.1.3": "2.11"}
    for variant in made:
        assert re.search(rf"^pytorch:\n  - {re.escape(variant.minors['pytorch'])}\.\*$", sync.variant_file(variant), re.MULTILINE)
        assert "pytorch:" not in sync.variant_file(variant, pinned=False)
    assert {variant.minors["pytorch"] for variant in variants(load(write(with_pytorch(""))))} == {"2.11"}


def test_a_pytorch_for_an_sdk_version_that_there_is_not_is_refused(write):
    with pytest.raises(PlatformError, match=r"sdk\.pytorch names 3\.9\.0, which is not among sdk\.versions: add it there or remove it"):
        load(write(with_pytorch('[sdk.pytorch]\n"3.9.0" = "2.10"\n')))


def test_a_virtual_package_gates_and_outranks(write):
    gated = load(write(VENDOR.replace('root = "/opt/maca"', 'root = "/opt/maca"\nvirtual_package = "__cuda"')))
    assert [(v.gate, v.build_number, v.down_priority) for v in variants(gated)] == [
        ("__cuda >=3.8", 1000, 0),
        ("__cuda >=3.8", 1100, 0),
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
        ('versions = ["3.8.0", "3.8.1.3"]', 'versions = ["v3"]', "sdk.versions.0: "),
        ('versions = ["3.8.0", "3.8.1.3"]', 'versions = ["3.80", "38.0"]', "the same digits"),
        ('python = ["3.12"]', "python = []", "python"),
        ('python = ["3.12"]', 'python = "3.12"', "python"),
        ('sonames = ["libmetaldriver.so*"]', 'sonames = ["*"]', "sonames.0: "),
        ('hardware = "a card"', 'hardware = "a card"\nemulated = true', "an emulated platform has no [sdk]"),
        ("vendor = true", "optional = ['vendor']", "kernels.optional names vendor, which the platform does not have"),
        ("vendor = true", "vendor = true\nflaggems = true", "kernels.flaggems needs pins.flaggems"),
        (
            "vendor = true",
            "vendor = true\nflaggems = true\n[pins]\nflaggems = '5.0.2'",
            "kernels.flaggems needs pins.flaggems, and pins.triton or pins.flagtree",
        ),
        ("vendor = true", "vendor = true\n[pins]\nflaggems = 'git:5a58df41'", "git:5a58df41 names no revision: write git: and all 40 digits"),
        ("vendor = true", "optional = ['cuda']", "kernels.optional.0: "),
        ("vendor = true", "", "switches has FLAGOS_BUILD_VENDOR for kernels that the platform does not have"),
        ("FLAGOS_BUILD_BOXING =", "FLAGOS_BUILD_VENDOR =", "FLAGOS_BUILD_VENDOR is in switches and in switches_refused"),
        ("FLAGOS_BUILD_BOXING =", "BOXING =", "switches_refused.BOXING.[key]: "),
        ("native_kernels = true", "native_kernels = false", "capabilities.native_kernels."),
        ("native_kernels = true", "", "capabilities.native_kernels: Field required"),
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


def test_libraries_of_one_name_are_below_sdks_in_different_folders():
    """Two vendors call a library alike (`libmccl.so`): no folder that the loader looks in may belong to both."""
    platforms = [platform for platform in load_all() if platform.sdk and not platform.sdk.with_pytorch]
    pairs = [(one, two) for one in platforms for two in platforms if one.id < two.id and one.collectives and two.collectives]
    shared = [(a, b) for a, b in pairs if set(a.collectives.libraries) & set(b.collectives.libraries)]
    assert [(a.id, b.id) for a, b in shared] == [("metax", "musa")]
    for one, two in pairs:  # of others the same, whatever their libraries are called
        assert not set(one.sdk.run_path) & set(two.sdk.run_path)
        assert not {one.sdk.root, *one.sdk.root_variables} & {two.sdk.root, *two.sdk.root_variables}
    linked = {name for platform in platforms for name in platform.sonames}
    opened = {name for platform in platforms for part in (platform.collectives, platform.tracer) if part for name in part.libraries}
    assert not any(fnmatch(name, pattern) for name in opened for pattern in linked)


def test_a_platform_without_a_device_layer_is_described_and_cannot_be_built(write):
    """Its facts are enough for variants, tables and solvers; what the contract suite may ask for is said once there is something to ask."""
    facts = VENDOR[: VENDOR.index("[capabilities]")] + VENDOR[VENDOR.index("[features]") :]
    path = write(facts)
    with pytest.raises(PlatformError, match="capabilities: is missing, and there is a device layer"):
        load(path)
    (path.parent / "CMakeLists.txt").unlink()
    platform = load(path)
    assert platform.described and platform.status == "Described"
    assert not load(write(VENDOR)).described


def test_an_sdk_of_unknown_version_makes_one_variant_that_asks_for_none(write):
    (variant,) = variants(load(write(VENDOR.replace('versions = ["3.8.0", "3.8.1.3"]\nroot = "/opt/maca"\n', ""))))
    assert (variant.name, variant.build_prefix, variant.sdk_spec, variant.run_path) == ("metal", "metal", None, [])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [('line = "mm = none # why"', "routes.rules.0.line: "), ('line = "mm"', "routes.rules.0.line: "), ("", "routes.rules.0.line: Field required")],
)
def test_a_rule_is_one_line_of_a_routing_file(write, line, sentence):
    with pytest.raises(PlatformError) as caught:
        load(write(VENDOR + f"[[routes.rules]]\n{line}\nreason = 'measured'\n"))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("pins", "flaggems", "triton"),
    [
        ('flaggems = "5.0.2"\ntriton = "3.7.*"', "flag-gems ==5.0.2", "triton 3.7.*"),
        ('flaggems = "git:5a58df410c551c4f4eb41d31887cd75fd596804a"\ntriton = "3.7.*"', "flag-gems * *g5a58df41*", "triton 3.7.*"),
        ('flaggems = "unknown"\ntriton = "3.1.*"\nflagtree = "0.5.*"', "flag-gems", "flagtree 0.5.*"),
    ],
)
@pytest.mark.parametrize(("optional", "word"), [("", "yes"), ("optional = ['flaggems']\n", "optional")])
def test_flaggems_is_pinned_by_the_platform_and_may_be_optional(write, pins, flaggems, triton, optional, word):
    text = VENDOR.replace('FLAGOS_BUILD_VENDOR = "vendor"', "").replace("vendor = true\n", f"flaggems = true\n{optional}\n[pins]\n{pins}\n")
    for variant in variants(load(write(text))):
        keys = sync.variant_keys(variant)
        assert (keys["flagos_flaggems"], keys["flagos_vendor_kernels"]) == (word, "no")
        assert (keys["flagos_flaggems_spec"], keys["flagos_triton_spec"]) == (flaggems, triton)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"platform": "host"}, "run.json is of platform host"),
        ({"emulated": True}, "of emulated devices, which prove nothing"),
        ({"devices": []}, "of emulated devices, which prove nothing"),
        ({"schema": 2}, "run.json has schema 2 and 1 is known"),
        ({"counts": COUNTS}, "no test ran"),
        ({"command": ["python", "-m", "pytest", "--pyargs", "torch_fl_tests.test_views"]}, "of a part (torch_fl_tests.test_views)"),
        ({"command": ["python3", "torch-fl-metal.pyz", "--only=test_views.py"]}, "of a part (--only=test_views.py)"),
        ({"command": ["python3", "torch-fl-metal.pyz", "--subset"]}, "of a part (--subset)"),
        ({"counts": 3}, "run.json is no file of evidence (counts: "),
        (None, "run.json is no file of evidence"),
    ],
)
def test_evidence_that_proves_nothing_is_refused(write, change, sentence):
    path = write(VENDOR.replace('hardware = "a card"', 'hardware = "a card"\nevidence = ["run.json"]'))
    (path.parent / "run.json").write_text("[]" if change is None else json.dumps(EVIDENCE | change))
    with pytest.raises(PlatformError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: evidence: ") and sentence in str(caught.value)


def test_status_is_computed_from_evidence(write, tmp_path):
    path = write(VENDOR.replace('hardware = "a card"', 'hardware = "a card"\nevidence = ["run.json"]'))
    for failed, status in ((0, "Stable"), (3, "99.9% of 10,000 tests pass"), (30, "99.7% of 10,000 tests pass")):
        (path.parent / "run.json").write_text(json.dumps(EVIDENCE | {"counts": COUNTS | {"passed": 10_000 - failed, "failed": failed}}))
        assert load(path).status == status
    platform = load(write(VENDOR))
    assert platform.status == "Emulated"
    root = tmp_path / "elsewhere"  # without emulated SDKs
    assert "| `metal` | a card | MACA 3.8.0, 3.8.1.3 | 3.12 | Not validated |" in sync.support_table([platform], root)
    (root / "tests" / "emulation" / "metal").mkdir(parents=True)
    (root / "tests" / "emulation" / "metal" / "CMakeLists.txt").write_text("")
    assert "| 3.12 | Emulated |" in sync.support_table([platform], root)


def test_an_emulated_build_is_another_build_with_the_reference_s_triton(write, tmp_path):
    vendor = load(write(VENDOR.replace("vendor = true", "vendor = true\nflaggems = true\n[pins]\nflaggems = '5.4.0rc2.post1'\nflagtree = '0.6.2a3+mthreads3.6'")))
    reference = next(platform for platform in load_all() if platform.emulated)
    real = variants(vendor)[-1]
    with pytest.raises(PlatformError, match="MACA has no emulation in tests/emulation/metal"):
        on_emulated_sdk(real, [vendor, reference], tmp_path)
    (tmp_path / "tests/emulation/metal").mkdir(parents=True)
    (tmp_path / "tests/emulation/metal/CMakeLists.txt").touch()
    made = on_emulated_sdk(real, [vendor, reference], tmp_path)
    assert (made.name, made.build_prefix) == ("metal-3.8.1.3-emulated", "metal_maca3813_emu")
    keys, emulated = sync.variant_keys(real), sync.variant_keys(made)
    assert (keys["flagos_flaggems_spec"], keys["flagos_triton_spec"]) == (
        "flag-gems ==5.4.0rc2.post1",
        "flagtree ==0.6.2a3+mthreads3.6",
    )
    assert emulated["flagos_triton_spec"] == reference.pins.triton_spec
    assert (keys["flagos_sdk_run_path"], emulated["flagos_sdk_run_path"]) == ("/opt/maca/lib", "none")
    driven = load(write(VENDOR.replace('root = "/opt/maca"', 'root = "/opt/maca"\nwith_pytorch = true')))
    assert sync.variant_keys(variants(driven)[-1])["flagos_sdk_run_path"] == "none"  # PyTorch has loaded its own
    assert keys["flagos_sdk_spec"] == emulated["flagos_sdk_spec"] == "maca-version ==3.8.1.3"
    alone = load(write(VENDOR.replace('versions = ["3.8.0", "3.8.1.3"]', 'versions = ["3.8.1.3"]')))
    assert variants(alone)[0].sdk_spec == "maca-version >=3.8,<4.0a0"  # no other build to be told from
    assert (keys["flagos_emulated"], emulated["flagos_emulated"]) == ("no", "yes")
    assert int(emulated["flagos_down_priority"]) > int(keys["flagos_down_priority"])
    with pytest.raises(PlatformError, match="host has no SDK that could be emulated"):
        on_emulated_sdk(variants(reference)[0], [vendor, reference], tmp_path)


@pytest.mark.parametrize(
    ("given", "kernels"),
    [({}, "yes"), ({"FLAGOS_BUILD_VENDOR": "ON"}, "yes"), ({"FLAGOS_BUILD_VENDOR": "off", "FLAGOS_BUILD_BOXING": "OFF"}, "no")],
)
def test_a_switch_leaves_a_package_of_kernels_out(write, given, kernels):
    made = switched(variants(load(write(VENDOR)))[0], given)
    assert sync.variant_keys(made)["flagos_vendor_kernels"] == kernels


def test_two_switches_of_the_same_kernels_may_not_say_the_contrary(write):
    text = VENDOR.replace('FLAGOS_BUILD_VENDOR = "vendor"', 'FLAGOS_BUILD_VENDOR = "vendor"\nFLAGOS_BUILD_BOXING = "vendor"')
    variant = variants(load(write(text.replace('FLAGOS_BUILD_BOXING = "there is nothing to box into"', ""))))[0]
    with pytest.raises(PlatformError, match="FLAGOS_BUILD_BOXING=1 and FLAGOS_BUILD_VENDOR=OFF speak of the same kernels: unset one of the two"):
        switched(variant, {"FLAGOS_BUILD_VENDOR": "OFF", "FLAGOS_BUILD_BOXING": "1"})
    assert switched(variant, {"FLAGOS_BUILD_VENDOR": "ON", "FLAGOS_BUILD_BOXING": "1"}).left_out == ()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"FLAGOS_BUILD_VENDOR": "perhaps"}, "FLAGOS_BUILD_VENDOR=perhaps: must be ON or OFF"),
        ({"FLAGOS_BUILD_BOXING": "1"}, "FLAGOS_BUILD_BOXING=1: there is nothing to box into"),
        ({"FLAGOS_BUILD_VENDORS": "ON"}, "metal has no such switch (it has: FLAGOS_BUILD_VENDOR)"),
    ],
)
def test_a_switch_that_cannot_be_gets_the_reason(write, given, sentence):
    with pytest.raises(PlatformError) as caught:
        switched(variants(load(write(VENDOR)))[0], given)
    assert sentence in str(caught.value)
