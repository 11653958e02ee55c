"""How the calls of a trial make its verdict."""

from __future__ import annotations

import pytest
import torch
from torch_fl.survey.calls import Call
from torch_fl.survey.evidence import Trial
from torch_fl.survey.trial import excused, first_line, planned, settle

CALLED = {"launches": 3, "calls": 3}


@pytest.mark.parametrize(
    "signatures,needs,failed,counts,expected",
    [
        ({("float32",)}, set(), set(), CALLED, "correct"),
        ({("float32",)}, {"numel>=1"}, set(), CALLED, "correct"),
        ({("float32",)}, set(), {"error"}, CALLED, "error"),
        ({("float32",)}, set(), {"error", "wrong"}, CALLED, "wrong"),
        ({("float32",)}, set(), set(), {"launches": 0, "calls": 3}, "idle"),
        ({("float32",)}, set(), set(), {"launches": 3, "calls": 0}, "idle"),
        (set(), {"numel>=1"}, set(), CALLED, "error"),
        (set(), set(), set(), {}, "untested"),
    ],
)
def test_the_verdict(signatures: set, needs: set, failed: set, counts: dict, expected: str) -> None:
    trial = Trial(operator="abs", dtype="float32", **counts)
    settle(trial, signatures, needs, failed)
    assert trial.verdict == expected


@pytest.mark.parametrize("shape,condition", [((0, 3), "numel>=1"), ((), "ndim>=1"), ((2, 3), None)])
def test_a_condition_keeps_a_call_away_by_its_first_tensor(shape: tuple[int, ...], condition: str | None) -> None:
    assert excused(Call("add.Tensor", (torch.ones(shape), torch.ones(3)), {}, "")) == condition


def test_a_compile_error_is_told_by_its_cause() -> None:
    text = "flagos: aten::mm (FlagGems' mm): CompilationError: at 33:15:\n    x = tl.dot(a, b)\n        ^\nUnsupported lhs dtype int64"
    assert first_line(RuntimeError(text)).endswith("at 33:15: Unsupported lhs dtype int64")


def test_the_quick_form_is_a_part_of_the_full_one() -> None:
    calls = [Call("add.Tensor", (torch.ones(2, 3), torch.ones(2, 3)), {}, "made")]
    quick, full = ([check for check, _ in planned(calls, depth)] for depth in ("quick", "full"))
    assert set(quick) < set(full) and "edge values" in quick and "64-bit offsets" in full


def test_a_condition_keeps_gaps_away() -> None:
    gaps = torch.ones(2, 6)[:, ::2]
    assert excused(Call("add.Tensor", (torch.ones(2, 3), gaps), {}, "")) == "contiguous=true"


def test_the_largest_call_is_varied() -> None:
    calls = [Call("abs", (torch.ones(()),), {}, "made"), Call("abs", (torch.ones(3, 4),), {}, "made")]
    shapes = {tuple(call.args[0].shape) for check, call in planned(calls, "quick") if check in ("gaps", "edge values")}
    assert shapes == {(3, 4)}
