"""The process that runs rows of the operator matrix: FlagGems serves their operators there, and nowhere else.

Reads one JSON object a line (row, dtype) and answers with one (launches, served, error).
"""

import contextlib
import json
import os
import sys
import warnings


def routes(path: str) -> None:
    """Write a routing file in which FlagGems serves each operator that a row is about."""
    from torch_fl.flaggems import operators

    from .matrix_rows import ROWS

    wanted = {function for row in ROWS.values() for function in row.functions}
    lines = [
        f"{operator} = flaggems\n" for operator, function in sorted(operators.table().items()) if function in wanted
    ]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def _flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def run(row, dtype) -> None:
    """Compare one case with the CPU.

    Raises:
        AssertionError: it differs.
    """
    import torch

    #: relative and absolute; sums of a few dozen terms in another order than the CPU's
    tolerances = {torch.float32: (1.3e-5, 1e-4), torch.float16: (1e-2, 2e-2), torch.bfloat16: (3e-2, 6e-2)}
    torch.manual_seed(0)
    arguments = row.arguments(dtype)
    expected = None if row.random else _flat(row.call(*(a.clone() for a in arguments)))
    found = [part.cpu() for part in _flat(row.call(*(a.to("flagos") for a in arguments)))]
    if row.random:
        assert all(torch.isfinite(part).all() and part.float().std() > 0 for part in found), "no random numbers"
        return
    for part, wanted in zip(found, expected, strict=True):
        relative, absolute = tolerances.get(part.dtype, (0, 0))
        torch.testing.assert_close(part, wanted, rtol=relative, atol=absolute, equal_nan=True)


def _messages(error):
    """The messages of an exception and of those it was raised from, outermost first."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def answer(request: dict) -> dict:
    """Run one case and say what happened."""
    import torch
    import torch_fl_triton_host
    from torch_fl import _C
    from torch_fl.flaggems import operators

    from .matrix_rows import ROWS

    row = ROWS[request["row"]]
    torch_fl_triton_host.reset_launches()
    _C.reset_dispatch_counts()
    error = None
    try:
        run(row, getattr(torch, request["dtype"]))
    except Exception as raised:
        error = "\n".join(_messages(raised))
    served = {
        operators.table().get(op)
        for (op, backend), calls in _C.dispatch_counts().items()
        if backend == "flaggems" and calls
    }
    return {
        "launches": sum(torch_fl_triton_host.launches().values()),
        "served": sorted(served & set(row.functions)),
        "error": error,
    }


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):  # whatever a kernel prints is no answer
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
