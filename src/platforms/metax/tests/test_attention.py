"""Attention goes to FlagGems for the calls that MetaX has measured, and nowhere else."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch_fl import _C

NAME = "scaled_dot_product_attention"
pytestmark = pytest.mark.skipif(not _C.slot_operators("flaggems"), reason="torch-fl-flaggems is not installed")


def served(*shape, dtype=torch.bfloat16, **options):
    """The backends that served the composite operator itself, once its result was found right."""
    torch.manual_seed(0)
    operands = [torch.randn(shape, dtype=dtype) for _ in range(3)]
    exact = scaled_dot_product_attention(*(x.double() for x in operands), **options)
    _C.reset_dispatch_counts()
    with torch.no_grad():
        found = scaled_dot_product_attention(*(x.to("flagos") for x in operands), **options).cpu()
    assert (found.double() - exact).norm() / exact.norm() < (1e-2 if dtype == torch.bfloat16 else 1e-5)
    return {backend for (operator, backend), calls in _C.dispatch_counts().items() if operator == NAME and calls}


def test_the_measured_calls():
    assert served(1, 1, 1024, 128) == {"flaggems"}


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 1, 512, 128), {}),
        ((1, 1, 1024, 64), {}),
        ((1, 1024, 128), {}),
        ((1, 1, 1024, 128), {"is_causal": True}),
        ((1, 1, 1024, 128), {"scale": 0.1}),
        ((1, 1, 1024, 128), {"dtype": torch.float32}),
    ],
    ids=str,
)
def test_any_other_call(shape, options):
    assert "flaggems" not in served(*shape, **options)
