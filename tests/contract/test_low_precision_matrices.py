"""FP8 and packed FP4 matrices: of every layout, in autograd, and those that are refused."""

import pytest
import torch

from .low_precision_numbers import BF16, DEVICE, FP4, SIGNED, equal, expected, name, numbers, some

pytestmark = pytest.mark.capability("low_precision")


LAYOUTS = {
    "every second row": lambda x: x[::2],
    "every second column": lambda x: x[:, ::2],
    "backwards in memory": lambda x: x.t().contiguous().t(),
    "one row for all": lambda x: x[:1].expand(x.shape),
    "one column for all": lambda x: x[:, :1].expand(x.shape),
    "a part": lambda x: x[1:, 2:],
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e8m0fnu], ids=name)
def test_layouts(layout, dtype):
    (a, a16), view = some(dtype, 6, 8), LAYOUTS[layout]
    (b, b16) = some(torch.float8_e5m2, view(a16).shape[1], 4)
    equal(torch.mm(view(a), b), expected(torch.mm, view(a16), b16))
    equal(torch.mm(b.t(), view(a).t()), expected(torch.mm, b16.t(), view(a16).t()))
    batches = [x.expand(3, -1, -1) for x in (view(a), b, view(a16), b16)]
    equal(torch.bmm(*batches[:2]), expected(torch.bmm, *batches[2:]))


@pytest.mark.parametrize("shape", [(6, 8), (1, 8), (6, 2), (1, 2), (2, 2), (0, 8)])
def test_packed_matrices_of_every_shape(shape):
    """The last dimension is half as long as the matrix is wide; transposed, the pairs turn with it."""
    rows, columns = shape
    (a, a16), (row_wise, row_wise16), (w, w16) = some(FP4, *shape), some(FP4, columns, 4), some(FP4, 6, columns)
    assert a.shape == (rows, columns // 2)
    equal(torch.mm(a, row_wise), expected(torch.mm, a16, row_wise16))
    equal(torch.mm(a, w.t()), expected(torch.mm, a16, w16.t()))
    equal(torch.mm(w, a.t()), expected(torch.mm, w16, a16.t()))
    equal(torch.mm(row_wise.t(), a.t()), expected(torch.mm, row_wise16.t(), a16.t()))
    batches = [x.expand(3, -1, -1) for x in (a, w.t(), a16, w16.t())]
    equal(torch.bmm(*batches[:2]), expected(torch.bmm, *batches[2:]))
    (s, s16) = some(FP4, rows, 6)
    equal(torch.addmm(s, a, w.t()), expected(torch.addmm, s16, a16, w16.t()))


def test_packed_matrices_that_are_parts_of_others():
    (a, a16), (b, b16) = some(FP4, 8, 16), some(FP4, 8, 4)
    equal(torch.mm(a[::2, 4:], b), expected(torch.mm, a16[::2, 8:], b16))
    equal(torch.mm(a.t()[4:].t(), b), expected(torch.mm, a16[:, 8:], b16))


def refused(error, words, function, *arguments, **options):
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    sentence = str(caught.value).splitlines()[0]
    assert sentence.startswith("flagos: ") and words in sentence, sentence


def test_what_does_not_go_together_is_refused_in_a_sentence():
    low = torch.float8_e4m3fn
    (a, _), (b, _), (p, _) = some(low, 6, 8), some(low, 8, 4), some(FP4, 6, 8)
    full = torch.ones(8, 4, device=DEVICE)
    refused(RuntimeError, "mm: mat2 is Float beside an FP8 or FP4 matrix", torch.mm, a, full)
    refused(RuntimeError, "convert mat2 with .to(torch.bfloat16)", torch.mm, a, full)
    refused(RuntimeError, "bmm: self is Half", torch.bmm, a[None].half(), b[None])
    refused(RuntimeError, "mm: self has 8 columns and mat2 has 6 rows", torch.mm, a, a)
    refused(RuntimeError, "a byte of a packed matrix is two values", torch.mm, p, p)
    refused(RuntimeError, "addmm: mat1 must have 2 dimensions, and has 3", torch.addmm, b, a[None], b)
    refused(RuntimeError, "addmm: self is Float and the result BFloat16", torch.addmm, full[:6], a, b)
    refused(RuntimeError, "mm: out_dtype is Long", torch.mm, a, b, out_dtype=torch.int64)
    refused(RuntimeError, "mm: out is Double", torch.mm, a, b, out=full[:6].double())
    two = {"out_dtype": torch.float16, "out": full[:6].clone()}
    refused(RuntimeError, "mm: out is Float and out_dtype Half", torch.mm, a, b, **two)
    refused(RuntimeError, "addmm_: self has the sizes [1, 4] and the result [6, 4]", full[:1].to(BF16).addmm_, a, b)
    refused(RuntimeError, "addmm: self is Float4_e2m1fn_x2", some(FP4, 6, 4)[0].addmm_, a, b)
    with pytest.raises(RuntimeError, match="on the same device"):
        torch.mm(a, b.cpu())


@pytest.mark.parametrize("dtype", SIGNED, ids=name)
def test_gradients_have_the_type_of_their_matrix(dtype):
    (a, a16), (b, b16) = some(dtype, 6, 8), some(dtype, 8, 4)
    a16, b16 = a16.to(DEVICE).requires_grad_(), b16.to(DEVICE).requires_grad_()
    torch.mm(a.requires_grad_(), b.requires_grad_()).sum().backward()
    torch.mm(a16, b16).sum().backward()
    for found, wanted in ((a.grad, a16.grad), (b.grad, b16.grad)):
        assert found.dtype == dtype
        equal(found.float(), wanted.to(dtype).float())


@pytest.mark.parametrize("dtype", [FP4, torch.float8_e8m0fnu], ids=name)
def test_types_without_room_for_a_gradient_have_none(dtype):
    (a, a16), (b, b16) = some(dtype, 6, 8), some(BF16, 8, 4)
    a.requires_grad_()
    refused(NotImplementedError, "cannot hold a gradient; use self.detach()", torch.mm, a, b)
    b.requires_grad_()
    torch.mm(a.detach(), b).sum().backward()
    equal(b.grad, expected(torch.mm, a16.t(), torch.ones(6, 4, dtype=BF16)))
    with torch.no_grad():
        equal(torch.mm(a, b), expected(torch.mm, a16, b16))


def ones(dtype, *shape):
    return torch.ones(shape, device=DEVICE).to(dtype)


def scale():
    return torch.full((128,), 0.5, device=DEVICE)


def ends():
    return torch.tensor([128], dtype=torch.int32, device=DEVICE)


#: the call for two matrices of codes, and the type that their codes are of
SCALED = {
    "_scaled_mm": (
        lambda a, b: torch._scaled_mm(a, b.t(), scale()[0] * 0.5, ones(torch.float32), out_dtype=BF16),
        torch.float8_e4m3fn,
    ),
    "_scaled_mm of blocks": (
        lambda a, b: torch._scaled_mm(a, b.t(), *[ones(torch.float8_e8m0fnu, 512)] * 2, out_dtype=BF16) / 4,
        torch.float8_e4m3fn,
    ),
    "_scaled_mm of packed blocks": (
        lambda a, b: torch._scaled_mm(a, b.t(), *[ones(torch.float8_e4m3fn, 2048)] * 2, out_dtype=BF16) / 4,
        FP4,
    ),
    "_scaled_grouped_mm": (
        lambda a, b: torch._scaled_grouped_mm(a, b.t(), scale(), scale(), ends(), out_dtype=BF16)[0],
        torch.float8_e4m3fn,
    ),
}


@pytest.mark.parametrize("operator", SCALED)
def test_scales_are_served_by_a_kernel_for_them_or_refused(operator, served):
    """Nothing here emulates scales: what has no kernel says so, and no result is one without them."""
    call, dtype = SCALED[operator]
    codes = [torch.randn(128, 128).to(torch.float8_e4m3fn).view(torch.uint8) for _ in range(2)]
    a, b = (x.to(DEVICE).view(dtype) for x in codes)
    served.clear()
    try:
        found = call(a, b)
    except (RuntimeError, ValueError) as error:
        assert str(error).strip()
    else:
        wanted = numbers(codes[0], dtype) @ numbers(codes[1], dtype).t() / 4
        torch.testing.assert_close(found.cpu().double(), wanted, rtol=2**-7, atol=2**-5)
    from torch_fl import _C

    assert not [op for op, backend in _C.dispatch_counts() if backend == "low_precision"]
