"""A process ends with status 0 whatever it was doing."""

import os
import subprocess
import sys

import pytest
import torch
from torch_fl import _C

from . import processes

RUNS = int(os.environ.get("TORCH_FL_EXIT_RUNS", "50"))
BACKWARD = "import torch; x = torch.ones(3, device='flagos', requires_grad=True); (x * 2).sum().backward()"


def status(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_right_after_backward(tmp_path):
    """B1: a script whose last line is backward() ends with status 0, every time."""
    done = [processes.run(BACKWARD, os.environ, tmp_path) for _ in range(RUNS)]
    assert [(one.returncode, one.stdout + one.stderr) for one in done] == [(0, "")] * RUNS


def test_the_threads_of_the_engine_are_passed_through():
    """What ends a process cleanly: each of them has gone through a graph of ours, whether or not backward() used it."""
    x = torch.ones(3, device="flagos", requires_grad=True)
    (x * 2).sum().backward()
    assert _C.pass_through_engine_threads() == torch.flagos.device_count()


def test_threads_that_nothing_needed_are_not_started_for_the_end(tmp_path):
    code = "import torch; from torch_fl import _C; x = torch.ones(3, device='flagos'); before = _C.engine_has_threads()"
    done = processes.run(code + "; x.requires_grad_(); x.sum().backward(); print(before, _C.engine_has_threads())", os.environ, tmp_path)
    assert (done.returncode, done.stdout) == (0, "False True\n"), done.stderr


@pytest.mark.parametrize(
    "code",
    {
        "work still queued": "import torch; s = torch.flagos.Stream(); torch.flagos.set_stream(s); x = torch.ones(500, 500, device='flagos')\nfor _ in range(30): x = x @ x / 500",
        "tensors, streams, events and generators alive": "import torch, builtins; builtins.kept = (torch.ones(3, device='flagos'), torch.flagos.Stream(), torch.flagos.Event(), torch.Generator('flagos'), torch.ones(2).pin_memory()); builtins.kept[2].record()",
        "a thread that computes": BACKWARD
        + "; import threading; threading.Thread(target=lambda: (x * 3).sum().backward()).start()",
        "a device used in atexit": "import atexit, torch; x = torch.ones(2, device='flagos'); atexit.register(lambda: (x + 1).sum().item())",
        "double backward": "import torch; x = torch.ones(3, device='flagos', requires_grad=True); g, = torch.autograd.grad((x**3).sum(), x, create_graph=True); g.sum().backward()",
        "a Python hook and a custom Function": BACKWARD.replace("(x * 2)", "F.apply(x * 2)").replace(
            "; x =",
            """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x =""",
        )
        + "; x.register_hook(lambda g: g)",
        "nothing used": "import torch",
    }.items(),
    ids=lambda item: item[0],
)
def test_with(code):
    """B1: the same, with other things alive or under way."""
    assert status(code[1]) == (0, "")


@pytest.mark.devices(2)
def test_with_backward_on_two_devices_and_a_side_stream():
    assert status(
        "import torch; torch.flagos.set_stream(torch.flagos.Stream()); x = torch.ones(3, device='flagos', requires_grad=True); (x * 2).to('flagos:1').mul(3).sum().backward()"
    ) == (0, "")


def test_with_an_error_underway():
    returncode, text = status(BACKWARD + "; 1 / 0")
    assert returncode == 1 and text.endswith("ZeroDivisionError: division by zero\n")


def test_with_sys_exit():
    assert status(BACKWARD + "; import sys; sys.exit(5)") == (5, "")
