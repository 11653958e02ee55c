"""From evidence to routes."""

from __future__ import annotations

import pytest
from torch_fl.survey.evidence import Cost, Finding, Guard, Operator, Trial
from torch_fl.survey.policy import SLOWEST, decide


def trial(dtype: str, verdict: str = "correct", signatures: list[list[str]] | None = None, **more: object) -> Trial:
    made = [[dtype]] if signatures is None else signatures
    findings = (
        []
        if verdict in ("correct", "idle", "untested")
        else [Finding(check="samples", aspect="values", message="differs")]
    )
    return Trial(operator="op", dtype=dtype, verdict=verdict, signatures=made, findings=findings, **more)


def chain(*trials: Trial, **more: object) -> str:
    return decide(Operator(operator="op", function="op", trials=list(trials), **more)).chain


def test_one_right_dtype_is_one_step() -> None:
    assert chain(trial("float32")) == "flaggems[dtype=float32], none"


def test_dtypes_that_were_never_side_by_side_are_steps_of_their_own() -> None:
    assert chain(trial("float32"), trial("float16")) == "flaggems[dtype=float16], flaggems[dtype=float32], none"


def test_dtypes_that_were_right_side_by_side_share_a_step() -> None:
    both = [["float32"], ["float16", "float32"]]
    assert chain(trial("float32", signatures=both), trial("float16")) == "flaggems[dtype=float16|float32], none"


def test_index_dtypes_belong_to_the_step() -> None:
    data = trial("float32", signatures=[["float32", "int64"]])
    assert chain(data, trial("int64", "untested", signatures=[])) == "flaggems[dtype=float32|int64], none"


def test_an_index_dtype_that_was_not_measured_as_data_is_not_let_in() -> None:
    assert chain(trial("float32", signatures=[["float32", "int64"]])) == ""


@pytest.mark.parametrize("verdict", ["wrong", "error", "crash", "timeout"])
def test_a_bad_dtype_is_left_out(verdict: str) -> None:
    assert chain(trial("float32"), trial("float16", verdict)) == "flaggems[dtype=float32], none"


@pytest.mark.parametrize("verdict", ["wrong", "error", "crash", "timeout", "idle", "untested"])
def test_without_a_right_dtype_there_is_no_route(verdict: str) -> None:
    assert chain(trial("float32", verdict)) == ""


def test_an_index_dtype_that_is_bad_as_data_is_not_let_in() -> None:
    assert chain(trial("float32", signatures=[["float32", "int64"]]), trial("int64", "wrong")) == ""


def test_what_was_not_measured_is_not_routed() -> None:
    assert chain() == ""


def test_an_operator_that_this_pytorch_does_not_have_is_not_routed() -> None:
    assert chain(trial("float32"), exists=False) == ""


def test_a_guard_that_a_run_passed_excludes_nothing() -> None:
    guard = Guard(function="op", file="op.py", line=3, text="assert x.is_cuda", refuses=True)
    assert chain(trial("float32"), guards=[guard]) == "flaggems[dtype=float32], none"


def test_a_guard_is_the_reason_where_nothing_ran() -> None:
    guard = Guard(function="op", file="op.py", line=3, text="assert x.is_cuda", refuses=True)
    decision = decide(Operator(operator="op", function="op", guards=[guard]))
    assert decision.chain == "" and "op.py:3" in decision.reason


def costing(ratio: float | None, **more: object) -> Cost:
    return Cost(ratio=ratio, **more)


def test_slow_dtypes_are_left_out_only_where_a_limit_is_given() -> None:
    trials = [trial("float32", cost=costing(3.0)), trial("float16", cost=costing(0.5))]
    operator = Operator(operator="op", function="op", trials=trials)
    assert decide(operator, slowest=1.05).chain == "flaggems[dtype=float16], none"
    assert "float32" in decide(operator).chain


@pytest.mark.parametrize("ratio,routed", [(1.05, True), (1.06, False), (45.0, False)])
def test_the_limit_is_the_policys(ratio: float, routed: bool) -> None:
    operator = Operator(operator="op", function="op", trials=[trial("float32", cost=costing(ratio))])
    assert bool(decide(operator, SLOWEST).chain) is routed
    assert routed or f"{ratio:g} times" in decide(operator, SLOWEST).reason


@pytest.mark.parametrize("cost", [None, costing(None, state="no time"), costing(None, state="failed")])
def test_what_has_no_measured_cost_is_neither_slow_nor_routed(cost: Cost | None) -> None:
    operator = Operator(operator="op", function="op", trials=[trial("float32", cost=cost)])
    decision = decide(operator, SLOWEST)
    assert decision.chain == "" and "cost not measured" in decision.reason
    assert decide(operator).chain == "flaggems[dtype=float32], none"


def test_a_wrong_operator_is_not_routed_however_fast_it_is() -> None:
    operator = Operator(operator="op", function="op", trials=[trial("float32", "wrong", cost=costing(0.1))])
    assert decide(operator, SLOWEST).chain == ""


@pytest.mark.parametrize("need", ["numel>=1", "contiguous=true"])
def test_what_only_some_tensors_break_gets_a_condition(need: str) -> None:
    assert chain(trial("float32", needs=[need])) == f"flaggems[dtype=float32, {need}], none"
