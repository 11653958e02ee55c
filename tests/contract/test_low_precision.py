"""Products of FP8 and packed FP4 matrices: decoded to BF16 on the device, and multiplied by the kernel that serves BF16."""

import itertools
import math

import pytest
import torch

DEVICE = "flagos"
BF16 = torch.bfloat16
FP4 = torch.float4_e2m1fn_x2
#: exponent bits, mantissa bits, bias, and which codes are no numbers
FORMATS = {
    torch.float8_e4m3fn: (4, 3, 7, "all ones are NaN"),
    torch.float8_e5m2: (5, 2, 15, "IEEE"),
    torch.float8_e4m3fnuz: (4, 3, 8, "minus zero is NaN"),
    torch.float8_e5m2fnuz: (5, 2, 16, "minus zero is NaN"),
    torch.float8_e8m0fnu: (8, 0, 127, "a power of two"),
}
FP8 = list(FORMATS)
SIGNED = [dtype for dtype in FP8 if dtype != torch.float8_e8m0fnu]
LOW = [*FP8, FP4]

pytestmark = pytest.mark.capability("low_precision")


def name(value):
    return str(value).removeprefix("torch.")


def number(code, dtype):
    """What one code stands for, from the definition of the format."""
    exponent_bits, mantissa_bits, bias, rule = FORMATS[dtype]
    if rule == "a power of two":
        return math.nan if code == 0xFF else 2.0 ** (code - bias)
    sign = -1.0 if code >> 7 else 1.0
    exponent, mantissa = (code & 0x7F) >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if rule == "all ones are NaN" and code & 0x7F == 0x7F:
        return math.nan
    if rule == "minus zero is NaN" and code == 0x80:
        return math.nan
    if rule == "IEEE" and exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    fraction = mantissa / (1 << mantissa_bits)
    return sign * (fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias))


HALVES = [sign * value for sign in (1.0, -1.0) for value in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]


def numbers(codes, dtype):
    """Of a CPU tensor of codes, as float64; those of a packed one lie side by side in the last dimension, the low half first."""
    if dtype == FP4:
        pairs = [[HALVES[code & 15], HALVES[code >> 4]] for code in codes.flatten().tolist()]
        return torch.tensor(pairs, dtype=torch.float64).view(*codes.shape[:-1], 2 * codes.shape[-1])
    return torch.tensor([number(code, dtype) for code in codes.flatten().tolist()], dtype=torch.float64).view(codes.shape)


def every_code(dtype):
    return torch.arange(256, dtype=torch.uint8), numbers(torch.arange(256, dtype=torch.uint8), dtype)


def some(dtype, *shape):
    """A device matrix of ordinary numbers, of this logical shape, and the same numbers as BF16."""
    if dtype == BF16:
        x = torch.randn(shape).to(BF16)
        return x.to(DEVICE), x
    if dtype == FP4:
        codes = torch.randint(0, 256, (*shape[:-1], shape[-1] // 2), dtype=torch.uint8)
    elif dtype == torch.float8_e8m0fnu:
        codes = torch.randint(120, 135, shape, dtype=torch.uint8)
    else:
        codes = torch.randn(shape).to(dtype).view(torch.uint8)
    return codes.to(DEVICE).view(dtype), numbers(codes, dtype).to(BF16)


def expected(function, *matrices, **options):
    """What the device makes of the same numbers as BF16."""
    return function(*(x.to(DEVICE) if isinstance(x, torch.Tensor) else x for x in matrices), **options)


def equal(found, wanted):
    assert found.device.type == DEVICE and found.dtype == wanted.dtype and found.shape == wanted.shape
    torch.testing.assert_close(found.cpu(), wanted.cpu(), rtol=0, atol=0, equal_nan=True)


@pytest.fixture
def decoded(served):
    """``decoded("mm")``: the slot served the operator since the last call, once, and the BF16 kernel behind it once."""

    def check(operator, inner=None):
        backends = served.backends(operator) | served.backends(inner or operator)
        assert "low_precision" in served.backends(operator) and backends - {"low_precision"}, backends
        assert served.calls(operator) + (served.calls(inner) if inner else 0) == 2
        served.clear()

    served.clear()
    return check


@pytest.mark.parametrize("dtype", LOW, ids=name)
@pytest.mark.parametrize("result", [BF16, torch.float32], ids=name)
def test_every_code_stands_for_its_number(dtype, result):
    codes, wanted = every_code(dtype)
    one = torch.ones(1, 1, dtype=BF16, device=DEVICE)
    column = codes.to(DEVICE).view(dtype).view(1, -1)
    found = torch.mm(one, column) if result == BF16 else torch.mm(one, column, out_dtype=result)
    assert found.dtype == result
    torch.testing.assert_close(found.flatten().cpu().double(), wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", LOW, ids=name)
def test_zeros_keep_their_sign(dtype):
    """A sum of no products is what it is added to."""
    codes, wanted = every_code(dtype)
    nothing = [torch.empty(shape, device=DEVICE).to(torch.float8_e5m2) for shape in ((1, 0), (0, wanted.numel()))]
    found = torch.addmm(codes.to(DEVICE).view(dtype).view(1, -1), *nothing).flatten().cpu()
    zeros = wanted == 0
    assert torch.equal(found[zeros].signbit(), wanted[zeros].signbit())
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(("left", "right"), itertools.product([*LOW, BF16], repeat=2), ids=name)
def test_all_pairs_of_types(left, right, decoded):
    if left == right == BF16:
        pytest.skip("no low precision in this pair")
    (a, a16), (b, b16) = some(left, 6, 8), some(right, 8, 4)
    torch.flagos.reset_dispatch_counts()
    product = torch.mm(a, b)
    decoded("mm")
    assert product.dtype == BF16
    equal(product, expected(torch.mm, a16, b16))
    exact = a16.double() @ b16.double()
    torch.testing.assert_close(product.cpu().double(), exact, rtol=2**-7, atol=2**-7 * exact.abs().max().item())


PRODUCTS = {
    "mm": lambda s, a, b, **options: torch.mm(a, b, **options),
    "bmm": lambda s, a, b, **options: torch.bmm(a[None], b[None], **options),
    "addmm": lambda s, a, b, **options: torch.addmm(s, a, b, **options, beta=2, alpha=0.5),
    "baddbmm": lambda s, a, b, **options: torch.baddbmm(s[None], a[None], b[None], **options, beta=2, alpha=0.5),
}


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, FP4], ids=name)
@pytest.mark.parametrize("operator", PRODUCTS)
def test_each_form_of_each_operator(operator, dtype, decoded):
    """Plain, out=, out_dtype=, both: BF16 where nothing else is asked for, and rounded once where it is."""
    (s, s16), (a, a16), (b, b16) = some(dtype, 6, 4), some(dtype, 6, 8), some(dtype, 8, 4)
    f = PRODUCTS[operator]
    wanted = expected(f, s16, a16, b16)
    torch.flagos.reset_dispatch_counts()
    equal(f(s, a, b), wanted)
    decoded(operator)
    out = torch.empty(wanted.shape, dtype=BF16, device=DEVICE)
    torch.flagos.reset_dispatch_counts()
    assert f(s, a, b, out=out) is out
    decoded(f"{operator}.out", operator)
    equal(out, wanted)
    exact = f(s16.double(), a16.double(), b16.double())
    for result in (torch.float32, torch.float16, BF16):
        found = f(s, a, b, out_dtype=result)
        assert found.dtype == result
        torch.testing.assert_close(found.cpu().double(), exact, rtol=torch.finfo(result).eps, atol=1e-2 if result == BF16 else 1e-3)
        out = torch.empty(wanted.shape, dtype=result, device=DEVICE)
        assert f(s, a, b, out_dtype=result, out=out) is out
        equal(out, found)


@pytest.mark.parametrize("operator", ["addmm", "baddbmm"])
@pytest.mark.parametrize("dtype", [BF16, torch.float32, torch.float16, torch.float8_e5m2], ids=name)
def test_in_place_the_type_stays(operator, dtype, served):
    (a, a16), (b, b16) = some(torch.float8_e4m3fn, 6, 8), some(torch.float8_e5m2, 8, 4)
    start = torch.randn(6, 4).to(dtype)
    batch = (lambda x: x[None]) if operator == "baddbmm" else (lambda x: x)
    x = batch(start.to(DEVICE))
    served.clear()
    assert getattr(x, f"{operator}_")(batch(a), batch(b), beta=0.5) is x
    assert served.backends(f"{operator}_") == {"low_precision"}
    assert x.dtype == dtype
    exact = 0.5 * start.double() + a16.double() @ b16.double()
    precision = 0.25 if dtype == torch.float8_e5m2 else 2**-7
    torch.testing.assert_close(batch(x.cpu().double())[0].view(6, 4), exact, rtol=precision, atol=precision)


def test_what_pytorch_takes_apart_reaches_the_kernels(decoded):
    (a, a16), (w, w16), (c, c16) = (some(torch.float8_e4m3fn, *shape) for shape in ((6, 8), (4, 8), (1, 4)))
    torch.flagos.reset_dispatch_counts()
    equal(a @ w.t(), expected(torch.matmul, a16, w16.t()))
    decoded("mm")
    equal(torch.nn.functional.linear(a, w), expected(torch.nn.functional.linear, a16, w16))
    decoded("mm")
    equal(torch.nn.functional.linear(a, w, c[0]), expected(torch.nn.functional.linear, a16, w16, c16[0]))
    decoded("addmm")
    equal(torch.matmul(a[None], w.t()[None]), expected(torch.matmul, a16[None], w16.t()[None]))
    decoded("bmm")
    equal(torch.einsum("ij,kj->ik", a, w), expected(torch.einsum, "ij,kj->ik", a16, w16))


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
    equal(torch.bmm(view(a).expand(3, -1, -1), b.expand(3, -1, -1)), expected(torch.bmm, view(a16).expand(3, -1, -1), b16.expand(3, -1, -1)))


@pytest.mark.parametrize("shape", [(6, 8), (1, 8), (6, 2), (1, 2), (2, 2), (0, 8), (6, 0)])
def test_packed_matrices_of_every_shape(shape):
    """The last dimension has half the values; turned around, the pairs turn with it. One of a pair may be all there is."""
    rows, columns = shape
    (a, a16), (row_wise, row_wise16), (w, w16) = some(FP4, *shape), some(FP4, columns, 4), some(FP4, 6, columns)
    assert a.shape == (rows, columns // 2)
    equal(torch.mm(a, row_wise), expected(torch.mm, a16, row_wise16))
    equal(torch.mm(a, w.t()), expected(torch.mm, a16, w16.t()))
    equal(torch.mm(w, a.t()), expected(torch.mm, w16, a16.t()))
    equal(torch.mm(row_wise.t(), a.t()), expected(torch.mm, row_wise16.t(), a16.t()))
    equal(torch.bmm(a.expand(3, -1, -1), w.t().expand(3, -1, -1)), expected(torch.bmm, a16.expand(3, -1, -1), w16.t().expand(3, -1, -1)))
    (s, s16) = some(FP4, rows, 6)
    equal(torch.addmm(s, a, w.t()), expected(torch.addmm, s16, a16, w16.t()))


def test_packed_matrices_that_are_parts_of_others():
    (a, a16), (b, b16) = some(FP4, 8, 16), some(FP4, 8, 4)
    equal(torch.mm(a[::2, 4:], b), expected(torch.mm, a16[::2, 8:], b16))
    equal(torch.mm(a.t()[4:].t(), b), expected(torch.mm, a16[:, 8:], b16))


@pytest.mark.parametrize("operator", PRODUCTS)
def test_other_types_pass_by(operator, served):
    s, a, b = (torch.randn(shape, device=DEVICE) for shape in ((6, 4), (6, 8), (8, 4)))
    served.clear()
    for dtype in (torch.float32, BF16, torch.float64):
        PRODUCTS[operator](s.to(dtype), a.to(dtype), b.to(dtype))
    assert served.calls(operator) == 3 and "low_precision" not in served.backends(operator)


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
    refused(RuntimeError, "mm: out is Float and out_dtype Half", torch.mm, a, b, out_dtype=torch.float16, out=full[:6].clone())
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


#: the call for two matrices of codes, and the type that their codes are of
SCALED = {
    "_scaled_mm": (
        lambda a, b: torch._scaled_mm(a, b.t(), scale()[0] * 0.5, ones(torch.float32), out_dtype=BF16),
        torch.float8_e4m3fn,
    ),
    "_scaled_mm of blocks": (
        lambda a, b: torch._scaled_mm(
            a, b.t(), *(ones(torch.float8_e8m0fnu, 512) for _ in range(2)), out_dtype=BF16
        ) / 4,
        torch.float8_e4m3fn,
    ),
    "_scaled_mm of packed blocks": (
        lambda a, b: torch._scaled_mm(
            a, b.t(), *(ones(torch.float8_e4m3fn, 2048) for _ in range(2)), out_dtype=BF16
        ) / 4,
        FP4,
    ),
    "_scaled_grouped_mm": (
        lambda a, b: torch._scaled_grouped_mm(
            a, b.t(), scale(), scale(), offs=torch.tensor([128], dtype=torch.int32, device=DEVICE), out_dtype=BF16
        )[0],
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


def test_the_routes_command_shows_what_stands_in_front():
    from torch_fl.routing import explain

    steps = explain.reasons("mm")["steps"]
    assert steps[0]["backend"] == "low_precision" and "in front of every route" in steps[0]["verdict"]
    assert explain.reasons("mm")["backend"] != "low_precision"
    assert all(step["backend"] != "low_precision" for step in explain.reasons("exp")["steps"])


def test_a_route_of_a_file_stays_behind(python):
    """mm = none is about the product of what has been decoded."""
    done = python(
        """
        import torch
        x = torch.ones(4, 4, device="flagos").to(torch.float8_e5m2)
        torch.flagos.reset_dispatch_counts()
        assert torch.mm(x, x).tolist() == [[4.0] * 4] * 4
        print(sorted(key for key in torch.flagos.dispatch_counts() if key[0] == "mm"))
        """,
        FLAGOS_OP_mm="none",
    )
    assert done.stdout.strip() == "[('mm', 'cpu'), ('mm', 'low_precision')]"
