"""The operator matrix: FlagGems' kernels, run by the plug-in on flagos tensors, give what the CPU gives.

Each case must have launched a Triton kernel, so a fallback cannot pass for one.
"""

import warnings

import pytest
import torch

pytest.importorskip("flag_gems", reason="the operator matrix is FlagGems' kernels; install torch-fl-flaggems")

from . import matrix_placing, matrix_pointwise, matrix_products, matrix_reductions

ROWS = [row for part in (matrix_pointwise, matrix_reductions, matrix_products, matrix_placing) for row in part.ROWS]
CASES = [pytest.param(row, dtype, id=f"{row}-{str(dtype).removeprefix('torch.')}") for row in ROWS for dtype in row.dtypes]
#: relative and absolute; sums of a few dozen terms in another order than the CPU's
TOLERANCES = {torch.float32: (1.3e-5, 1e-4), torch.float16: (1e-2, 2e-2), torch.bfloat16: (3e-2, 6e-2)}


@pytest.fixture
def served_by_flaggems():
    """``served_by_flaggems(functions)`` registers these FlagGems functions for the rest of the test."""
    import flag_gems

    library = torch.library.Library("aten", "IMPL")

    def enable(functions):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each takes the place of a kernel of torch_fl, which is the point
            flag_gems.only_enable(lib=library, include=list(functions))

    yield enable
    library._destroy()


def _flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _messages(error):
    """The messages of an exception and of those it was raised from, outermost first."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("row, dtype", CASES)
def test_a_flaggems_kernel_gives_what_the_cpu_gives(row, dtype, served_by_flaggems, launches):
    torch.manual_seed(0)
    arguments = row.arguments(dtype)
    expected = None if row.random else _flat(row.call(*(a.clone() for a in arguments)))
    on_device = [a.to("flagos") for a in arguments]
    if row.functions:
        served_by_flaggems(row.functions)

    if dtype in row.errors:
        with pytest.raises(Exception) as refused:
            row.call(*on_device)
        assert row.errors[dtype] in " ".join(_messages(refused.value))
        return

    found = [part.cpu() for part in _flat(row.call(*on_device))]
    assert sum(launches().values()) > 0, "no Triton kernel ran"
    if row.random:
        assert all(torch.isfinite(part).all() and part.float().std() > 0 for part in found)
        return
    for part, wanted in zip(found, expected, strict=True):
        relative, absolute = TOLERANCES.get(part.dtype, (0, 0))
        torch.testing.assert_close(part, wanted, rtol=relative, atol=absolute, equal_nan=True)
