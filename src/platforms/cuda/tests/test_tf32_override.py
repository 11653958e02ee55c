"""NVIDIA's own switch for TF32, which outranks PyTorch's: the libraries of CUDA read it."""

import os
import subprocess
import sys

PROGRAM = """
import torch
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = True
a, b = torch.randn(64, 128), torch.randn(128, 32)
exact = a.double() @ b.double()
print(((torch.mm(a.to("flagos"), b.to("flagos")).cpu().double() - exact).norm() / exact.norm()).item())
"""


def error(**environ):
    environ = {**{name: value for name, value in os.environ.items() if "TF32" not in name}, **environ}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_nvidia_tf32_override_forbids_what_pytorch_allows():
    assert error() > 1e-5
    assert error(NVIDIA_TF32_OVERRIDE="0") < 1e-5
