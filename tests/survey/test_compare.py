"""What counts as the same result."""

from __future__ import annotations

import pytest
import torch
from torch_fl.survey.compare import compare, of_values

NAN, INF = float("nan"), float("inf")


def aspects(a: torch.Tensor, b: torch.Tensor, exact: torch.Tensor | None = None) -> list[str]:
    return [difference.aspect for difference in of_values(a, b, exact)]


@pytest.mark.parametrize("value", [1.0, NAN, INF, -INF, 0.0])
def test_the_same_value_is_the_same(value: float) -> None:
    assert aspects(torch.tensor([value]), torch.tensor([value])) == []


@pytest.mark.parametrize("wanted,found", [(NAN, 0.0), (0.0, NAN), (INF, -INF), (INF, 1e38), (1.0, 1.1)])
def test_another_value_is_found(wanted: float, found: float) -> None:
    assert aspects(torch.tensor([wanted]), torch.tensor([found])) == ["values"]


def test_the_last_bit_of_a_sum_is_no_difference() -> None:
    assert aspects(torch.tensor([1000.0]), torch.tensor([1000.001])) == []


def test_the_last_bit_of_an_integer_is_a_difference() -> None:
    assert aspects(torch.tensor([2**53]), torch.tensor([2**53 + 1])) == ["values"]


def test_the_sign_of_a_zero_has_an_aspect_of_its_own() -> None:
    assert aspects(torch.tensor([0.0]), torch.tensor([-0.0])) == ["sign of zero"]


def test_what_is_nearer_to_the_exact_result_than_the_cpu_is_right() -> None:
    cpu, exact = torch.tensor([2.0], dtype=torch.float16), torch.tensor([2.2], dtype=torch.float64)
    assert aspects(cpu, torch.tensor([2.2], dtype=torch.float16)) == ["values"]
    assert aspects(cpu, torch.tensor([2.2], dtype=torch.float16), exact) == []
    assert aspects(cpu, torch.tensor([3.0], dtype=torch.float16), exact) == ["values"]


def test_a_result_that_came_back_on_the_cpu_is_found() -> None:
    (difference,) = compare(torch.ones(2), torch.ones(2))
    assert difference.aspect == "device"


def test_another_number_of_results_is_found() -> None:
    (difference,) = compare((torch.ones(2), torch.ones(2)), (torch.ones(2),))
    assert difference.aspect == "structure"


@pytest.mark.parametrize("wanted,found,good", [(True, True, True), (True, False, False), (NAN, NAN, True)])
def test_plain_results_are_compared(wanted: object, found: object, good: bool) -> None:
    assert (compare(wanted, found) == []) is good
