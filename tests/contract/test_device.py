"""Which devices there are, and which one is current: one truth, whoever asks."""

import copy
import pickle

import pytest
import torch

DEVICE = "flagos"


def current():
    """The current device, by every way of asking."""
    ways = {
        torch.flagos.current_device(),
        torch.accelerator.current_device_index(),
        torch.empty(0, device=DEVICE).device.index,
        torch.flagos.current_stream().device_index,
    }
    assert len(ways) == 1, ways
    return ways.pop()


def test_names():
    assert torch.device("flagos:1").index == 1
    assert str(torch.ones(1, device=DEVICE).device) == "flagos:0"
    assert torch.accelerator.current_accelerator().type == DEVICE
    assert torch.flagos.is_available() and torch.flagos.device_count() >= 1
    assert torch.accelerator.device_count() == torch.flagos.device_count()
    assert torch.get_device_module(DEVICE) is torch.flagos


def test_methods():
    x = torch.ones(2)
    y = x.flagos()
    assert y.is_flagos and not x.is_flagos and y.device.index == 0
    assert torch.nn.Linear(1, 1).flagos().weight.is_flagos
    assert x.untyped_storage().flagos().is_flagos
    assert x.to(0).device == torch.device("flagos:0")
    assert torch.zeros(1, device=0).is_flagos


@pytest.mark.devices(2)
@pytest.mark.parametrize(
    "choose",
    [torch.flagos.set_device, torch.accelerator.set_device_index, lambda i: torch.flagos.set_device(f"flagos:{i}")],
)
def test_all_ways_of_choosing_agree(choose):
    choose(1)
    assert current() == 1
    torch.ones(3, device="flagos:0").sum().item()
    assert current() == 1
    choose(0)
    assert current() == 0


@pytest.mark.devices(2)
def test_contexts():
    for context in (
        torch.flagos.device(1),
        torch.flagos.device("flagos:1"),
        torch.flagos._DeviceGuard(1),
        torch.accelerator.device_index(1),
    ):
        with context:
            assert current() == 1
        assert current() == 0
    with torch.flagos.device_of(torch.ones(1, device="flagos:1")):
        assert current() == 1
    for nothing in (torch.flagos.device(None), torch.flagos.device(-1), torch.flagos.device_of(torch.ones(1))):
        torch.flagos.set_device(1)
        with nothing:
            assert current() == 1
        torch.flagos.set_device(0)
    twice = torch.flagos.device(1)
    for _ in range(2):
        with twice:
            assert current() == 1
        assert current() == 0
    with pytest.raises(ZeroDivisionError), torch.flagos.device(1):
        1 / 0
    assert current() == 0
    with torch.device("flagos:1"):
        assert torch.ones(1).device.index == 1
    torch.flagos.set_device(-1)
    assert current() == 0


@pytest.mark.devices(2)
def test_operators_leave_the_current_device_alone():
    x = torch.ones(9, device="flagos:1")
    x.to(torch.float16).sum()
    x[torch.tensor([0], device="flagos:1")]
    x.cpu()
    assert current() == 0
    with pytest.raises(RuntimeError):
        torch.mm(x, x)
    assert current() == 0
    y = torch.ones(4, 4, device="flagos:1", requires_grad=True)
    (y @ y).sum().backward()
    assert y.grad.device.index == 1 and current() == 0


@pytest.mark.devices(2)
@pytest.mark.capability("index_checks")
def test_an_index_out_of_range_leaves_the_current_device_alone():
    with pytest.raises((IndexError, RuntimeError)):
        torch.ones(9, device="flagos:1")[torch.tensor([99], device="flagos:1")].cpu()
    assert current() == 0


def test_an_index_that_does_not_exist():
    count = torch.flagos.device_count()
    sentence = f"flagos:77 does not exist: there .* {count} device"
    for attempt in (
        lambda: torch.flagos.set_device(77),
        lambda: torch.flagos.synchronize(77),
        lambda: torch.flagos.get_device_properties(77),
        lambda: torch.flagos.memory_allocated(77),
        lambda: torch.flagos.get_rng_state(77),
        lambda: torch.flagos.current_stream(77),
        lambda: torch.flagos.Stream(77),
        lambda: torch.flagos.device(77).__enter__(),
        lambda: torch.ones(1, device="flagos:77"),
        lambda: torch.ones(1).to("flagos:77"),
    ):
        with pytest.raises(RuntimeError, match=sentence):
            attempt()
    assert torch.ones(1, device=DEVICE).device.index == 0


def test_another_device_type_is_refused():
    for call in (torch.flagos.set_device, torch.flagos.synchronize, torch.flagos.get_device_name, torch.flagos.device):
        with pytest.raises(ValueError, match="expected a flagos device, but got 'cpu'"):
            call("cpu")
    with pytest.raises(ValueError, match="with an index"):
        torch.flagos.set_device("flagos")


@pytest.mark.devices(2)
def test_tensors_of_two_devices_do_not_mix():
    a, b = torch.ones(2, device="flagos:0"), torch.ones(2, device="flagos:1")
    with pytest.raises(RuntimeError, match="same device|flagos:1"):
        a + b
    with pytest.raises(RuntimeError, match="same device|cpu"):
        a + torch.ones(2)
    assert (a + torch.tensor(2.0)).tolist() == [3, 3]


def test_properties():
    for index in range(torch.flagos.device_count()):
        p = torch.flagos.get_device_properties(index)
        assert p.name == torch.flagos.get_device_name(index) != ""
        assert (p.major, p.minor) == torch.flagos.get_device_capability(f"flagos:{index}")
        assert p.total_memory > 1 << 20 and p.multi_processor_count >= 1 and p.warp_size >= 1
        assert p.max_threads_per_block >= 1 and p.max_threads_per_multi_processor >= 1
        assert p.L2_cache_size >= 0 and p.regs_per_multiprocessor >= 0 and p.shared_memory_per_block >= 0
        assert p.name in repr(p)
        assert torch.flagos.current_device() == 0
    assert torch.flagos.can_device_access_peer(0, 0) in (True, False)
    assert torch.flagos.is_bf16_supported()
    assert torch.bfloat16 in torch.flagos.get_amp_supported_dtype()


def test_devices_travel():
    for device in (torch.device("flagos"), torch.device("flagos:0")):
        assert pickle.loads(pickle.dumps(device)) == device
        assert copy.deepcopy(device) == device
