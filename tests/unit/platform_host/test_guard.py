"""Guard pages: a kernel that leaves its block dies with a sentence, or is found out when the block is freed."""

import re
import signal

import pytest
from flagos_contract import Status

pytestmark = pytest.mark.host_only("the emulated cards contain its sources")

GUARD = {"FLAGOS_HOST_GUARD": "1", "FLAGOS_HOST_MEMORY": "64MiB"}
BLOCK = "block = host.malloc(1, size)\nkernel = block + host.host_offset()\n"


@pytest.mark.parametrize(
    ("size", "offset", "words"),
    [
        (4096, 4096, "wrote 0 bytes past the end of"),
        (100, 112, "wrote 12 bytes past the end of"),
        (16, 4096, "wrote 4080 bytes past the end of"),
        (4096, -1, "wrote 1 bytes before the start of"),
    ],
)
def test_overrun_faults(run_script, size, offset, words):
    result = run_script(
        f"size = {size}\n" + BLOCK + f"print(hex(block))\nsys.stdout.flush()\nprobe.store_byte(kernel + {offset}, 1)",
        **GUARD,
    )
    block = result.stdout.strip()
    assert result.stderr == f"flagos: a kernel {words} the block at {block} of {size} bytes on flagos:1\n"
    assert result.returncode == -signal.SIGSEGV


def test_use_after_free_faults(run_script):
    source = (
        "size = 100\n"
        + BLOCK
        + """
host.free(1, block)
for _ in range(1000):
    host.free(1, host.malloc(1, size))
probe.load_byte(kernel)
"""
    )
    result = run_script(source, **GUARD)
    assert re.fullmatch(
        r"flagos: a kernel read memory that was freed: in the block at 0x[0-9a-f]+ of 100 bytes on flagos:1\n",
        result.stderr,
    )
    assert result.returncode == -signal.SIGSEGV


@pytest.mark.parametrize(("offset", "words"), [(100, "past the end"), (111, "past the end"), (-1, "before the start")])
def test_small_overrun_is_found_when_freed(run_script, offset, words):
    source = (
        "size = 100\n"
        + BLOCK
        + f"""
probe.store_byte(kernel + {offset}, 1)
try:
    host.free(1, block)
except Failed as error:
    print(int(error.status), error)
host.free(1, host.malloc(1, size))
print(host.memory_info(1))
"""
    )
    lines = run_script(source, **GUARD).stdout.splitlines()
    assert re.fullmatch(
        rf"{Status.ASYNC:d} a kernel wrote {words} of the block at 0x[0-9a-f]+ of 100 bytes "
        r"\(found when it was freed\)",
        lines[0],
    )
    assert lines[1] == f"({64 << 20}, {64 << 20})"  # freed all the same


def test_ordinary_use(run_script):
    """Every byte of blocks of many sizes is usable, and the memory lasts for far more blocks than fit at once."""
    source = """
    for size in [*range(1, 200), 4095, 4096, 4097, 1 << 20]:
        block = host.malloc(0, size)
        data = bytes(value % 251 for value in range(size))
        host.write(block, data)
        assert host.read(block, size) == data
        assert block % 16 == 0
        host.free(0, block)
    for _ in range(40000):
        host.free(0, host.malloc(0, 5000))
    whole = host.malloc(0, 64 << 20)
    host.free(0, whole)
    mappings = len(open("/proc/self/maps").readlines())
    print(host.memory_info(0), mappings < 1000)
    """
    result = run_script(source, **GUARD)
    assert (result.stdout, result.stderr) == (f"({64 << 20}, {64 << 20}) True\n", "")


def test_too_many_mappings_are_an_error(run_script):
    source = """
    blocks = []
    try:
        while True:
            blocks.append(host.malloc(0, 1))
    except Failed as error:
        print(error.status.name, error)
    for block in blocks:
        host.free(0, block)
    print(host.memory_info(0)[0])
    """
    lines = run_script(source, FLAGOS_HOST_GUARD="1", FLAGOS_HOST_MEMORY="4GiB").stdout.splitlines()
    assert lines[0].startswith("OUT_OF_MEMORY flagos:0 is out of memory. Asked for 1 bytes")
    assert lines[0].endswith("but the system has no more mappings for guard pages (vm.max_map_count)")
    assert lines[1] == str(4 << 30)
