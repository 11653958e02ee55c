"""Two devices: peer access, copies of every kind between them, and work that is ordered over both."""

import itertools

import pytest
import torch

DEVICE = "flagos"

pytestmark = pytest.mark.devices(2)


def test_access_is_told():
    assert isinstance(torch.flagos.can_device_access_peer(0, 1), bool)
    assert torch.flagos.can_device_access_peer("flagos:0", torch.device("flagos:1")) == torch.flagos.can_device_access_peer(0, 1)
    with pytest.raises(RuntimeError, match="flagos:77 does not exist"):
        torch.flagos.can_device_access_peer(0, 77)


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[:, ::2],
    "expanded": lambda x: x[:1].expand(6, 8),
    "offset": lambda x: x[2:, 3:],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("non_blocking", [False, True])
@pytest.mark.parametrize("current", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(layout, current, non_blocking):
    torch.flagos.set_device(current)
    x = torch.arange(48.0).view(6, 8)
    for source, target in itertools.permutations(("flagos:0", "flagos:1")):
        there = LAYOUTS[layout](x.to(source))
        moved = there.to(target, non_blocking=non_blocking)
        assert moved.device == torch.device(target) and moved.stride() == LAYOUTS[layout](x).clone().stride()
        assert torch.equal(moved.cpu(), LAYOUTS[layout](x))
        converted = there.to(target, torch.float64, non_blocking=non_blocking)
        assert converted.dtype == torch.float64 and torch.equal(converted.cpu(), LAYOUTS[layout](x).double())
        filled = torch.zeros_like(moved).copy_(there, non_blocking=non_blocking)
        assert torch.equal(filled.cpu(), LAYOUTS[layout](x))
        strided = torch.zeros(12, 8, device=target)[::2]
        strided.copy_(x.to(source), non_blocking=non_blocking)
        assert torch.equal(strided.cpu(), x)
    assert torch.flagos.current_device() == current


def test_a_copy_waits_for_the_work_before_it_on_both_sides():
    """The default streams of two devices are ordered by the copy, as CUDA's are."""
    a = torch.ones(500, 500, device="flagos:0")
    side = torch.flagos.Stream(0)
    side.wait_stream(torch.flagos.current_stream(0))
    with torch.flagos.stream(side):
        for _ in range(6):
            a = a @ a / 500
        b = a.to("flagos:1")
    torch.flagos.current_stream(1).wait_stream(side)
    assert (b + 1).unique().tolist() == [2]
    a.zero_()
    assert b.unique().tolist() == [1]


def test_gradients_cross():
    a = torch.ones(3, device="flagos:0", requires_grad=True)
    b = torch.full((3,), 2.0, device="flagos:1", requires_grad=True)
    y = (a * 3).to("flagos:1") * b
    z = y.to("flagos:0") + a
    z.sum().backward()
    assert a.grad.tolist() == [7, 7, 7] and b.grad.tolist() == [3, 3, 3]
    assert a.grad.get_device() == 0 and b.grad.get_device() == 1 and torch.flagos.current_device() == 0


def test_a_model_in_two_halves_trains_as_one():
    results = []
    for devices in (("cpu", "cpu"), ("flagos:0", "flagos:1")):
        torch.manual_seed(0)
        first, second = torch.nn.Linear(4, 8).to(devices[0]), torch.nn.Linear(8, 2).to(devices[1])
        optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.05)
        for _ in range(3):
            optimizer.zero_grad()
            hidden = first(torch.linspace(-1, 1, 12, device=devices[0]).view(3, 4)).relu()
            second(hidden.to(devices[1])).square().mean().backward()
            torch.nn.utils.clip_grad_norm_([*first.parameters(), *second.parameters()], 0.5)
            optimizer.step()
        results.append([p.detach().cpu() for p in (*first.parameters(), *second.parameters())])
    for w, f in zip(*results, strict=True):
        torch.testing.assert_close(f, w, rtol=1e-5, atol=1e-6)
