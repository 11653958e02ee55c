"""What is odd about the SDK, and that the kernels know: each test fails where its workaround is taken out.

Others that do are in test_random.py (64-bit draws, odd lengths), test_network.py (algorithms, one dimension, gradients on
autograd's thread) and tests/emulation/base/tests/device (the current device).
"""

import ctypes
import json
import threading

import pytest
import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile
from torch_fl.evidence import capabilities

ONES_SEED = 10189  # of its first 2048 numbers in (0, 1] one rounds to 1 in single precision

PROGRAMS = {
    "add.Tensor": lambda d: torch.ones(3, device=d) + torch.ones(3, device=d),
    "addmm": lambda d: F.linear(torch.ones(2, 3, device=d), torch.ones(4, 3, device=d), torch.ones(4, device=d)),
    "sum.dim_IntList": lambda d: torch.ones(3, 4, device=d).sum(1),
    "convolution": lambda d: F.conv2d(torch.ones(1, 2, 5, 5, device=d), torch.ones(3, 2, 3, 3, device=d)),
    "sort.stable": lambda d: torch.ones(5, device=d).sort(stable=True).values,
    "normal_": lambda d: torch.ones(5, device=d).normal_(2, 0),
    "native_dropout": lambda d: torch.native_dropout(torch.ones(5, device=d), 0.0, True)[0],
}


@pytest.mark.parametrize("operator", PROGRAMS)
def test_kernels_run_on_their_tensors_device_and_not_on_the_current_one(backends, operator):
    if torch.flagos.device_count() < 2:
        pytest.skip("needs 2 devices")
    for device in ("flagos:0", "flagos:1", "flagos:0"):  # a handle for each
        torch.testing.assert_close(PROGRAMS[operator](device).cpu(), PROGRAMS[operator]("cpu"))
    assert backends(operator) == {"musa"}
    assert torch.flagos.current_device() == 0


def test_each_thread_has_its_own_handle(backends):
    x = torch.arange(6.0, device="flagos").view(2, 3)
    found = []
    torch.mm(x, x.t())
    threads = [threading.Thread(target=lambda: found.append(torch.mm(x, x.t()).cpu())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and all(torch.equal(product, x.cpu() @ x.cpu().t()) for product in found)
    assert backends("mm") == {"musa"}


def test_the_upper_end_of_a_draw_becomes_the_lower_one(emulated, backends):
    torch.manual_seed(ONES_SEED)
    x = torch.empty(2048, device="flagos").uniform_().cpu()
    assert x.max() < 1 and (x == 0).sum() == 1
    torch.manual_seed(ONES_SEED)
    assert torch.empty(2048, device="flagos").bernoulli_(1.0).cpu().min() == 1
    assert backends("uniform_") == backends("bernoulli_.float") == {"musa"}


def test_convolutions_do_not_keep_the_tf32_of_a_product_before_them(backends):
    x, w = torch.randn(1, 8, 6, 6), torch.randn(8, 8, 3, 3)
    on_device = [t.to("flagos").requires_grad_() for t in (x, w)]

    def error():
        y = F.conv2d(*on_device)
        gradients = torch.autograd.grad(y.sum(), on_device)
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        wanted = F.conv2d(a, b)
        pairs = zip((y, *gradients), (wanted, *torch.autograd.grad(wanted.sum(), (a, b))), strict=True)
        return [(one.detach().cpu() - other).abs().max().item() for one, other in pairs]

    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        torch.mm(torch.ones(2, 2, device="flagos"), torch.ones(2, 2, device="flagos"))
        assert min(error()) > 1e-3
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    assert max(error()) < 1e-4
    assert backends("convolution") == backends("convolution_backward") == {"musa"}


REPEATED = torch.tensor(1.5).expand(3, 4)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_of_one_repeated_element_are_written_whole(native, name, dim):
    """One dimension: mudnn writes the first result alone. Memory that was used before shows it."""

    def run(x):
        torch.full((64,), -7.0, device=x.device), torch.full((64,), -7, device=x.device)
        return tuple(getattr(torch, name)(x, dim))

    native(f"{name}.dim", run, REPEATED)
    native(f"arg{name}", lambda x: getattr(torch, f"arg{name}")(x, dim), REPEATED)


@pytest.mark.parametrize("dims", [1, (0, 1)], ids=str)
def test_norms_and_variances_of_one_repeated_element(native, dims):
    native("linalg_vector_norm", torch.linalg.vector_norm, REPEATED, 2, dims)
    native("var.correction", torch.var, REPEATED, dims)


@pytest.mark.parametrize("options", [{"groups": 2}, {"stride": 2}, {"dilation": 2}], ids=str)
def test_a_recommended_algorithm_that_is_refused_is_no_reason_to_fall_back(native, options):
    """Nor is it for the second call, which begins with what the first one found."""

    def twice(x, w):
        x, w = (t.detach().requires_grad_() for t in (x, w))
        return [torch.autograd.grad(F.conv2d(x, w, **options).square().sum(), (x, w)) for _ in range(2)]

    x, w = torch.randn(2, 4, 9, 9), torch.randn(4, 4 // options.get("groups", 1), 3, 3)
    for operator in ("convolution", "convolution_backward"):
        native(operator, twice, x, w, rtol=1e-4, atol=1e-4)


def test_the_table_of_capabilities_says_whether_a_trace_shows_fills(tmp_path):
    """MUPTI takes the request for records of memset and never writes one: the call alone is seen."""
    x = torch.ones(1024, device="flagos")
    runtime = ctypes.CDLL("libmusart.so.5")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as profiled:
        assert runtime.musaMemset(ctypes.c_void_p(x.data_ptr()), 0, ctypes.c_size_t(4096)) == 0
        torch.flagos.synchronize()
    profiled.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(event.get("name") == "musaMemset" for event in events)
    assert any(event.get("cat") == "gpu_memset" for event in events) == (capabilities.missing("memset_records") is None)
    assert not x.any()
