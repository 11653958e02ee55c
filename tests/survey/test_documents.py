"""The evidence that is kept in docs/, and what is written from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_fl.survey import assemble, conf, evidence, picture
from torch_fl.survey.evidence import BAD, Evidence, Operator
from torch_fl.survey.policy import SLOWEST, decide

ROOT = Path(__file__).parents[2]


CUDA = ROOT / "src" / "platforms" / "cuda" / "routes"


@pytest.fixture(scope="module")
def recorded() -> Evidence:
    return evidence.read(ROOT / "docs" / "survey.json")


@pytest.fixture(scope="module")
def on_card() -> Evidence:
    return evidence.read(ROOT / "docs" / "survey-cuda.json")


def entry(recorded: Evidence, name: str) -> Operator:
    return next(operator for operator in recorded.operators if operator.operator == name)


def test_the_routing_file_follows_from_the_evidence(recorded: Evidence) -> None:
    kept = ROOT / "python" / "torch_fl" / "configs" / "backends_host_flaggems.conf"
    assert kept.read_text("utf-8") == conf.text(recorded)


def test_the_picture_and_the_page_follow_from_the_evidence(recorded: Evidence) -> None:
    assert (ROOT / "docs" / "survey.svg").read_text("utf-8") == picture.svg(recorded)
    assert assemble.block(recorded) in (ROOT / "docs" / "survey.md").read_text("utf-8")


def test_the_files_of_a_card_follow_from_its_evidence(on_card: Evidence) -> None:
    source = "survey-cuda.json"
    assert (CUDA / "backends_flaggems.conf").read_text("utf-8") == conf.text(on_card, source=source)
    assert (CUDA / "backends_cuda_flaggems.conf").read_text("utf-8") == conf.text(on_card, own=True, source=source)
    assert (ROOT / "docs" / "survey-cuda.svg").read_text("utf-8") == picture.svg(on_card)
    assert assemble.block(on_card) in (ROOT / "docs" / "survey.md").read_text("utf-8")


def test_the_product_that_ignores_broadcasting_on_a_card_is_found(on_card: Evidence) -> None:
    for trial in entry(on_card, "mul.Tensor").trials:
        assert trial.verdict == "wrong" or trial.dtype not in ("float32", "bfloat16")
    assert decide(entry(on_card, "mul.Tensor")).chain == ""


def test_a_selection_that_takes_many_times_as_long_is_right_and_left_to_the_own_kernel(on_card: Evidence) -> None:
    operator = entry(on_card, "index_select")
    assert decide(operator).chain and decide(operator, SLOWEST).chain == ""
    ratios = [trial.cost.ratio for trial in operator.trials if trial.cost and trial.cost.ratio]
    assert ratios and min(ratios) > SLOWEST


def test_all_that_goes_before_own_kernels_was_measured_and_is_not_slower(on_card: Evidence) -> None:
    for operator in on_card.operators:
        chain = decide(operator, SLOWEST).chain
        for trial in operator.trials:
            if chain and trial.verdict == "correct" and f"dtype={trial.dtype}]" in chain:
                assert trial.cost and trial.cost.ratio is not None and trial.cost.ratio <= SLOWEST, operator.operator


@pytest.mark.parametrize("name", ["native_layer_norm_backward", "_safe_softmax", "select_backward"])
def test_known_defects_are_found_and_excluded(recorded: Evidence, name: str) -> None:
    operator = entry(recorded, name)
    assert any(trial.verdict in BAD for trial in operator.trials)
    assert decide(operator).chain == ""


def test_floor_divide_is_not_routed_for_half_types(recorded: Evidence) -> None:
    operator = entry(recorded, "floor_divide")
    bad = {trial.dtype for trial in operator.trials if trial.verdict in BAD}
    assert "float16" in bad and "float16" not in decide(operator).chain


def test_only_what_ran_a_kernel_is_routed(recorded: Evidence) -> None:
    for operator in recorded.operators:
        if decide(operator).chain:
            assert any(t.verdict == "correct" and t.launches and t.calls for t in operator.trials), operator.operator


def test_operators_that_refuse_other_devices_are_known_without_running_them(recorded: Evidence) -> None:
    refusing = {guard.function for operator in recorded.operators for guard in operator.guards if guard.refuses}
    assert {"_safe_softmax", "select_backward", "soft_margin_loss", "special_i0e", "upsample_bicubic2d"} <= refusing
