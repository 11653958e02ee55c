"""An accelerator's variant as it is asked for: its SDK or the emulated one, pins, switches, and its tests' evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from flbuild import accelerator, arguments, bootstrap
from flbuild.errors import UserError
from flbuild.interpreter_tags import current
from flbuild.layout import Layout
from flbuild.variant_files import names, python_of

from .conftest import PLATFORM

SDK = """
python = ["{python}"]

[sdk]
name = "toysdk"
title = "ToySDK"
versions = ["1.2"]
root = "{root}"
root_variables = ["TOY_HOME", "TOY_ROOT"]
probe = "include/toy.h"

[switches_refused]
FLAGOS_BUILD_BOXING = "there is nothing to box into"
"""


@pytest.fixture
def card(toy: Layout) -> Layout:
    """The toy project with a platform that has an SDK, which is not installed, and its emulation."""
    write(toy, python=current().xy)
    (toy.root / "src/platforms/card/emulation").mkdir(parents=True)
    (toy.root / "src/platforms/card/emulation/CMakeLists.txt").touch()
    return toy


def write(layout: Layout, python: str) -> None:
    file = layout.root / "src/platforms/card/platform.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PLATFORM.format(id="card", more=SDK.format(python=python, root=layout.root / "opt")))


def install_sdk(folder: Path) -> Path:
    (folder / "include").mkdir(parents=True)
    (folder / "include/toy.h").touch()
    return folder


def test_an_emulated_build_needs_no_sdk_and_says_in_its_name_what_it_is(card: Layout) -> None:
    variant = accelerator.choose(card, "card-1.2", True, {})
    assert (variant.name, variant.build_prefix) == ("card-1.2-emulated", "card_toysdk12_emu")
    assert accelerator.sdk_root(card, variant, {}) is None


def test_without_the_sdk_one_sentence_says_what_to_do(card: Layout) -> None:
    variant = accelerator.choose(card, "card-1.2", False, {})
    default = card.root / "opt"
    with pytest.raises(UserError) as caught:
        accelerator.sdk_root(card, variant, {})
    assert str(caught.value) == (
        f"the ToySDK 1.2 SDK is not on this machine ({default}/include/toy.h does not exist); install it and set TOY_HOME to its"
        " folder, or add --emulated to build on the emulated SDK (pixi run test-card-emulated)."
    )
    (card.root / "src/platforms/card/emulation/CMakeLists.txt").unlink()
    with pytest.raises(UserError, match=r"to its folder\.$"):
        accelerator.sdk_root(card, variant, {})
    with pytest.raises(UserError, match=r"\(TOY_ROOT=/nowhere has no include/toy.h\)"):
        accelerator.sdk_root(card, variant, {"TOY_ROOT": "/nowhere"})


def test_the_sdk_is_found_by_variable_before_its_default_folder(card: Layout) -> None:
    variant = accelerator.choose(card, "card-1.2", False, {})
    default, other = install_sdk(card.root / "opt"), install_sdk(card.root / "elsewhere")
    assert accelerator.sdk_root(card, variant, {}) == default
    assert accelerator.sdk_root(card, variant, {"TOY_ROOT": str(other)}) == other
    assert accelerator.sdk_root(card, variant, {"TOY_HOME": str(default), "TOY_ROOT": str(other)}) == default


def test_only_an_emulated_build_takes_another_python(card: Layout) -> None:
    write(card, python="3.10" if current().xy != "3.10" else "3.11")
    with pytest.raises(UserError, match=f"the test channel would be made of this Python {current().xy}"):
        accelerator.write_variant(card, accelerator.choose(card, "card-1.2", False, {}), at_hand=True)
    emulated = accelerator.choose(card, "card-1.2", True, {})
    assert "python" not in accelerator.write_variant(card, emulated, at_hand=True).read_text().replace("`python", "")
    assert "\npython:" in accelerator.write_variant(card, emulated, at_hand=False).read_text()


def test_what_is_asked_for_plainly_is_built_from_the_file_of_the_repository(card: Layout) -> None:
    variant = accelerator.choose(card, "card-1.2", False, {})
    assert accelerator.write_variant(card, variant, at_hand=True) == card.root / "variants/card-1.2.yaml"


@pytest.mark.parametrize(
    ("name", "emulated", "environment", "sentence"),
    [
        ("card-1.2", False, {"FLAGOS_BUILD_BOXING": "ON"}, "FLAGOS_BUILD_BOXING=ON: there is nothing to box into"),
        ("card-9", False, {}, "card-9: no platform.toml makes such a variant"),
        ("plain", True, {}, "plain has no SDK that could be emulated: leave --emulated out"),
    ],
)
def test_what_cannot_be_built_gets_a_sentence(card: Layout, name, emulated, environment, sentence) -> None:
    with pytest.raises(UserError) as caught:
        accelerator.choose(card, name, emulated, environment)
    assert sentence in str(caught.value)


def test_the_build_switches_reach_the_build_and_nothing_else_of_the_product_does(card: Layout, monkeypatch) -> None:
    for name in ("FLAGOS_BUILD_VENDOR", "FLAGOS_LOG", "FLAGOS_HOST_DEVICES", "MUSA_HOME"):
        monkeypatch.setenv(name, "1")
    kept = bootstrap.clean_environment(card, {})
    assert {"FLAGOS_BUILD_VENDOR", "MUSA_HOME"} <= kept.keys()
    assert not {"FLAGOS_LOG", "FLAGOS_HOST_DEVICES"} & kept.keys()


def test_the_options_are_there() -> None:
    given = arguments.parser().parse_args(["musa-5.1.0", "--emulated", "--subset"])
    assert (given.variant, given.emulated, given.subset) == ("musa-5.1.0", True, True)
    assert "musa-5.1.0" in names(bootstrap.ROOT)


def test_the_contract_suite_is_run_by_the_installed_command_which_writes_the_evidence(card: Layout) -> None:
    prefix = card.root / "prefix"
    python = prefix / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@" > said\nexit 3\n')
    python.chmod(0o755)
    variant = accelerator.choose(card, "card-1.2", True, {})
    status, evidence = accelerator.run_tests(card, variant, prefix, subset=True, jobs=2, quiet=True)
    assert (status, evidence) == (3, card.artifacts / "evidence/card-1.2-emulated-subset.json")
    said = (card.work / "test" / "said").read_text().split()
    assert said[:4] == ["-B", "-m", "torch_fl", "test"]
    assert said[4:] == ["card", "--output", str(evidence), "--jobs", "2", "--emulated", "--subset"]


@pytest.mark.parametrize("mirror", [False, True])
def test_sdks_whose_runtimes_mirror_cudas_are_put_through_the_tests_that_they_share(card: Layout, monkeypatch, mirror) -> None:
    emulation = card.root / "tests/emulation"
    folders = [emulation / "card/tests/own", emulation / "base/tests/shared", card.root / "tests/unit/platform_host"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "test_it.py").touch()
    if mirror:
        (emulation / "card" / accelerator.MIRROR).touch()
    ran: list[Path] = []
    monkeypatch.setattr(accelerator.testing, "run_pytest", lambda _, given, *rest: ran.extend(given) or 5)
    assert accelerator.run_emulation_tests(card, accelerator.choose(card, "card-1.2", True, {}), card.root, True) == 5
    assert ran == [folder for folder in folders if mirror or "shared" not in folder.parts]


def test_what_is_only_described_is_refused_before_anything_is_prepared(card: Layout) -> None:
    (card.root / "variants/card-1.2.yaml").write_text("python:\n  - 3.9.*\n")
    assert python_of(card.root, "card-1.2") == "3.9"
    (card.root / "src/platforms/card/CMakeLists.txt").unlink()
    with pytest.raises(UserError, match=r"card-1\.2 cannot be built yet: .* what is known of it is in src/platforms/card/README\.md\."):
        python_of(card.root, "card-1.2")
