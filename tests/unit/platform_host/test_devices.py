"""Devices: the current one, properties, peers; and the table itself."""

import ctypes
import os
import subprocess
import threading
from importlib.util import find_spec

import pytest
from flagos_contract import Failed, Status, Table


def test_current_device_is_per_thread(host):
    host.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(host.get_device()))
    thread.start()
    thread.join()
    assert (host.get_device(), seen) == (1, [0])
    host.set_device(0)


@pytest.mark.parametrize("device", [-1, 2, 64, 2**31 - 1])
def test_unknown_devices_are_refused(host, device):
    calls = [
        ("set_device", device),
        ("synchronize_device", device),
        ("stream_query", device, None),
        ("stream_synchronize", device, None),
    ]
    for name, *arguments in calls:
        with pytest.raises(Failed, match=f"there is no device flagos:{device}: .* flagos:0 to flagos:1"):
            getattr(host, name)(*arguments)
    for name, *arguments in [("malloc", device, 1), ("stream_create", device, 0), ("event_create", device, 0)]:
        with pytest.raises(Failed) as error:
            getattr(host, name)(*arguments)
        assert error.value.status == Status.INVALID_ARGUMENT


@pytest.mark.host_only("its own numbers")
def test_properties(host):
    first, second = host.device_properties(0), host.device_properties(1)
    assert first.name == b"FlagOS host device"
    assert first.total_memory == 64 << 20
    assert first.multi_processor_count == len(os.sched_getaffinity(0))
    assert first.flags == 3
    assert bytes(first.uuid)[:6] == b"flagos"
    assert bytes(first.uuid) != bytes(second.uuid)


def test_peers(host):
    assert [host.can_access_peer(0, 1), host.can_access_peer(1, 0), host.can_access_peer(0, 0)] == [1, 1, 0]


def test_table(host, platform_id):
    assert host.table.magic == 0x464C5031
    assert host.table.id == platform_id.encode()
    assert host.table.struct_size == ctypes.sizeof(Table)
    assert all(getattr(host.table, name) for name, _ in Table._fields_[7:])


def test_one_symbol_is_exported(library):
    if find_spec("elftools"):
        from elftools.elf.elffile import ELFFile

        with open(library, "rb") as file:
            symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
            exported = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
    else:
        lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        exported = {line.split()[-1] for line in lines.stdout.splitlines()}
    assert exported == {"flagos_platform_entry"}
