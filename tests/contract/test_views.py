"""Every view shares memory with its base, and knows it."""

import pytest
import torch

DEVICE = "flagos"

REAL = {
    "view": lambda x: x.view(6, 4),
    "view dtype": lambda x: x.view(torch.int32),
    "reshape": lambda x: x.reshape(4, 6),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 3), 1),
    "t": lambda x: x[0].t(),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "select": lambda x: x.select(1, 2),
    "slice": lambda x: x[:, 1:, ::2],
    "narrow": lambda x: x.narrow(2, 1, 2),
    "expand": lambda x: x[:1].expand(5, 3, 4),
    "squeeze": lambda x: x[:, :1].squeeze(1),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "split": lambda x: x.split(2, 2)[1],
    "chunk": lambda x: x.chunk(2, 2)[0],
    "unbind": lambda x: x.unbind(1)[1],
    "tensor_split": lambda x: x.tensor_split(3, 1)[2],
    "movedim": lambda x: x.movedim(0, 1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "view_as": lambda x: x.view_as(x.new_empty(4, 6)),
    "detach": lambda x: x.detach(),
    "alias": lambda x: torch.ops.aten.alias(x),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "hsplit": lambda x: x.hsplit(3)[1],
    "mT": lambda x: x.mT,
    "view_as_complex": lambda x: torch.view_as_complex(x.view(2, 3, 2, 2)),
    "neg_view": lambda x: torch._neg_view(x),
    "split_with_sizes": lambda x: x.split([1, 3], 2)[1],
    "expand_as": lambda x: x[:1].expand_as(x),
    "lift": lambda x: torch.ops.aten._reshape_alias(x, (24,), (1,)),
}

COMPLEX = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "view_as_real": torch.view_as_real,
    "conj": lambda z: z.conj(),
    "conj imag": lambda z: z.conj().imag,
    "adjoint": lambda z: z.mH,
    "physical real": lambda z: torch.view_as_real(z.conj().conj()),
}


def check_view(build, make):
    on_cpu = make()
    on_device = on_cpu.to(DEVICE)
    a, b = build(on_cpu), build(on_device)
    assert b.untyped_storage().data_ptr() == on_device.untyped_storage().data_ptr()
    assert (a.shape, a.stride(), a.storage_offset(), a.dtype) == (b.shape, b.stride(), b.storage_offset(), b.dtype)
    assert (a.is_conj(), a.is_neg(), a._is_view()) == (b.is_conj(), b.is_neg(), b._is_view())
    assert torch.equal(a.resolve_conj().resolve_neg(), b.cpu().resolve_conj().resolve_neg())
    on_cpu.mul_(3)
    on_device.mul_(3)
    assert torch.equal(a.resolve_conj().resolve_neg(), b.cpu().resolve_conj().resolve_neg())
    index = (0,) * a.dim()
    a[index], b[index] = 7, 7
    assert torch.equal(on_cpu, on_device.cpu())


@pytest.mark.parametrize("name", REAL)
def test_real_views(name):
    check_view(REAL[name], lambda: torch.arange(24.0).view(2, 3, 4))


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_views(name):
    check_view(COMPLEX[name], lambda: torch.complex(torch.arange(6.0), torch.arange(6.0) - 2).view(2, 3))


@pytest.mark.parametrize("name", sorted(REAL.keys() - {"view dtype", "detach", "alias", "neg_view", "lift"}))
def test_gradients_through_views(name):
    build = REAL[name]
    x = torch.arange(24.0).view(2, 3, 4).requires_grad_()
    y = x.detach().to(DEVICE).requires_grad_()
    build(x * 1).abs().square().sum().backward()
    build(y * 1).abs().square().sum().backward()
    torch.testing.assert_close(y.grad.cpu(), x.grad)


def test_no_view_operator_falls_back():
    """PyTorch's own list of view operators: each has a kernel or a composite for the device, none the CPU fallback."""
    missing = []
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        schema = torch._C._get_schema(*name.partition(".")[::2])
        is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
        if not is_view or "_copy" in name or "_nested" in name:  # nested tensors are not this device's
            continue
        reached = any(
            torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
            for key in (
                "PrivateUse1",
                "CompositeImplicitAutograd",
                "CompositeExplicitAutograd",
                "CompositeExplicitAutogradNonFunctional",
            )
        )
        served_by_cpu_only = torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")
        if not reached and served_by_cpu_only:
            missing.append(name)
    assert missing == []


def test_in_place_on_a_view_is_seen_by_autograd():
    x = torch.ones(4, device=DEVICE, requires_grad=True)
    y = x * 1
    y[:2].mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3, 1, 1]


def test_repeat_and_friends(same):
    x = torch.arange(6.0).view(2, 3)
    same(x.to(DEVICE).repeat(2, 3), x.repeat(2, 3))
    same(x.to(DEVICE).tile(3), x.tile(3))
    same(x.to(DEVICE).repeat_interleave(2, 1), x.repeat_interleave(2, 1))
    same(x.to(DEVICE).flip(0).roll(1, 1), x.flip(0).roll(1, 1))


def test_resize_and_set():
    x = torch.arange(4.0, device=DEVICE)
    x.resize_(2, 3)
    assert x.shape == (2, 3) and x.flatten()[:4].tolist() == [0, 1, 2, 3]
    x.resize_(2)
    assert x.tolist() == [0, 1]
    y = torch.empty(0, device=DEVICE)
    y.set_(x)
    y[0] = 9
    assert x[0].item() == 9
    z = torch.empty(0, device=DEVICE)
    z.set_(x.untyped_storage(), 1, (3,), (1,))
    assert z.tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError):
        torch.empty(0, device=DEVICE).set_(torch.ones(2))


def test_overlapping_output_is_refused_as_on_the_cpu():
    for device in ("cpu", DEVICE):
        x = torch.arange(6.0, device=device)
        with pytest.raises(RuntimeError, match="overlap|same memory|single memory location"):
            torch.add(x[:-1], 1, out=x[1:])
        e = torch.zeros(1, device=device).expand(3)
        with pytest.raises(RuntimeError, match="single memory location"):
            e.add_(1)
