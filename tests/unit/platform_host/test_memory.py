"""Device and pinned memory: limits, reuse, wrong addresses, copies between devices."""

import ctypes
import random

import pytest
from flagos_contract import DEVICE, ON_DEVICE, PINNED, TO_DEVICE, TO_HOST, UNKNOWN, Failed, Status

MIB = 1 << 20


def test_copies_round_trip(host):
    data = bytes(range(256)) * 40
    first, second = host.malloc(0, len(data)), host.malloc(1, len(data))
    host.write(first, data)
    host.memcpy_async(second, first, len(data), ON_DEVICE, None)
    host.stream_synchronize(host.get_device(), None)  # whose default stream it was
    assert host.read(second, len(data)) == data
    host.memset_async(first, 7, 100, None)
    assert host.read(first, 101) == b"\x07" * 100 + data[100:101]
    host.free(0, first)
    host.free(1, second)


def test_out_of_memory_says_device_asked_and_free(host):
    first = host.malloc(1, 40 * MIB)
    assert host.memory_info(1) == (24 * MIB, 64 * MIB)
    with pytest.raises(Failed) as error:
        host.malloc(1, 24 * MIB + 1)
    assert error.value.status == Status.OUT_OF_MEMORY
    assert str(error.value).startswith(
        "flagos:1 is out of memory. Asked for 25165825 bytes (24.00 MiB), 25165824 bytes (24.00 MiB) are free of 64.00 MiB"
    )
    second = host.malloc(1, 24 * MIB)  # exactly what is free
    assert [host.memory_info(device)[0] for device in (0, 1)] == [64 * MIB, 0]
    with pytest.raises(Failed, match="0 bytes .* are free"):
        host.malloc(1, 1)
    host.free(1, first)
    host.free(1, second)
    assert host.memory_info(1) == (64 * MIB, 64 * MIB)


@pytest.mark.parametrize("size", [2**64 - 1, 2**63, 64 * MIB + 1])
def test_absurd_sizes_are_out_of_memory(host, size):
    with pytest.raises(Failed, match="flagos:0 is out of memory"):
        host.malloc(0, size)


def test_freed_memory_is_used_again_and_joined(host):
    blocks = [host.malloc(0, MIB) for _ in range(64)]
    random.Random(1).shuffle(blocks)
    for block in blocks:
        host.free(0, block)
    whole = host.malloc(0, 64 * MIB)
    assert whole == min(blocks)
    host.free(0, whole)


def test_freed_pages_go_back_to_the_system(host):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    block = host.malloc(0, 48 * MIB)
    host.memset_async(block, 1, 48 * MIB, None)
    host.stream_synchronize(0, None)
    full = resident()
    host.free(0, block)
    assert full - resident() > 40 * MIB


def test_alignment_and_zero_bytes(host):
    assert host.malloc(0, 0) is None
    host.free(0, None)
    blocks = [host.malloc(0, size) for size in (1, 3, 4097, 100000)]
    assert all(block % 64 == 0 for block in blocks)
    for block in blocks:
        host.free(0, block)


def test_pointer_info(host):
    block, pinned = host.malloc(1, 1000), host.malloc_pinned(5000)
    for offset in (0, 999):
        info = host.pointer_info(block + offset)
        assert (info.kind, info.device, info.base, info.size) == (DEVICE, 1, block, 1000)
    for offset in (0, 4999):
        info = host.pointer_info(pinned + offset)
        assert (info.kind, info.device, info.base, info.size) == (PINNED, -1, pinned, 5000)
    for address in (block + 1000, pinned + 5000, None, id(host), block + host.host_offset()):
        assert (host.pointer_info(address).kind, host.pointer_info(address).device) == (UNKNOWN, -1)
    host.free(1, block)
    host.free_pinned(pinned)
    assert host.pointer_info(block).kind == host.pointer_info(pinned).kind == UNKNOWN


def test_pinned_memory_is_ordinary_memory(host):
    pinned = host.malloc_pinned(100)
    ctypes.memmove(pinned, b"x" * 100, 100)
    block = host.malloc(0, 100)
    host.memcpy_async(block, pinned, 100, TO_DEVICE, None)
    assert host.read(block, 100) == b"x" * 100
    host.free(0, block)
    host.free_pinned(pinned)
    assert host.malloc_pinned(0) is None
    host.free_pinned(None)
    with pytest.raises(Failed, match="asked for"):
        host.malloc_pinned(1 << 60)


def test_wrong_addresses_are_refused(host):
    block = host.malloc(0, 8192)
    wrong = {
        (0, block + 1): "is inside the block at",
        (1, block): "belongs to flagos:0, not to flagos:1",
        (0, 4096): "is not device memory",
        (7, block): "there is no device flagos:7: .* flagos:0 to flagos:1",
    }
    for (device, address), words in wrong.items():
        with pytest.raises(Failed, match=words) as error:
            host.free(device, address)
        assert error.value.status == Status.INVALID_ARGUMENT
    host.free(0, block)
    with pytest.raises(Failed, match="was freed before"):
        host.free(0, block)
    pinned = host.malloc_pinned(8)
    with pytest.raises(Failed, match="is no pinned block"):
        host.free_pinned(pinned + 1)
    host.free_pinned(pinned)


def test_wrong_copies_are_refused(host):
    block = host.malloc(0, 64)
    buffer = b"0" * 64
    wrong = [
        ((buffer, block, 64, ON_DEVICE), "the destination .* is not device memory"),
        ((block, buffer, 64, ON_DEVICE), "the source .* is not device memory"),
        ((block, block, 64, TO_HOST), "the destination .* is memory of flagos:0 where host memory is expected"),
        ((block, block, 64, TO_DEVICE), "the source .* is memory of flagos:0"),
        ((block, None, 64, TO_DEVICE), "the source is NULL"),
        ((block, buffer, 1 << 50, TO_DEVICE), "go past the .* flagos:0"),
        ((block, buffer, 64, 9), "9 is no kind of copy"),
    ]
    for arguments, words in wrong:
        with pytest.raises(Failed, match=words) as error:
            host.memcpy_async(*arguments, None)
        assert error.value.status == Status.INVALID_ARGUMENT
    with pytest.raises(Failed, match="is not device memory"):
        host.memset_async(buffer, 0, 64, None)
    host.memcpy_async(None, None, 0, TO_DEVICE, None)  # nothing to do, nothing to refuse
    host.free(0, block)
