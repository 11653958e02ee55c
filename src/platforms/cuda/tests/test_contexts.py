"""Which cards a process opens a context on: half a gigabyte of each card's memory, and a tenth of a second."""

import subprocess
import sys

import pytest
import torch

# What is registered first is called last.
PROGRAM = """
import atexit

def contexts():
    import torch
    print([torch._C._cuda_hasPrimaryContext(i) for i in range(2)])

atexit.register(contexts)
import torch, torch_fl
"""


@pytest.mark.parametrize(("code", "opened"), [("torch.flagos.device_count()", [0, 0]), ("torch.ones(3, device='flagos').sum().item()", [1, 0])])
def test_a_card_that_nothing_used_is_left_alone_to_the_end(code, opened):
    if torch.flagos.device_count() < 2:
        pytest.skip("needs 2 devices")
    done = subprocess.run([sys.executable, "-c", PROGRAM + code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"{[bool(number) for number in opened]}\n"), done.stderr
