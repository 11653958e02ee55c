"""Requests that cannot be met are refused, in the words of refusals.txt."""

from __future__ import annotations

import pytest

from .metadata import write_channel
from .refusals import GOLDEN, explained, requests, text


@pytest.fixture(scope="module")
def refused(tmp_path_factory) -> dict[str, str]:
    """Explanations where each variant has one build: with more, a solver repeats itself."""
    return explained(write_channel(tmp_path_factory.mktemp("newest"), whole=False))


def test_the_explanations_are_those_that_somebody_has_read(refused):
    """After a change: `python -m tests.solve.refusals`, and read the difference."""
    assert len(refused) == len(list(requests()))
    assert text(refused) == GOLDEN.read_text("utf-8")


def test_each_names_a_package_that_a_person_can_change(refused):
    for request, reason in refused.items():
        assert any(word in reason for word in ("torch-fl", "pytorch", "python", "-version", "__cuda", "triton")), (request, reason)
