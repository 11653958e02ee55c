"""How costs are taken and what is said of them; no time is compared with another here."""

from __future__ import annotations

import pytest
from torch_fl.survey import assemble, conf, cost, costs, plan
from torch_fl.survey.evidence import Cost, Evidence, Making, Operator, Trial


def trial(operator: str, verdict: str = "correct", dtype: str = "float32", **more: object) -> Trial:
    return Trial(operator=operator, dtype=dtype, verdict=verdict, signatures=[[dtype]], **more)


@pytest.fixture
def document() -> Evidence:
    costing = {"fast": Cost(ratio=0.5), "slow": Cost(ratio=45.0), "late": Cost(state="no time"), "unknown": None}
    found = [
        Operator(operator=name, function=name, own=name != "alone", trials=[trial(name, cost=Cost(ratio=1.0))])
        if name == "alone"
        else Operator(operator=name, function=name, own=True, trials=[trial(name, cost=costing[name])])
        for name in ("alone", *costing)
    ]
    making = Making(runs=[], date="d", versions={}, machine="m", seam="s", own="cuda")
    return Evidence(making=making, operators=found)


def routes(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: chain for name, _, chain in (line.partition(" = ") for line in lines)}


def test_beside_own_kernels_only_what_is_not_slower_is_routed_and_they_are_behind_it(document: Evidence) -> None:
    step = "flaggems[dtype=float32]"
    assert routes(conf.text(document, own=True)) == {"alone": f"{step}, none", "fast": f"{step}, cuda, none"}


def test_without_own_kernels_right_is_enough(document: Evidence) -> None:
    found = routes(conf.text(document))
    assert set(found) == {"alone", "fast", "slow", "late", "unknown"} and "cuda" not in str(found)


def test_what_has_no_time_is_told_apart_from_what_is_slow(document: Evidence) -> None:
    text = conf.text(document, own=True)
    assert "# slow: float32: right, 45 times the time" in text
    assert "# late: float32: right, cost not measured (no time" in text
    assert "1 ran out of time, 0 failed at that size, 1 were not tried" in assemble.costs(document)


def test_only_right_trials_without_a_cost_are_measured() -> None:
    trials = [
        trial("a"),
        trial("b", "wrong"),
        trial("c", cost=Cost(ratio=1.0)),
        trial("d", cost=Cost(state="no time")),
    ]
    assert [t.operator for t in costs.open_trials(trials)] == ["a"]
    assert [t.operator for t in costs.open_trials(trials, again=True)] == ["a", "d"]


def test_the_sides_take_turns_and_go_first_alternately() -> None:
    order: list[str] = []
    found = cost.in_turns(lambda: order.append("ours"), lambda: order.append("theirs"))
    ends = [name for name, after in zip(order, [*order[1:], ""], strict=True) if name != after]
    assert ends[:2] == ["ours", "theirs"] and ends.count("ours") > 2  # both were tried alone first
    assert found["ratio"] > 0 and found["spread"][0] <= found["ratio"] <= found["spread"][1]


def test_dtypes_beside_the_data_are_asked_for_once_it_is_right() -> None:
    looked_up = Trial(
        operator="embedding", dtype="float32", verdict="correct", signatures=[["float32", "int64"], ["float32"]]
    )
    assert plan.beside([looked_up]) == [("embedding", "int64")]
    assert plan.beside([looked_up.model_copy(update={"verdict": "wrong"})]) == []


def test_a_document_that_is_written_anew_says_what_its_own_machine_said(document: Evidence) -> None:
    again = assemble.renewed(document, {("fast", "float32"): trial("fast", "wrong")}, [])
    assert again.making == document.making
    assert [(o.operator, [t.verdict for t in o.trials]) for o in again.operators if o.trials] == [("fast", ["wrong"])]
