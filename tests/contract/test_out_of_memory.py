"""Running out of memory: one exception, and a device that goes on working."""

import pytest
import torch

DEVICE = "flagos"

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _clean():
    torch.flagos.empty_cache()
    yield
    torch.flagos.set_per_process_memory_fraction(1.0)
    torch.flagos.empty_cache()


def products(stream=None):
    """A product forward and backward, after which a library of products has the memory that it works with on `stream`."""
    with torch.flagos.stream(stream):
        x = torch.ones(2, 2, device=DEVICE, requires_grad=True)
        (x @ x).sum().backward()
    torch.flagos.synchronize()


def limit(size):
    """Let the process hold `size` bytes from now on, beside what it holds."""
    total = torch.flagos.mem_get_info()[1]
    torch.flagos.set_per_process_memory_fraction((torch.flagos.memory_reserved() + size) / total)


def block(mib):
    return torch.empty(mib * MIB, dtype=torch.uint8, device=DEVICE)


WAYS = {
    "a factory": lambda n: torch.zeros(n, dtype=torch.uint8, device=DEVICE),
    "a copy": lambda n: torch.empty(n, dtype=torch.uint8).to(DEVICE),
    "an operator's result": lambda n: torch.ones(1, dtype=torch.uint8, device=DEVICE).expand(n) + 1,
    "a clone": lambda n: torch.ones(1, dtype=torch.uint8, device=DEVICE).expand(n).contiguous(),
    "a concatenation": lambda n: torch.cat([torch.ones(1, dtype=torch.uint8, device=DEVICE).expand(n // 2)] * 2),
    "resize_": lambda n: torch.empty(1, dtype=torch.uint8, device=DEVICE).resize_(n),
    "a storage": lambda n: torch.UntypedStorage(n, device=DEVICE),
    "a storage that grows": lambda n: torch.empty(1, dtype=torch.uint8, device=DEVICE).untyped_storage().resize_(n),
    "random numbers": lambda n: torch.rand(n // 4, device=DEVICE),
    "new_empty": lambda n: torch.empty(1, dtype=torch.uint8, device=DEVICE).new_empty(n),
    "a module": lambda n: torch.nn.Linear(n // 4, 1, device=DEVICE),
    "backward": lambda n: torch.ones(1, device=DEVICE, requires_grad=True).expand(n // 4).cumsum(0),
    "a matrix product": lambda n: torch.ones(n // 4, 1, device=DEVICE) @ torch.ones(1, 4, device=DEVICE),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_allocation_raises_the_same(way):
    limit(24 * MIB)
    with pytest.raises(torch.OutOfMemoryError) as caught:
        WAYS[way](64 * MIB)
    assert isinstance(caught.value, RuntimeError) and "flagos:0" in str(caught.value)
    assert "INTERNAL ASSERT" not in str(caught.value)
    del caught
    assert (torch.ones(1000, device=DEVICE) + 1).sum().item() == 2000


def test_names_of_the_exception():
    assert torch.flagos.OutOfMemoryError is torch.OutOfMemoryError is torch.cuda.OutOfMemoryError


def test_a_failed_step_can_be_repeated_with_less():
    products()
    limit(40 * MIB)
    w = torch.ones(1024, 1024, device=DEVICE, requires_grad=True)

    def step(rows):
        (torch.ones(rows, 1024, device=DEVICE) @ w).square().sum().backward()

    with pytest.raises(torch.OutOfMemoryError):
        step(16384)
    assert w.grad is None
    torch.flagos.empty_cache()
    step(256)
    assert w.grad.unique().numel() == 1


def test_the_cache_is_given_back_before_giving_up():
    limit(64 * MIB)
    before = torch.flagos.memory_stats()
    pieces = [block(15) for _ in range(4)]
    del pieces
    large = block(50)
    after = torch.flagos.memory_stats()
    assert large.numel() == 50 * MIB
    assert after["num_alloc_retries"] == before["num_alloc_retries"] + 1
    assert after["num_ooms"] == before["num_ooms"]


def test_blocks_that_a_stream_still_uses_are_waited_for():
    """Memory that record_stream holds counts as used until the stream is done, and then it is free again."""
    s = torch.flagos.Stream()
    products(s)
    limit(64 * MIB)
    x = block(40)
    s.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(s):
        m = torch.ones(300, 300, device=DEVICE)
        for _ in range(20):
            m = m @ m / 300
        x.add_(1)
    x.record_stream(s)
    del x
    assert block(40).numel() == 40 * MIB


@pytest.mark.capability("own_allocator")
def test_fragments_do_not_grow_without_end():
    """Blocks of many sizes, freed in turn, are used again."""
    limit(64 * MIB)
    for round_ in range(40):
        kept = [block(1 + (round_ * 7 + i * 3) % 11) for i in range(5)]
        del kept[::2]
        del kept
    assert torch.flagos.memory_reserved() <= 64 * MIB + 64 * MIB


def test_statistics_of_a_failure():
    limit(8 * MIB)
    torch.flagos.reset_peak_memory_stats()
    before = torch.flagos.memory_stats()
    with pytest.raises(torch.OutOfMemoryError):
        block(100)
    after = torch.flagos.memory_stats()
    assert after["num_ooms"] == before["num_ooms"] + 1
    assert after["allocated_bytes.all.current"] == before["allocated_bytes.all.current"]
    assert "1 out of memory" in torch.flagos.memory_summary() or after["num_ooms"] > 1


@pytest.mark.devices(2)
def test_one_full_device_leaves_the_other_alone():
    limit(8 * MIB)
    with pytest.raises(torch.OutOfMemoryError):
        block(100)
    assert torch.zeros(100 * MIB, dtype=torch.uint8, device="flagos:1").numel() == 100 * MIB
    with pytest.raises(torch.OutOfMemoryError, match="flagos:0"):
        torch.zeros(100 * MIB, dtype=torch.uint8, device="flagos:1").to("flagos:0")


def test_no_room_at_all():
    """A fraction of nothing: every allocation fails, none crashes, and it can be taken back."""
    torch.flagos.set_per_process_memory_fraction(0.0)
    with pytest.raises(torch.OutOfMemoryError):
        block(64)
    torch.flagos.set_per_process_memory_fraction(1.0)
    assert block(64).numel() == 64 * MIB


def test_sizes_that_overflow():
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="overflow|out of memory|not enough memory|can't allocate|Storage size"):
            torch.empty(1 << 62, 4, device=device)
