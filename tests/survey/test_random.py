"""What is said of random results."""

from __future__ import annotations

import torch
from torch_fl.survey import random


def test_the_same_draws_are_alike_and_others_are_not() -> None:
    assert random.alike([torch.ones(3)], [torch.ones(3)])
    assert not random.alike([torch.ones(3)], [torch.zeros(3)])
    assert not random.alike([torch.ones(3)], [torch.ones(4)])


def test_two_fair_draws_are_similar() -> None:
    a, b = (torch.randn(4096, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) for seed in (1, 2))
    assert random.similar(a, b)


def test_another_mean_or_deviation_is_seen() -> None:
    a = torch.randn(4096, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert not random.similar(a, a + 1)
    assert not random.similar(a, a * 2)
    assert not random.similar(a, torch.zeros_like(a))
