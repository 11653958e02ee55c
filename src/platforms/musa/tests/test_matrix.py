"""Products of matrices, and TF32."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64], ids=str)
def test_mm_and_bmm(native, dtype):
    draw = (lambda *s: torch.randint(-5, 6, s)) if dtype == torch.int64 else (lambda *s: torch.randn(s).to(dtype))
    native("mm", torch.mm, draw(7, 5), draw(5, 9))
    native("bmm", torch.bmm, draw(3, 7, 5), draw(3, 5, 9))


def test_transposed_and_strided_factors(native):
    a, b = torch.randn(5, 7), torch.randn(9, 5)
    native("mm", torch.mm, a.t(), b.t())
    native("mm", torch.mm, torch.randn(14, 10)[::2, ::2], b.t())
    native("mm", torch.mm, torch.randn(5).expand(3, 5), b.t())
    native("bmm", torch.bmm, torch.randn(3, 5, 7).transpose(1, 2), torch.randn(5, 9).expand(3, 5, 9))


@pytest.mark.parametrize("beta, alpha", [(1, 1), (0.5, 2), (0, 1)])
def test_addmm_and_baddbmm(native, beta, alpha):
    a, b = torch.randn(7, 5), torch.randn(5, 9)
    for added in (torch.randn(7, 9), torch.randn(9), torch.randn(7, 1)):
        native("addmm", torch.addmm, added, a, b, beta=beta, alpha=alpha)
    native("baddbmm", torch.baddbmm, torch.randn(3, 1, 9), torch.randn(3, 7, 5), torch.randn(3, 5, 9), beta=beta, alpha=alpha)
    native("addmv", torch.addmv, torch.randn(7), a, torch.randn(5), beta=beta, alpha=alpha)


def test_beta_0_does_not_read_the_tensor_that_is_added(native):
    native("addmm", torch.addmm, torch.full((2, 2), float("nan")), torch.ones(2, 3), torch.ones(3, 2), beta=0)


def test_in_place_out_and_sums_of_nothing(native):
    def inplace(c, a, b):
        return c.clone().addmm_(a, b)

    native("addmm_", inplace, torch.randn(7, 9), torch.randn(7, 5), torch.randn(5, 9))
    native("mm.out", lambda a, b: torch.mm(a, b, out=torch.empty(9, 7, device=a.device).t()), torch.randn(7, 5), torch.randn(5, 9))
    native("mm", torch.mm, torch.randn(3, 0), torch.randn(0, 4))
    native("addmm", torch.addmm, torch.randn(4), torch.randn(3, 0), torch.randn(0, 4), beta=2)


def test_dot_and_mv(native):
    native("dot", torch.dot, torch.randn(9), torch.randn(9))
    native("addmv.out", torch.mv, torch.randn(4, 9), torch.randn(9))


def test_linear_with_gradients(native):
    def train(x, w, b):
        w, b = w.detach().requires_grad_(), b.detach().requires_grad_()
        y = torch.nn.functional.linear(x, w, b)
        y.pow(2).sum().backward()
        return [y, w.grad, b.grad]

    native("addmm", train, torch.randn(6, 4), torch.randn(5, 4), torch.randn(5))


def test_float32_products_are_exact_unless_tf32_is_allowed():
    torch.manual_seed(3)
    a, b = torch.randn(64, 64), torch.randn(64, 64)
    wanted = a @ b
    x, y = a.to("flagos"), b.to("flagos")

    def error():
        return (torch.mm(x, y).cpu() - wanted).abs().max().item()

    assert error() < 1e-4
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        assert error() > 1e-3, "the flag is read on each call"
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    assert error() < 1e-4
