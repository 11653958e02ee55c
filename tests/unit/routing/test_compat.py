"""Older names: they work, and say the new one once."""

import warnings

import pytest

from torch_fl_sources import compat


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    monkeypatch.setattr(compat, "_said", set())
    monkeypatch.setattr(compat, "_platforms", lambda: ["host", "musa"])  # those of a build, which is not here


def test_the_new_name_wins_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compat.environment("FLAGOS_ACCELERATOR", {"FLAGOS_ACCELERATOR": "musa", "ACCELERATOR": "host"}) == "musa"
        assert compat.environment("FLAGOS_ACCELERATOR", {}) is None


def test_an_older_name_warns_once_with_the_new_one():
    with pytest.warns(FutureWarning, match="ACCELERATOR is now called FLAGOS_ACCELERATOR") as said:
        assert compat.environment("FLAGOS_ACCELERATOR", {"ACCELERATOR": "musa"}) == "musa"
        assert compat.environment("FLAGOS_ACCELERATOR", {"ACCELERATOR": "musa"}) == "musa"
    assert len(said) == 1


def test_somebody_elses_accelerator_variable_is_left_alone():
    assert compat.environment("FLAGOS_ACCELERATOR", {"ACCELERATOR": "tpu-v5"}) is None


@pytest.mark.parametrize(
    ("text", "on"),
    [("", set()), ("dispatch", {"dispatch"}), (" fallback , dispatch", {"dispatch", "fallback"})],
)
def test_log_words(text, on):
    assert {word for word, value in compat.log_switches({"FLAGOS_LOG": text}).items() if value} == on


def test_unknown_log_word():
    with pytest.raises(
        ValueError, match="FLAGOS_LOG names 'despatch', which is no log; the words are dispatch, fallback"
    ):
        compat.log_switches({"FLAGOS_LOG": "despatch"})


def test_older_log_switches():
    with pytest.warns(FutureWarning, match="FLAGOS_LOG=fallback"):
        assert compat.log_switches({"FLAGOS_LOG_FALLBACK": "1", "FLAGOS_LOG_DISPATCH": "0"}) == {
            "dispatch": False,
            "fallback": True,
        }


def test_retired_names_say_what_to_do():
    with pytest.warns(FutureWarning, match="FLAGOS_USE_FLAGGEMS has no effect any more: install or remove"):
        compat.report_retired({"FLAGOS_USE_FLAGGEMS": "1"})


def test_a_platforms_notice_is_given_once_for_the_value_that_it_is_about():
    notices = [{"variable": "OTHERS_SWITCH", "value": "1", "sentence": "it does something; set it to 0"}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in ({}, {"OTHERS_SWITCH": "0"}, {"OTHERS_SWITCH": "10"}):
            compat.report_notices(notices, other)
    with pytest.warns(UserWarning, match="OTHERS_SWITCH=1: it does something; set it to 0") as said:
        compat.report_notices(notices, {"OTHERS_SWITCH": "1"})
        compat.report_notices(notices, {"OTHERS_SWITCH": "1"})
    assert len(said) == 1
