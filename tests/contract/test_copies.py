"""Copies keep every bit, in all directions, layouts and types."""

import itertools

import pytest
import torch

DEVICE = "flagos"

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32,
    torch.int64, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip


def sample(dtype, shape=(3, 4)):
    base = torch.arange(12).view(3, 4) - 4
    if dtype.is_complex:
        return torch.complex(base.double(), base.double() / 3).to(dtype).reshape(shape)
    if dtype.is_floating_point:
        return (base.double() / 3).to(dtype).reshape(shape)
    return base.abs().to(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_is_exact(dtype, same):
    x = sample(dtype)
    y = x.to(DEVICE)
    same(y, x)
    same(y.clone(), x)
    same(torch.empty_like(y).copy_(y), x)
    assert torch.equal(y.cpu().to(DEVICE).to("cpu"), x)
    assert y[1, 2].item() == x[1, 2].item()


@pytest.mark.parametrize(
    ("source", "target"), list(itertools.product(DTYPES[:3] + [torch.int64, torch.bool, torch.complex64], repeat=2))
)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_dtype_conversion(source, target, same):
    x = sample(source)
    same(x.to(DEVICE).to(target), x.to(target))
    same(torch.empty(3, 4, dtype=target, device=DEVICE).copy_(x), x.to(target))
    back = torch.empty(3, 4, dtype=target).copy_(x.to(DEVICE))
    assert torch.equal(back, x.to(target))


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[:, ::2],
    "offset": lambda x: x[1:, 1:],
    "expanded": lambda x: x[:1].expand(5, 4),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x[0, 1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, same):
    pick = LAYOUTS[layout]
    x = torch.arange(12.0).view(3, 4)
    here = pick(x.to(DEVICE))
    same(here, pick(x))
    assert here.stride() == pick(x).stride()
    same(here.contiguous(), pick(x).contiguous())
    same(pick(x).to(DEVICE), pick(x))
    assert here.clone().stride() == pick(x).clone().stride()
    target = torch.zeros(3, 4, device=DEVICE)
    if layout != "expanded":
        pick(target).copy_(pick(x))
        wanted = torch.zeros(3, 4)
        pick(wanted).copy_(pick(x))
        same(target, wanted)


def test_channels_last(same):
    x = torch.arange(120.0).view(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.to(DEVICE)
    assert y.is_contiguous(memory_format=torch.channels_last) and y.stride() == x.stride()
    same(y, x)
    same(y.contiguous(), x.contiguous())
    same(torch.arange(120.0, device=DEVICE).view(2, 3, 4, 5).to(memory_format=torch.channels_last), x)


def test_conj_and_neg_bits(same):
    z = torch.complex(torch.arange(4.0), torch.arange(4.0) - 1)
    y = z.to(DEVICE).conj()
    assert y.is_conj()
    same(torch.resolve_conj(y), z.conj().resolve_conj())
    same(y.clone().resolve_conj(), z.conj().clone().resolve_conj())
    assert torch.equal(y.cpu().resolve_conj(), z.conj().resolve_conj())
    same(torch.empty_like(z, device=DEVICE).copy_(y), z.conj().resolve_conj())
    assert torch.equal(torch.empty_like(z).copy_(y), z.conj().resolve_conj())
    assert torch.equal(y.imag.cpu().resolve_neg(), z.conj().imag.resolve_neg())
    same(y.contiguous().resolve_conj(), z.conj().resolve_conj())
    same(y * y, (z.conj() * z.conj()))
    same(z.conj().to(DEVICE).resolve_conj(), z.conj().resolve_conj())
    n = torch._neg_view(torch.arange(3.0, device=DEVICE))
    assert n.is_neg()
    same(n.resolve_neg(), -torch.arange(3.0))
    same(n + 1, 1 - torch.arange(3.0))
    assert y[1].item() == z.conj()[1].item()


@pytest.mark.devices(2)
def test_between_devices(same):
    x = torch.arange(12.0).view(3, 4)
    a = x.to("flagos:0")
    b = a.to("flagos:1")
    assert b.device.index == 1 and b.data_ptr() != a.data_ptr()
    same(b, x)
    same(torch.empty(4, 3, device="flagos:0").copy_(b.t()), x.t())
    same(torch.empty(3, 4, dtype=torch.int32, device="flagos:1").copy_(a), x.int())
    b.add_(1)
    same(a, x)


def test_pinned_memory():
    assert torch.ones(3).pin_memory().is_pinned()
    x = torch.empty(1000, pin_memory=True).fill_(2)
    assert x.is_pinned() and not torch.empty(3).is_pinned()
    y = x.to(DEVICE, non_blocking=True)
    z = torch.empty(1000, pin_memory=True)
    z.copy_(y, non_blocking=True)
    torch.flagos.synchronize()
    assert torch.equal(z, x)
    with pytest.raises(RuntimeError):
        torch.ones(2, device=DEVICE).pin_memory()


def test_non_blocking_copies_are_ordered_on_their_stream():
    s = torch.flagos.Stream()
    host = torch.empty(1 << 20, pin_memory=True)
    with torch.flagos.stream(s):
        x = torch.full((1 << 20,), 1.0, device=DEVICE)
        for _ in range(20):
            x = x + 1
        host.copy_(x, non_blocking=True)
    s.synchronize()
    assert host.eq(21).all()


def test_pinned_memory_is_not_reused_while_a_copy_reads_it():
    s = torch.flagos.Stream()
    results = []
    for number in range(8):
        host = torch.full((1 << 18,), float(number)).pin_memory()
        with torch.flagos.stream(s):
            results.append(host.to(DEVICE, non_blocking=True))
        del host
    s.synchronize()
    assert [r.unique().tolist() for r in results] == [[float(n)] for n in range(8)]


def test_to_without_need_is_the_same_tensor():
    x = torch.ones(2, device=DEVICE)
    assert x.to(DEVICE) is x and x.to("flagos:0") is x and x.contiguous() is x
    assert x.to(DEVICE, copy=True) is not x


def test_from_python_and_numpy(same):
    same(torch.tensor([[1.5, 2], [3, 4]], device=DEVICE), torch.tensor([[1.5, 2], [3, 4]]))
    same(torch.tensor([torch.tensor(1, device=DEVICE), torch.tensor(2)], device=DEVICE), torch.tensor([1, 2]))
    x = torch.ones(2, device=DEVICE)
    with pytest.raises(TypeError, match="cpu"):
        x.numpy()
    assert x.cpu().numpy().tolist() == [1, 1]
    assert x.tolist() == [1, 1] and float(x[0]) == 1.0 and "flagos:0" in repr(x)
    assert torch.tensor(1 / 3, dtype=torch.float64).to(DEVICE).item() == 1 / 3


def test_factories(same):
    for make in (
        lambda d: torch.zeros(2, 3, device=d),
        lambda d: torch.full((2,), 7, device=d),
        lambda d: torch.arange(2, 9, 2, device=d),
        lambda d: torch.linspace(0, 1, 5, device=d),
        lambda d: torch.eye(3, device=d),
        lambda d: torch.ones_like(torch.empty(2, 2, device=d)),
        lambda d: torch.empty(2, device=d).new_full((3,), 4),
        lambda d: torch.tril_indices(3, 3, device=d),
        lambda d: torch.zeros(0, 3, device=d),
    ):
        same(make(DEVICE), make("cpu"))
    assert torch.empty_strided((2, 3), (1, 2), device=DEVICE).stride() == (1, 2)
