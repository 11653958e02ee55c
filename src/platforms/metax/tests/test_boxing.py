"""PyTorch's CUDA kernels on flagos tensors, on the vendor's core of PyTorch: which kernel ran, and in any order of imports."""

import os
import subprocess
import sys

import pytest
import torch
from torch_fl import _C
from torch_fl.evidence import capabilities

DEVICE = "flagos"
pytestmark = pytest.mark.skipif(not _C.native_device_type(), reason="boxing is not installed (torch-fl-vendor-kernels, torch-fl-libtorch)")


@pytest.fixture
def served():
    """Says which kernels served an operator since the test began: ``served("mm")``."""
    before = dict(_C.dispatch_counts())

    def count(operator):
        after = _C.dispatch_counts()
        return {slot: n - before.get((op, slot), 0) for (op, slot), n in after.items() if op == operator and n > before.get((op, slot), 0)}

    return count


@pytest.mark.parametrize("order", ["import torch, torch_fl", "import torch_fl, torch", "import torch"])
def test_no_order_of_imports_matters(order, tmp_path):
    program = order + """
x = torch.ones(3, 3, device="flagos", requires_grad=True)
(x @ x).relu().sum().backward()
g = torch.Generator("flagos").manual_seed(5)
print(x.grad.sum().item(), torch.flagos.device_count(), torch.ones(2).pin_memory().is_pinned(), torch.rand(2, generator=g, device="flagos").shape[0])
"""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("FLAGOS_", "LD_"))}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"54.0 {torch.flagos.device_count()} True 2\n"


def test_the_cards_kernels_run_forward_and_backward(served):
    x = torch.randn(4, 4, device=DEVICE, requires_grad=True)
    torch.nn.functional.softmax(x @ x + x, dim=-1).sum().backward()
    for operator in ("mm", "add.Tensor", "_softmax", "_softmax_backward_data", "sum"):
        assert set(served(operator)) == {"cuda"}, (operator, served(operator))


def test_a_training_step_with_amp_uses_the_cards_kernels(served):
    net = torch.nn.Linear(8, 4).to(DEVICE)
    step = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler(DEVICE)
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast(DEVICE, dtype=dtype):
            out = net(torch.randn(2, 8, device=DEVICE))
        assert out.dtype is dtype
        scaler.scale(out.float().pow(2).mean()).backward()
        scaler.step(step)
        scaler.update()
        step.zero_grad()
    for operator in ("addmm", "_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"):
        assert set(served(operator)) == {"cuda"}, (operator, served(operator))


def test_an_overflow_is_skipped_and_the_scale_backs_off(served):
    weight = torch.nn.Parameter(torch.ones(3, device=DEVICE))
    step, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler(DEVICE, init_scale=4.0)
    scaler.scale((weight * torch.tensor([1.0, float("inf"), 1.0], device=DEVICE)).sum()).backward()
    scaler.step(step)
    scaler.update()
    assert weight.tolist() == [1, 1, 1] and scaler.get_scale() == 2.0
    assert set(served("_amp_foreach_non_finite_check_and_unscale_")) == {"cuda"}


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu], ids=str)
def test_fp8_factors_are_decoded_on_the_card(dtype, served):
    a, b = (torch.tensor(values, device=DEVICE).to(dtype) for values in ([[1.0, 2.0], [4.0, 0.5]], [[2.0, 1.0], [0.5, 4.0]]))
    found = torch.mm(a, b)
    assert found.dtype is torch.bfloat16
    torch.testing.assert_close(found.cpu(), torch.mm(a.cpu().to(torch.bfloat16), b.cpu().to(torch.bfloat16)))
    assert served("mm")["low_precision"] == 1 and served("mm").get("cuda") == 1


def test_the_cards_are_pytorchs_cuda_devices_and_the_evidence_knows_it():
    assert _C.native_device_type() == "cuda"
    assert capabilities.missing("native_kernels") is None and capabilities.missing("tf32") is None
    assert "PyTorch's" in capabilities.missing("own_allocator")
    built = capabilities.build()
    assert built["bundled_libtorch"] == "torch-fl-libtorch" and built["vendor_torch_version"].startswith(torch.__version__.split("+")[0] + "+")
