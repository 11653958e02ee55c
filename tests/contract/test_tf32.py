"""Products of float32 are products of float32, and TF32 only where PyTorch's switches allow it.

The switches are CUDA's, as PyTorch has no others, and hold for `flagos`.
"""

import json

import pytest
import torch

from .conftest import convolutions

DEVICE = "flagos"
PRECISE = 1e-5  #: relative error of a product of float32; TF32 keeps 10 bits of each factor, which is some 3e-4
COARSE = 1e-2

F = torch.nn.functional
PRODUCTS = {
    "mm": lambda a, b, c: torch.mm(a, b),
    "addmm": lambda a, b, c: torch.addmm(c, a, b),
    "bmm": lambda a, b, c: torch.bmm(a.expand(3, -1, -1), b.expand(3, -1, -1)),
    "baddbmm": lambda a, b, c: torch.baddbmm(c[None], a.expand(3, -1, -1), b.expand(3, -1, -1)),
    "matmul": lambda a, b, c: a[None] @ b,
    "linear": lambda a, b, c: F.linear(a, b.t(), c[0]),
    "einsum": lambda a, b, c: torch.einsum("ik,kj->ij", a, b),
}

SWITCHES = {
    "matmul.allow_tf32": lambda on: setattr(torch.backends.cuda.matmul, "allow_tf32", on),
    "set_float32_matmul_precision": lambda on: torch.set_float32_matmul_precision("high" if on else "highest"),
    "matmul.fp32_precision": lambda on: setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32" if on else "ieee"),
}


@pytest.fixture(autouse=True)
def _switches_as_found():
    yield
    torch.backends.cuda.matmul.allow_tf32 = False  # this one repairs what the others leave


def operands(dtype=torch.float32):
    return [torch.randn(shape, dtype=dtype) for shape in ((64, 128), (128, 32), (64, 32))]


def relative_error(function, *arguments):
    found = function(*(x.to(DEVICE) for x in arguments)).cpu().double()
    exact = function(*(x.double() for x in arguments))
    return ((found - exact).norm() / exact.norm()).item()


@pytest.mark.parametrize("product", PRODUCTS)
def test_products_are_precise_by_default(product):
    assert torch.backends.cuda.matmul.allow_tf32 is False and torch.get_float32_matmul_precision() == "highest"
    assert relative_error(PRODUCTS[product], *operands()) < PRECISE


@pytest.mark.parametrize("switch", SWITCHES)
def test_products_are_precise_once_tf32_is_switched_off_again(switch):
    for on in (True, False):
        SWITCHES[switch](on)
    for product in PRODUCTS.values():
        assert relative_error(product, *operands()) < PRECISE


@pytest.mark.capability("tf32")
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("switch", SWITCHES)
def test_each_switch_turns_tf32_on(switch, product, served):
    """It allows TF32 and does not ask for it: FlagGems' kernels stay with float32."""
    SWITCHES[switch](True)
    error = relative_error(PRODUCTS[product], *operands())
    assert error < (PRECISE if served.has("flaggems") else COARSE)
    assert served.has("flaggems") or error > PRECISE


@pytest.mark.parametrize("switch", SWITCHES)
def test_doubles_are_doubles_under_every_switch(switch):
    SWITCHES[switch](True)
    for product in PRODUCTS.values():
        assert relative_error(product, *operands(torch.float64)) < 1e-14


def gradient(x, w):
    x = x.clone().requires_grad_()
    (x @ w).square().sum().backward()
    return x.grad


def test_gradients_follow_the_switch_too():
    """They are computed on autograd's own thread."""
    x, w, _ = operands()
    assert relative_error(gradient, x, w) < PRECISE


@pytest.mark.capability("tf32")
def test_gradients_are_coarse_with_tf32():
    x, w, _ = operands()
    torch.backends.cuda.matmul.allow_tf32 = True
    assert PRECISE < relative_error(gradient, x, w) < COARSE


def convolution(x, w):
    return F.conv2d(x, w, padding=1)


def layer():
    """Of a size for which libraries choose the units that multiply matrices."""
    return torch.randn(8, 64, 28, 28), torch.randn(64, 64, 3, 3)


def test_convolutions_are_precise_without_tf32():
    """PyTorch allows it for convolutions by default."""
    with convolutions(allow_tf32=False):
        assert relative_error(convolution, *layer()) < PRECISE


@pytest.mark.capability("tf32")
def test_convolutions_are_coarse_where_all_switches_allow_it():
    torch.backends.cuda.matmul.allow_tf32 = True
    with convolutions(allow_tf32=True):
        assert PRECISE < relative_error(convolution, *layer()) < COARSE


PROGRAM = """
    import json, torch
    torch.manual_seed(0)
    a, b = torch.randn(64, 128), torch.randn(128, 32)
    exact = a.double() @ b.double()
    errors = []
    allowed = torch.backends.cuda.matmul.allow_tf32
    for switch in (None, False):
        if switch is not None:
            torch.backends.cuda.matmul.allow_tf32 = switch
        found = (a.to("flagos") @ b.to("flagos")).cpu().double()
        errors.append(((found - exact).norm() / exact.norm()).item())
    print(json.dumps([allowed, errors]))
"""


@pytest.mark.parametrize("value", [None, "0", "1"])
def test_the_environment_decides_before_the_program_does(python, value):
    """TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1, which some container images set, allows TF32 until the program forbids it."""
    from torch_fl.evidence import capabilities

    done = python(PROGRAM, warn=value == "1", TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=value)  # a platform may say what it does
    allowed, (by_environment, forbidden) = json.loads(done.stdout)
    assert allowed is (value == "1")
    assert forbidden < PRECISE
    if value == "1" and capabilities.missing("tf32") is None:
        assert PRECISE < by_environment < COARSE
    elif value != "1":
        assert by_environment < PRECISE
