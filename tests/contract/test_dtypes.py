"""Data types: exact in every copy, converted as on the CPU, and never changed in silence."""

import itertools
import math
import struct
import warnings

import pytest
import torch
from torch_fl.evidence import capabilities

from .conftest import needing

DEVICE = "flagos"

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
INTEGER = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, *UNSIGNED]
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
ALL = [torch.bool, *INTEGER, *FLOATING, *COMPLEX, *FLOAT8]


def name(dtype):
    return str(dtype).removeprefix("torch.")


def bits(x):
    return bytes(x.cpu().contiguous().untyped_storage())


def every_bit_pattern(dtype, count=64):
    """Numbers of `dtype` made from random bytes: NaN payloads, subnormals and all."""
    g = torch.Generator().manual_seed(3)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=g).bool()
    return torch.randint(0, 256, (count * dtype.itemsize,), dtype=torch.uint8, generator=g).view(dtype)


@pytest.mark.parametrize("dtype", ALL, ids=name)
def test_copies_keep_every_bit(dtype):
    """E2: NaN payloads, subnormals and the last bit of a double survive each copy, also through strides."""
    x = every_bit_pattern(dtype)
    y = x.to(DEVICE)
    for copy in (y, y.clone(), torch.empty_like(y).copy_(y), y.to("flagos:0", copy=True), y.cpu().to(DEVICE)):
        assert copy.dtype == dtype and bits(copy) == bits(x)
    strided = y.view(8, 8).t()
    assert bits(strided.contiguous()) == bits(x.view(8, 8).t().contiguous())
    assert bits(x.view(8, 8).t().to(DEVICE).contiguous()) == bits(x.view(8, 8).t().contiguous())
    assert bits(torch.cat([y, y])) == bits(x) * 2
    assert bits(y[8:16].clone()) == bits(x[8:16].clone())


def test_a_double_stays_a_double():
    """E2: 1/3 as float64, there and back, by item, list and struct."""
    third = torch.tensor([1 / 3], dtype=torch.float64)
    for back in (third.to(DEVICE), third.to(DEVICE).clone(), torch.tensor([1 / 3], dtype=torch.float64, device=DEVICE)):
        assert back.dtype == torch.float64
        assert back.item() == 1 / 3 == back.tolist()[0] == back.cpu().item()
    assert struct.pack("d", torch.full((1,), math.pi, dtype=torch.float64, device=DEVICE).item()) == struct.pack(
        "d", math.pi
    )
    assert (torch.tensor(2**53 + 1, device=DEVICE)).item() == 2**53 + 1
    assert torch.tensor(2**63 - 1, device=DEVICE).item() == 2**63 - 1
    assert torch.tensor([2**64 - 1], dtype=torch.uint64, device=DEVICE).item() == 2**64 - 1


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("source", ALL, ids=name)
def test_every_conversion_is_that_of_the_cpu(source):
    """E2, E3: .to(dtype) and copy_ between all pairs, from device to device, to the CPU and from it."""
    real = torch.arange(12.0).view(3, 4) - (4 if source.is_signed else 0)
    x = (real.bool() if source == torch.bool else real.to(source)).t()
    y = x.to(DEVICE)
    for target in ALL:
        try:
            wanted = x.to(target)
        except (RuntimeError, NotImplementedError) as error:
            with pytest.raises(type(error)):
                y.to(target)
            continue
        # PyTorch leaves a negative number as an unsigned integer to C++, which does not define it: of the CPU's own machine code the
        # same result is asked. The first column is the negative one.
        undefined = target in UNSIGNED and source not in INTEGER
        first = 1 if undefined and capabilities.missing("cpu_rules") else 0
        for found in (
            y.to(target),
            torch.empty_like(y, dtype=target).copy_(x),
            torch.empty_like(x, dtype=target).copy_(y),
            torch.empty_like(y, dtype=target).copy_(y),
            y.to("cpu", target),
            x.to(DEVICE, target),
        ):
            assert found.dtype == target and found.stride() == wanted.stride()
            assert bits(found[:, first:]) == bits(wanted[:, first:]), (source, target)


@pytest.mark.parametrize("dtype", COMPLEX, ids=name)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_complex_copies(dtype):
    """E3: complex copy_ and .to(complex) from real, in each complex type and between them."""
    target = torch.zeros(4, dtype=dtype, device=DEVICE).copy_(torch.ones(4, dtype=dtype))
    assert target.cpu().to(torch.complex64).tolist() == [1] * 4
    assert torch.arange(3.0, device=DEVICE).to(dtype).cpu().to(torch.complex64).tolist() == [0, 1, 2]
    assert torch.zeros(2, dtype=dtype, device=DEVICE).fill_(1 + 2j).cpu().to(torch.complex64).tolist() == [1 + 2j] * 2
    view = torch.zeros(4, dtype=dtype, device=DEVICE)
    view[::2] = torch.tensor([1j, 2j]).to(dtype)
    assert view.cpu().to(torch.complex64).tolist() == [1j, 0, 2j, 0]
    assert torch.view_as_real(view).dtype == dtype.to_real()


def test_complex_to_real_warns_as_on_the_cpu():
    """E3: the imaginary part is dropped with PyTorch's own warning."""
    torch.set_warn_always(True)
    try:
        for device in ("cpu", DEVICE):
            with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary part"):
                assert torch.tensor([1 + 2j], device=device).to(torch.float32).tolist() == [1]
    finally:
        torch.set_warn_always(False)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_writing_complex32_into_gaps_warns_as_on_the_cpu():
    """What carries the elements of an `out` with many gaps makes tensors of its own, and says nothing of them."""
    heard = {}
    for device in ("cpu", DEVICE):
        large = torch.zeros(64, 6, dtype=torch.complex32, device=device)
        ones = torch.ones(64, 3, dtype=torch.complex32, device=device)
        yes = torch.ones(64, 3, dtype=torch.bool, device=device)
        torch.set_warn_always(True)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                torch.where(yes, ones, ones, out=large[:, ::2])
        finally:
            torch.set_warn_always(False)
        heard[device] = [str(warning.message) for warning in caught]
        assert large.cpu().to(torch.complex64).sum() == 64 * 3
    assert heard[DEVICE] == heard["cpu"]


UNARY = (
    "log log2 log10 log1p exp exp2 expm1 erf erfc erfinv sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh sigmoid digamma lgamma rad2deg deg2rad reciprocal i0 sinc logit abs neg sign square floor ceil trunc round frac "
    "isnan isinf isfinite logical_not bitwise_not positive sgn angle signbit nan_to_num"
).split()


@pytest.mark.parametrize("function", needing("cpu_rules", {"abs", "angle"}, UNARY))
def test_unary_results_have_the_type_of_the_cpu(function):
    """E8: an integer or bool input gives float32 where the CPU does, and an error where the CPU has one."""
    for dtype in (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64):
        x = torch.arange(1, 5).to(dtype)
        compare(getattr(torch, function), (x,))


BINARY = (
    "add sub mul div true_divide floor_divide remainder fmod pow atan2 hypot maximum minimum fmax fmin logaddexp copysign "
    "eq lt bitwise_and bitwise_or bitwise_left_shift logical_xor gcd lcm ldexp heaviside xlogy float_power nextafter"
).split()


@pytest.mark.parametrize("function", needing("cpu_rules", {"ldexp"}, BINARY))
def test_promotion_is_that_of_the_cpu(function):
    """E8: tensors of two types, a Python number, a 0-d tensor of either device."""
    types = (torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64)
    f = getattr(torch, function)
    for a, b in itertools.product(types, repeat=2):
        compare(f, (torch.arange(1, 5).to(a), torch.arange(2, 6).to(b)))
        compare(f, (torch.arange(1, 5).to(a), torch.tensor(2).to(b)))
    for number in (True, 2, 2.5):
        compare(f, (torch.arange(1, 5), number))
        compare(f, (torch.arange(1, 5).half(), number))


REDUCTIONS = "sum mean prod var std norm amax argmax all any cumsum cumprod logsumexp median softmax count_nonzero nansum".split()


@pytest.mark.parametrize("function", needing("cpu_rules", {"median", "nansum"}, REDUCTIONS))
def test_reductions_have_the_type_of_the_cpu(function):
    """E8: sums of small integers widen; means of integers are an error."""
    arguments = (0,) if function in ("cumsum", "cumprod", "logsumexp", "softmax", "var", "amax") else ()
    for dtype in (torch.bool, torch.uint8, torch.int32, torch.float16, torch.bfloat16, torch.float64, torch.complex64):
        compare(getattr(torch, function), (torch.arange(1, 5).to(dtype), *arguments))


def compare(function, arguments):
    there = [a.to(DEVICE) if isinstance(a, torch.Tensor) else a for a in arguments]
    try:
        wanted = function(*arguments)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        with pytest.raises(type(error)):
            function(*there)
    else:
        found = function(*there)
        assert found.dtype == wanted.dtype, (function, arguments)
        torch.testing.assert_close(found.cpu(), wanted, equal_nan=True)


MIXED = {
    "mm": torch.mm,
    "matmul": torch.matmul,
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "linear": torch.nn.functional.linear,
    "mv": lambda a, b: torch.mv(a, b[0]),
    "dot": lambda a, b: torch.dot(a[0], b[0]),
    "baddbmm": lambda a, b: torch.baddbmm(a[None], a[None], b[None]),
    "conv": lambda a, b: torch.nn.functional.conv1d(a[None], b[:, :, None]),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "chain": lambda a, b: torch.linalg.multi_dot([a, b, a]),
    "attention": lambda a, b: torch.nn.functional.scaled_dot_product_attention(a[None], b[None], b[None]),
}


PAIRS = [(torch.float16, torch.float32), (torch.float32, torch.bfloat16), (torch.float32, torch.int64)]


def refusals(function, pair):
    """First lines of what the CPU and the device say; the kind of error is the same."""
    a, b = (torch.ones(4, 4).to(dtype) for dtype in pair)
    with pytest.raises((RuntimeError, ValueError)) as on_cpu:
        MIXED[function](a, b)
    with pytest.raises(type(on_cpu.value)) as on_device:
        MIXED[function](a.to(DEVICE), b.to(DEVICE))
    return [str(error.value).splitlines()[0] for error in (on_cpu, on_device)]


@pytest.mark.parametrize("function", MIXED)
@pytest.mark.parametrize("pair", PAIRS)
def test_products_of_two_types_are_refused(function, pair):
    """D5: an error of PyTorch's that speaks of the types; never a compiler's traceback."""
    assert "type" in refusals(function, pair)[1]


@pytest.mark.parametrize("function", needing("cpu_rules", {"mm", "matmul", "linear", "conv"}, MIXED))
@pytest.mark.parametrize("pair", PAIRS)
def test_products_of_two_types_are_refused_in_the_words_of_the_cpu(function, pair):
    """D5: from the CPU's check, with both types in it."""
    on_cpu, on_device = refusals(function, pair)
    assert on_device == on_cpu


def test_products_of_two_types_inside_autocast():
    """D5: there the cast is what people ask for."""
    a, b = torch.ones(4, 4, device=DEVICE).half(), torch.ones(4, 4, device=DEVICE)
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast(DEVICE, dtype=dtype):
            for product in (a @ b, b @ a, torch.nn.functional.linear(a, b), torch.addmm(b, a, b)):
                assert product.dtype == dtype and product[0, 0].item() in (4, 5)
