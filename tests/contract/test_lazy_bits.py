"""Conjugation and negation that PyTorch has put off: no copy path forgets them."""

import copy
import io
import pickle

import pytest
import torch
from torch_fl.evidence import capabilities

DEVICE = "flagos"

REAL = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]

BITS = {
    "conj": lambda x: x.conj(),
    "neg": torch._neg_view,
    "both": lambda x: torch._neg_view(x.conj()),
    "conj of a view": lambda x: x[:, 1:].conj().t(),
    "imaginary part": lambda x: x.conj().imag,
    "negated part": lambda x: torch._neg_view(x)[1],
}


def values(dtype):
    real = torch.arange(12.0).view(3, 4) - 4
    return torch.complex(real.double(), real.double() / 2 + 1).to(dtype) if dtype.is_complex else real.to(dtype)


CASES = [
    # The CPU has no kernel that negates and conjugates complex32 at once.
    *((dtype, bits) for dtype in COMPLEX for bits in BITS if (dtype, bits) != (torch.complex32, "both")),
    *((dtype, bits) for dtype in REAL for bits in ("neg", "negated part")),
]


def reload(x):
    buffer = io.BytesIO()
    torch.save(x, buffer)
    return torch.load(io.BytesIO(buffer.getvalue()))


def filled(x, device):
    """A dense tensor without lazy bits, to copy `x` into."""
    return torch.zeros(x.shape, dtype=x.dtype, device=device)


COPIES = {
    "resolve": lambda x: x.resolve_conj().resolve_neg(),
    "clone": torch.clone,
    "clone contiguous": lambda x: x.clone(memory_format=torch.contiguous_format),
    "contiguous": lambda x: x.contiguous(),
    "to cpu": lambda x: x.to("cpu"),
    "to flagos": lambda x: x.to(DEVICE),
    "to with copy": lambda x: x.to(DEVICE, copy=True),
    "copy_ on the device": lambda x: filled(x, DEVICE).copy_(x),
    "copy_ to the cpu": lambda x: filled(x, "cpu").copy_(x),
    "copy_ to strides": lambda x: (
        filled(x.t() if x.dim() == 2 else x, DEVICE).mT.copy_(x) if x.dim() == 2 else filled(x, DEVICE).copy_(x)
    ),
    "slice assignment": lambda x: filled(x, DEVICE).index_put_((torch.arange(len(x), device=DEVICE),), x.to(DEVICE)),
    "set item": lambda x: (lambda t: (t.__setitem__(slice(None), x), t)[1])(filled(x, DEVICE)),
    "cat": lambda x: torch.cat([x, x])[: len(x)],
    "stack": lambda x: torch.stack([x, x])[0],
    "reshape": lambda x: x.reshape(-1).reshape(x.shape),
    "flatten": lambda x: x.t().flatten() if x.dim() == 2 else x.flatten(),
    "expand": lambda x: x[None].expand(2, *x.shape).clone()[1],
    "index": lambda x: x[torch.arange(len(x), device=x.device)],
    "to list": lambda x: torch.tensor(x.tolist()),
    "item": lambda x: torch.tensor(x.reshape(-1)[-1].item()),
    "numpy": lambda x: torch.from_numpy(x.cpu().resolve_conj().resolve_neg().numpy().copy()),
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "save": reload,
    "dtype": lambda x: x.to(torch.complex128 if x.is_complex() else torch.float64),
    "foreach copy": lambda x: (lambda t: (torch._foreach_copy_([t], [x]), t)[1])(filled(x, DEVICE).to(x.device)),
    "second device": lambda x: x.to("flagos:1"),
    "deepcopy after to": lambda x: copy.deepcopy(x.to(DEVICE)),
}


def plain(x):
    x = x.cpu().resolve_conj().resolve_neg()
    return x.to(torch.complex128) if x.is_complex() else x.double()


KEEP_THE_BITS = ("clone", "contiguous", "deepcopy", "resolve", "expand", "reshape")


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize(("dtype", "bits"), CASES, ids=lambda v: str(v).removeprefix("torch."))
def test_copies_keep_the_value(dtype, bits):
    """E1: resolve, clone, contiguous, copies in all directions, writing and reading: equal to the CPU's."""
    for how, function in COPIES.items():
        if how == "second device" and torch.flagos.device_count() < 2:
            continue
        if how == "foreach copy" and dtype is torch.complex32 and capabilities.missing("cpu_rules"):
            continue  # which other devices have no kernel for
        x = BITS[bits](values(dtype))
        y = BITS[bits](values(dtype).to(DEVICE))
        assert (y.is_conj(), y.is_neg()) == (x.is_conj(), x.is_neg())
        try:
            wanted = function(x)
        except (TypeError, AttributeError) as error:  # numpy has no bfloat16; complex32 has no typed storage to pickle
            with pytest.raises(type(error)):
                function(y)
            continue
        found = function(y)
        assert torch.equal(plain(found), plain(wanted)), how
        assert torch.equal(plain(y), plain(x)), f"{how} changed its source"
        if how in KEEP_THE_BITS:
            assert (found.is_conj(), found.is_neg()) == (wanted.is_conj(), wanted.is_neg()), how


@pytest.mark.parametrize("bits", ["conj", "neg", "both"])
@pytest.mark.parametrize("where", ["cpu", DEVICE])
def test_copies_into_a_tensor_with_bits(bits, where):
    """E1: the target's own bits count too: what is read back through it is what was written."""
    source = values(torch.complex64)
    for given in (source, BITS["conj"](source), torch._neg_view(source)):
        base = torch.zeros(3, 4, dtype=torch.complex64, device=DEVICE)
        reference = torch.zeros(3, 4, dtype=torch.complex64)
        BITS[bits](base).copy_(given.to(where) if where == "cpu" else given.clone().to(DEVICE))
        BITS[bits](reference).copy_(given)
        assert torch.equal(plain(base), plain(reference))


ARITHMETIC = {
    "mul": lambda x: x * x,
    "matmul": lambda x: x @ x.mT,
    "matmul of adjoint": lambda x: x.mH @ x,
    "sum": lambda x: x.sum(1),
    "exp": torch.exp,
    "abs": torch.abs,
    "real and imag": lambda x: x.real + x.imag,
    "add in place": lambda x: x.clone().add_(x),
    "out": lambda x: torch.add(x, x, out=torch.empty_like(x)),
    "in place on the view": lambda x: x.mul_(2),
    "compare": lambda x: x == x.clone(),
    "vdot": lambda x: torch.vdot(x.flatten(), x.flatten()),
    "where": lambda x: torch.where(x.abs() > 3, x, -x),
    "fft": lambda x: torch.fft.fft(x),
    "linalg": lambda x: torch.linalg.inv(x @ x.mH + 5 * torch.eye(len(x), device=x.device)),
}


@pytest.mark.parametrize("how", ARITHMETIC)
@pytest.mark.parametrize("bits", ["conj", "neg", "both", "conj of a view"])
def test_operators_see_the_value(bits, how):
    """E1: kernels that do not know of the bits get resolved operands; in place, the base changes."""
    x, y = values(torch.complex64), values(torch.complex64).to(DEVICE)
    wanted, found = ARITHMETIC[how](BITS[bits](x)), ARITHMETIC[how](BITS[bits](y))
    torch.testing.assert_close(found.resolve_conj().resolve_neg().cpu(), wanted.resolve_conj().resolve_neg())
    torch.testing.assert_close(y.cpu(), x)


def test_gradients_through_lazy_bits():
    """E1: conj, real, imag and abs under autograd."""
    grads = []
    for device in ("cpu", DEVICE):
        z = values(torch.complex64).to(device).requires_grad_()
        (z.conj().imag * z.real + (z.conj() @ z.mT).abs().sum()).sum().backward()
        grads.append(z.grad.cpu())
    torch.testing.assert_close(*grads)
