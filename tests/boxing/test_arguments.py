"""Every form of argument and result that an operator's C++ signature can have reaches the target's kernel and comes back."""

import pytest
import torch

from .conftest import DEVICE, moved, same

a, b = torch.arange(12.0).reshape(3, 4) / 3, torch.linspace(-1, 2, 12).reshape(3, 4)
square = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
index = torch.tensor([2, 0, 1])

FORMS = {
    "two tensors": ("add.Tensor", torch.add, (a, b), {}),
    "a number": ("add.Tensor", torch.add, (a, 2), {}),
    "one tensor twice": ("mul.Tensor", torch.mul, (a, a), {}),
    "a scalar": ("clamp", torch.clamp, (b, -0.5, 1.0), {}),
    "optional tensors": ("clamp.Tensor", torch.clamp, (b, a, None), {}),
    "sizes": ("constant_pad_nd", torch.constant_pad_nd, (a, [1, 2], 0.5), {}),
    "symbolic numbers": ("roll", torch.roll, (a.double(), 1, 0), {}),  # float64: no kernel of FlagGems is in its way
    "a type": ("sum.dim_IntList", torch.sum, (a, 1), {"dtype": torch.float64}),
    "text": ("bucketize.Tensor", torch.bucketize, (b, torch.tensor([0.0, 1.0])), {}),
    "a list": ("cat", torch.cat, ([a, b],), {}),
    "indices": ("index.Tensor", lambda t, i: t[i], (a, index), {}),
    "indices with gaps": ("index.Tensor", lambda t, i: t[:, i], (a, index), {}),
    "a mask": ("index.Tensor", lambda t, m: t[m], (b, b > 0), {}),
    "two results": ("topk", torch.topk, (b, 2), {}),
    "three results": ("native_layer_norm", torch.native_layer_norm, (a, [4], None, None, 1e-5), {}),
    "a list of results": ("_foreach_add.List", torch._foreach_add, ([a, b], [b, a]), {}),
    "lists of numbers": ("_foreach_mul.ScalarList", torch._foreach_mul, ([a, b], [2.0, 3.0]), {}),
    "a truth value": ("equal", torch.equal, (a, a.clone()), {}),
    "a composition below autograd": ("embedding", torch.embedding, (a, index), {}),
    "convolution": ("convolution", torch.conv1d, (a[None], b[:, :3].reshape(3, 3, 1)), {}),
    "linear algebra": ("linalg_inv_ex", torch.linalg.inv_ex, (square,), {}),
    "no elements": ("add.Tensor", torch.add, (a[:0], b[:0]), {}),
    "no dimensions": ("mul.Tensor", torch.mul, (a[0, 1], b[0, 1]), {}),
    "a transposed view": ("mm", torch.mm, (a.t(), b), {}),
    "complex numbers": ("mul.Tensor", torch.mul, (torch.complex(a, b), 1j), {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_call_gives_the_targets_result(form, boxed):
    operator, function, arguments, keywords = FORMS[form]
    if form == "a transposed view":
        found = function(moved(a).t(), moved(b))
    else:
        found = function(*moved(arguments), **keywords)
    boxed(operator)
    same(found, function(*arguments, **keywords))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64])
def test_types_go_through(dtype, boxed):
    x, y = (a > 1).to(dtype), (b > 0).to(dtype)
    same(torch.mul(moved(x), moved(y)), torch.mul(x, y))
    same(torch.eq(moved(x), moved(y)), torch.eq(x, y))
    same(torch.where(moved(a > 2), moved(x), moved(y)), torch.where(a > 2, x, y))
    boxed("mul.Tensor", "eq.Tensor", "where.self")


def test_factories_lie_on_the_device(boxed):
    same(torch.arange(5, device=DEVICE), torch.arange(5))
    same(torch.full((2, 3), 7.0, device=DEVICE), torch.full((2, 3), 7.0))
    same(torch.eye(3, device=DEVICE), torch.eye(3))
    same(torch.tril_indices(3, 3, device=DEVICE), torch.tril_indices(3, 3))
    boxed("tril_indices")


def test_a_number_of_the_cpu_is_an_operand(boxed):
    same(moved(a) * torch.tensor(2.0), a * 2)
    boxed("mul.Tensor")


def test_results_that_share_memory_share_it_still():
    """Both halves of what one kernel returns, and a result that is the argument itself."""
    parts = torch._foreach_add([moved(a), moved(b)], 1.0)
    assert parts[0].untyped_storage().data_ptr() != parts[1].untyped_storage().data_ptr()
    x = moved(a)
    kept, _ = torch.native_dropout(x, 0.5, False)
    kept.zero_()
    assert x.device == kept.device and kept.count_nonzero().item() == 0


def test_lazy_bits_reach_the_kernel(boxed):
    z = torch.complex(a, b)
    same(torch.mm(moved(z), moved(z).mH), torch.mm(z, z.mH))
    same(moved(z).conj() * moved(z), z.conj() * z)
    same(moved(z).conj().imag + moved(a), z.conj().imag + a)
    boxed("mm", "mul.Tensor", "add.Tensor")
