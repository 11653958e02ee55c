"""A process ends with status 0 also where kernels are Python's: the engine's threads drop what Python made."""

import os

from .test_calls import stubbed

RUNS = int(os.environ.get("TORCH_FL_EXIT_RUNS", "50"))
PROGRAM = """
import torch
x = torch.ones(3, device="flagos", requires_grad=True)
(x * 2).sum().backward()
"""


def test_right_after_backward(stub, python):
    routes = stubbed(stub, {"mul.Tensor": "anything(lambda a, b: torch.add(a, a))"})
    ended = [python(PROGRAM, routes=routes, check=False) for _ in range(RUNS)]
    assert [(done.returncode, done.stdout + done.stderr) for done in ended] == [(0, "")] * RUNS
