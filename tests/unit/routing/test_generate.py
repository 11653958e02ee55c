"""The routing file for FlagGems of a platform, with kernels of its own or without."""

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


def test_without_kernels_of_its_own_what_goes_first_there_is_the_cpus():
    text = flaggems_text(None, [], MEASURED, [NativeFirst(["sort"], "it is wrong there")], "survey.json")
    assert "to which operators go that no line names" in text and "None" not in text
    assert "mm = flaggems[dtype=float32], none" in text.splitlines()
    assert "sort = none  # it is wrong there" in text.splitlines()


def test_a_rule_stands_as_it_is_whatever_the_survey_says():
    rules = [("mm = flaggems[ndim=2], none", "so it was measured"), ("topk = none", "nobody knows")]
    text = flaggems_text("musa", ["mm"], MEASURED, [NativeFirst(["mm"], "not this")], "survey.json", rules)
    found = dict(line.split(" = ") for line in text.splitlines() if " = " in line)
    assert found["mm"] == "flaggems[ndim=2], none  # so it was measured"
    assert found["topk"] == "none  # nobody knows"
    assert list(found) == sorted(found)
