"""Statistics that add up, memory that comes back, and one clear sentence when there is none left."""

import gc
import subprocess
import sys

import pytest
import torch

DEVICE = "flagos"

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _empty():
    gc.collect()
    torch.flagos.synchronize()
    torch.flagos.empty_cache()
    torch.flagos.reset_peak_memory_stats()


def test_allocated_and_peak_follow_tensors():
    base = torch.flagos.memory_allocated()
    x = torch.empty(8 * MIB, dtype=torch.uint8, device=DEVICE)
    assert torch.flagos.memory_allocated() - base == 8 * MIB
    y = torch.empty(4 * MIB, dtype=torch.uint8, device=DEVICE)
    del x, y
    assert torch.flagos.memory_allocated() == base
    assert torch.flagos.max_memory_allocated() - base == 12 * MIB
    assert torch.flagos.memory_reserved() >= torch.flagos.memory_allocated()
    torch.flagos.reset_peak_memory_stats()
    assert torch.flagos.max_memory_allocated() == base


def test_cache_keeps_and_gives_back():
    x = torch.empty(32 * MIB, dtype=torch.uint8, device=DEVICE)
    del x
    free, total = torch.flagos.mem_get_info()
    torch.flagos.empty_cache()
    after, _ = torch.flagos.mem_get_info()
    assert total == torch.flagos.get_device_properties(0).total_memory
    assert free <= after <= total
    assert torch.flagos.memory_reserved() - torch.flagos.memory_allocated() < 32 * MIB


def test_keys():
    torch.ones(3, device=DEVICE)
    stats = torch.flagos.memory_stats()
    flat = {
        "allocated_bytes": "allocated_bytes.all.current",
        "reserved_bytes": "reserved_bytes.all.current",
        "peak_allocated_bytes": "allocated_bytes.all.peak",
        "peak_reserved_bytes": "reserved_bytes.all.peak",
        "num_alloc_calls": "allocation.all.allocated",
        "num_free_calls": "allocation.all.freed",
        "num_device_malloc": "num_device_alloc",
    }
    for name, dotted in flat.items():
        assert stats[name] == stats[dotted], name
    for statistic in (
        "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes inactive_split_bytes requested_bytes"
    ).split():
        for pool in ("all", "small_pool", "large_pool"):
            for metric in ("current", "peak", "allocated", "freed"):
                assert stats[f"{statistic}.{pool}.{metric}"] >= 0
        for metric in ("allocated", "freed"):
            parts = [stats[f"{statistic}.{pool}.{metric}"] for pool in ("small_pool", "large_pool")]
            assert stats[f"{statistic}.all.{metric}"] == sum(parts)
    assert {"num_alloc_retries", "num_ooms", "num_device_free", "num_sync_all_streams"} <= stats.keys()
    accelerator = torch.accelerator.memory_stats()
    assert accelerator["allocated_bytes.all.current"] == stats["allocated_bytes.all.current"]


def test_calls_are_counted():
    before = torch.flagos.memory_stats()
    tensors = [torch.empty(1000, device=DEVICE) for _ in range(10)]
    del tensors
    after = torch.flagos.memory_stats()
    assert after["num_alloc_calls"] - before["num_alloc_calls"] == 10
    assert after["num_free_calls"] - before["num_free_calls"] == 10


def test_summary_is_readable():
    x = torch.empty(3 * MIB, dtype=torch.uint8, device=DEVICE)
    text = torch.flagos.memory_summary()
    assert "flagos:0" in text and "Allocated memory" in text and "MiB" in text and "from small pool" in text
    assert len(torch.flagos.memory_summary(abbreviated=True).splitlines()) < len(text.splitlines())
    assert max(map(len, text.splitlines())) <= 100
    del x


def test_snapshot_holds_the_tensor():
    x = torch.empty(5 * MIB, dtype=torch.uint8, device=DEVICE)
    blocks = [
        (segment, block)
        for segment in torch.flagos.memory_snapshot()
        for block in segment["blocks"]
        if block["state"] == "active_allocated" and block["size"] >= 5 * MIB
    ]
    assert any(s["address"] <= x.data_ptr() < s["address"] + s["total_size"] and s["device"] == 0 for s, _ in blocks)


def test_out_of_memory_says_how_much_and_the_device_lives_on():
    total = torch.flagos.mem_get_info()[1]
    ooms = torch.flagos.memory_stats()["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(total * 2, dtype=torch.uint8, device=DEVICE)
    sentence = str(caught.value).splitlines()[0]
    assert "flagos:0" in sentence and "GiB" in sentence and "free" in sentence
    assert isinstance(caught.value, torch.flagos.OutOfMemoryError)
    assert torch.flagos.memory_stats()["num_ooms"] == ooms + 1
    assert torch.ones(3, device=DEVICE).sum().item() == 3


def test_out_of_memory_gives_the_cache_back_first():
    free, _ = torch.flagos.mem_get_info()
    size = free * 6 // 10
    x = torch.empty(size, dtype=torch.uint8, device=DEVICE)
    del x
    y = torch.empty(size + 64 * MIB, dtype=torch.uint8, device=DEVICE)  # fits only after the first is given back
    del y
    torch.flagos.empty_cache()


def test_memory_fraction():
    total = torch.flagos.mem_get_info()[1]
    torch.flagos.set_per_process_memory_fraction(0.25)
    try:
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(total // 2, dtype=torch.uint8, device=DEVICE)
    finally:
        torch.flagos.set_per_process_memory_fraction(1.0)
    torch.empty(total // 2, dtype=torch.uint8, device=DEVICE)
    torch.flagos.empty_cache()
    with pytest.raises(ValueError, match="between 0 and 1"):
        torch.flagos.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError):
        torch.flagos.set_per_process_memory_fraction(1)


@pytest.mark.devices(2)
def test_devices_have_their_own_memory():
    before = torch.flagos.memory_allocated(0)
    x = torch.empty(MIB, dtype=torch.uint8, device="flagos:1")
    assert torch.flagos.memory_allocated(0) == before
    assert torch.flagos.memory_allocated(1) >= MIB
    del x


def test_record_stream_holds_memory_until_the_stream_is_done():
    s = torch.flagos.Stream()
    x = torch.ones(4 * MIB, device=DEVICE)
    s.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(s):
        y = x * 2
    x.record_stream(s)
    del x
    z = torch.zeros(4 * MIB, device=DEVICE)
    s.synchronize()
    assert y.sum().item() == 8 * MIB and z.sum().item() == 0


def test_before_first_use(python):
    python(
        """
        import torch
        assert torch.flagos.memory_stats() == {} and torch.flagos.memory_allocated() == 0
        torch.flagos.empty_cache(); torch.flagos.reset_peak_memory_stats()
        assert torch.flagos.memory_snapshot() == []
        assert not torch.flagos.is_initialized()
        torch.flagos.init()
        assert torch.flagos.is_initialized() and torch.flagos.memory_stats()["allocated_bytes"] == 0
        """
    )


def test_emptying_the_cache_waits_for_queued_work_that_allocates():
    """Run in a process of its own: a deadlock would hang the suite."""
    code = """
import torch
s = torch.flagos.Stream()
with torch.flagos.stream(s):
    x = torch.ones(500, 500, device="flagos")
    for _ in range(10):
        x = torch.nn.functional.softmax(x @ x, -1)
torch.flagos.empty_cache()
assert s.query()
torch.testing.assert_close(x.cpu(), torch.full((500, 500), 1 / 500))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
