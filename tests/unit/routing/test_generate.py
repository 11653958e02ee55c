"""The routing file for FlagGems of a platform with kernels of its own."""

import pytest

from torch_fl_sources.routing.generate import NativeFirst, flaggems_text

MEASURED = {"mm": "flaggems[dtype=float32], none", "add.Tensor": "flaggems[dtype=float32], none", "sort": "flaggems[dtype=float32], none"}


def lines(first=()):
    text = flaggems_text("musa", ["mm", "add.Tensor", "abs"], MEASURED, first, "survey.json")
    return dict(line.split(" = ") for line in text.splitlines() if " = " in line)


def test_flaggems_is_asked_before_the_platforms_kernel():
    assert lines() == {
        "mm": "flaggems[dtype=float32], musa, none",
        "add.Tensor": "flaggems[dtype=float32], musa, none",
        "sort": "flaggems[dtype=float32], none",
    }


def test_what_the_platform_serves_first_says_why():
    found = lines([NativeFirst(["add.*", "sort"], "it is wrong there")])
    assert found["add.Tensor"] == "musa, none  # it is wrong there"
    assert found["sort"] == "none  # it is wrong there"
    assert found["mm"] == "flaggems[dtype=float32], musa, none"


def test_a_pattern_that_fits_nothing_is_refused():
    with pytest.raises(ValueError, match="no kernel's operator fits 'ad.*'"):
        lines([NativeFirst(["ad.*"], "a slip")])
