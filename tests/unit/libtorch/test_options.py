"""What is asked of build-locally.py about kernels on a vendor's core of PyTorch."""

from __future__ import annotations

import pytest

from flbuild.__main__ import check_options
from flbuild.accelerator import choose, switches
from flbuild.arguments import parser
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.libtorch import package
from flbuild.platforms import ROOT, load_all, variants
from flbuild.report import Report

WITH_CORE = next(variants(platform)[-1].name for platform in load_all() if platform.libtorch)


def asked(*words: str, environment: dict[str, str] | None = None):
    """The variant and the options of a command line."""
    args = parser().parse_args(list(words))
    kernels = args.kernels or (["boxing"] if args.bundle else [])
    return choose(Layout(ROOT), args.variant, args.emulated, environment or {}, kernels), args


def test_kernels_on_a_vendors_core_are_left_out_until_they_are_asked_for() -> None:
    assert asked(WITH_CORE)[0].left_out == ("vendor",) and not asked(WITH_CORE)[0].needs_libtorch
    for way in (asked(WITH_CORE, "--with", "boxing"), asked(WITH_CORE, environment={"FLAGOS_BUILD_BOXING": "ON"}), asked(WITH_CORE, "--bundle")):
        assert way[0].left_out == () and way[0].needs_libtorch
    assert asked("cuda-13.0", "--with", "boxing")[0].left_out == () and not asked("cuda-13.0", "--with", "boxing")[0].needs_libtorch


def test_the_switches_of_the_vendors_guide_ask_for_boxing() -> None:
    """It leaves handwritten kernels out, of which MetaX has none here, and asks for boxing."""
    assert asked("metax-3.8.1.3", environment={"FLAGOS_BUILD_VENDOR": "OFF", "FLAGOS_BUILD_BOXING": "1"})[0].needs_libtorch


def test_kernels_that_a_platform_has_not_are_refused() -> None:
    with pytest.raises(UserError, match="there is nothing to box into"):
        asked("musa-5.1.0", "--with", "boxing")
    with pytest.raises(UserError, match="host has no such switch"):
        asked("host", "--with", "juggling")


def test_an_option_and_a_variable_that_say_the_contrary_are_refused() -> None:
    with pytest.raises(UserError, match="--with boxing and FLAGOS_BUILD_BOXING=OFF say the contrary"):
        switches(["boxing"], {"FLAGOS_BUILD_BOXING": "OFF"})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((WITH_CORE, "--libtorch", "torch.whl"), "--libtorch is for kernels on the vendor's core of PyTorch, and these are not asked for; add --with boxing"),
        (("cuda-13.0", "--libtorch", "torch.whl"), "--libtorch: NVIDIA CUDA runs on the official core of PyTorch, so there is nothing to bundle"),
        ((WITH_CORE, "--with", "boxing", "--license-file", "/nowhere.txt"), "--license-file /nowhere.txt is no file; give the vendor's terms"),
    ],
)
def test_options_that_would_be_passed_over_are_refused(words, sentence) -> None:
    with pytest.raises(UserError) as caught:
        check_options(*asked(*words))
    assert sentence in str(caught.value)


def test_without_the_vendors_wheel_there_is_a_sentence() -> None:
    variant, _ = asked(WITH_CORE, "--with", "boxing")
    with pytest.raises(UserError, match=r"only its portal has; give the wheel with --libtorch FILE, or add --emulated"):
        package.prepare(Layout(ROOT), Report(as_json=True), variant, None, None, [])
