"""``torch.accelerator``, PyTorch's device-independent module: every public name works for this device."""

import pytest
import torch

DEVICE = "flagos"

acc = torch.accelerator

USES = {
    "Graph": lambda: pytest.raises(RuntimeError, acc.Graph).match("Graph is not supported on device type: flagos"),
    "current_accelerator": lambda: acc.current_accelerator(check_available=True).type == DEVICE,
    "current_device_idx": lambda: acc.current_device_idx() == torch.flagos.current_device(),
    "current_device_index": lambda: acc.current_device_index() == torch.flagos.current_device(),
    "get_device_capability": lambda: torch.float64 in acc.get_device_capability("flagos:0")["supported_dtypes"],
    "current_stream": lambda: acc.current_stream(DEVICE) == torch.flagos.current_stream(),
    "device_count": lambda: acc.device_count() == torch.flagos.device_count(),
    "device_index": lambda: _inside(acc.device_index(torch.flagos.device_count() - 1)),
    "empty_cache": lambda: _emptied(),
    "empty_host_cache": lambda: acc.empty_host_cache() is None,
    "get_memory_info": lambda: _same_memory(acc.get_memory_info(), torch.flagos.mem_get_info()),
    "is_available": lambda: acc.is_available(),
    "max_memory_allocated": lambda: acc.max_memory_allocated() == torch.flagos.max_memory_allocated() > 0,
    "max_memory_reserved": lambda: acc.max_memory_reserved(0) == torch.flagos.max_memory_reserved(0) > 0,
    "memory_allocated": lambda: acc.memory_allocated("flagos:0") == torch.flagos.memory_allocated(),
    "memory_reserved": lambda: acc.memory_reserved(torch.device(DEVICE)) == torch.flagos.memory_reserved(),
    "memory_stats": lambda: acc.memory_stats()["active_bytes.all.peak"] > 0,
    "reset_accumulated_memory_stats": lambda: _reset(acc.reset_accumulated_memory_stats, "allocated"),
    "reset_peak_memory_stats": lambda: _reset(acc.reset_peak_memory_stats, "peak"),
    "set_device_idx": lambda: (acc.set_device_idx(0), torch.flagos.current_device())[1] == 0,
    "set_device_index": lambda: (acc.set_device_index(0), torch.flagos.current_device())[1] == 0,
    "set_stream": lambda: _stream_set(),
    "synchronize": lambda: (
        acc.synchronize() is None and acc.synchronize(0) is None and acc.synchronize("flagos:0") is None
    ),
}


def _inside(context):
    with context:
        return torch.empty(0, device=DEVICE).device.index == torch.flagos.device_count() - 1


def _same_memory(found, wanted):
    """The free part is not the same twice where other processes use the device."""
    return found[1] == wanted[1] and all(0 < free <= total for free, total in (found, wanted))


def _emptied():
    x = torch.empty(8 << 20, dtype=torch.uint8, device=DEVICE)
    del x
    held = torch.flagos.memory_reserved()
    acc.empty_cache()
    return torch.flagos.memory_reserved() <= held - (8 << 20)


def _reset(function, metric):
    x = torch.empty(4 << 20, dtype=torch.uint8, device=DEVICE)
    del x
    key = f"allocated_bytes.all.{metric}"
    before = acc.memory_stats()[key]
    function()
    return acc.memory_stats()[key] <= before - (4 << 20)


def _stream_set():
    s = torch.flagos.Stream()
    acc.set_stream(s)
    try:
        return torch.flagos.current_stream() == s == acc.current_stream()
    finally:
        acc.set_stream(torch.flagos.default_stream())


def test_every_public_name_is_used_here():
    assert sorted(set(acc.__all__) - USES.keys()) == []
    assert sorted(set(acc.memory.__all__) - USES.keys()) == []


@pytest.mark.filterwarnings("ignore:Use `.*` instead:FutureWarning")
@pytest.mark.parametrize("name", [n for n in acc.__all__ if n in USES])
def test_works(name):
    torch.ones(1, device=DEVICE)
    assert USES[name]() in (True, None)


def test_an_index_that_does_not_exist():
    for attempt in (
        lambda: acc.set_device_index(77),
        lambda: acc.synchronize(77),
        lambda: acc.current_stream(77),
        lambda: acc.memory_stats(77),
        lambda: acc.memory_allocated(77),
        lambda: acc.get_memory_info(77),
        lambda: acc.get_device_capability(77),
        lambda: acc.device_index(77).__enter__(),
    ):
        with pytest.raises((RuntimeError, ValueError), match="77|device index"):
            attempt()
    assert torch.flagos.current_device() == 0 and torch.ones(1, device=DEVICE).device.index == 0


def test_another_device_type_is_refused():
    with pytest.raises(ValueError, match="flagos"):
        acc.synchronize("cpu")
    with pytest.raises((RuntimeError, ValueError)):
        acc.current_stream("meta")


def test_integers_name_devices_of_this_type():
    """`x.to(0)`, `device=0`, `torch.device(0)`: the accelerator is what a number means."""
    assert torch.device(0) == torch.device("flagos:0")
    assert torch.ones(1).to(0).is_flagos and torch.zeros(1, device=0).is_flagos
    assert torch.nn.Linear(1, 1).to(0).weight.is_flagos and torch.Generator(0).device.type == DEVICE
    assert torch.nn.Linear(1, 1, device=0).weight.is_flagos
    with torch.device(0):
        assert torch.ones(1).is_flagos


def test_the_device_module_is_found():
    for device in (None, DEVICE, "flagos:0", torch.device(DEVICE)):
        assert torch.get_device_module(device) is torch.flagos


def test_streams_and_events_without_a_device_are_of_the_accelerator():
    s, e = torch.Stream(), torch.Event()
    assert s.device.type == DEVICE
    with s:
        assert torch.flagos.current_stream() == s
        x = torch.ones(3, device=DEVICE) + 1
        e.record()
    e.synchronize()
    assert e.device.type == DEVICE and x.tolist() == [2, 2, 2]
    assert torch.Stream(DEVICE, priority=-1).stream_id != s.stream_id
    assert s.native_handle != torch.Stream().native_handle
