"""What is MetaX's own: quirks of the runtime, and that the device layer knows them; functions that only this vendor has."""

import pytest


@pytest.mark.parametrize(("off", "native"), [("", "ErrorNoMemory"), ("own_errors", "ErrorMemoryAllocation")])
def test_the_vendors_own_number_for_too_little_memory_is_understood(printed, off, native):
    source = """
    print(name(rt.Malloc(byref(c_void_p()), c_size_t(1 << 40))), rt.GetErrorString(10007).decode())
    card.initialize()
    try:
        card.malloc(0, 1 << 40)
    except Failed as error:
        print(error.status.name, "is out of memory. Asked for" in str(error), rt.PeekAtLastError())
    """
    assert printed(source, FLAGOS_EMULATION_QUIRKS_OFF=off).splitlines() == [
        f"{native} no memory available", "OUT_OF_MEMORY True 0"
    ]  # fmt: skip


@pytest.mark.parametrize(("off", "major"), [("", 1000), ("capability", 8)])
def test_a_number_of_an_architecture_is_no_compute_capability(printed, off, major):
    source = """
    value = c_int()
    print(rt.DeviceGetAttribute(byref(value), 21, 0), value.value)
    card.initialize()
    it = card.device_properties(0)
    print(it.major, it.minor, it.warp_size)
    """
    assert printed(source, FLAGOS_EMULATION_QUIRKS_OFF=off).splitlines() == [f"0 {major}", "8 0 64"]


@pytest.mark.parametrize("off", ["", "unknown_pointer"])
def test_the_hosts_own_memory_is_neither_the_cards_nor_pinned(printed, off):
    source = """
    card.initialize()
    plain = ctypes.create_string_buffer(8)
    print(card.pointer_info(ctypes.addressof(plain)).kind == UNKNOWN, rt.PeekAtLastError())
    """
    assert printed(source, FLAGOS_EMULATION_QUIRKS_OFF=off) == "True 0\n"


def test_devices_have_names_and_places(printed):
    source = """
    text, device = ctypes.create_string_buffer(64), c_int(-1)
    print(rt.DeviceGetName(text, 64, 1), text.value.decode(), rt.DeviceGetName(text, 4, 1), rt.DeviceGetName(text, 64, 9))
    print(rt.DeviceGetPCIBusId(text, 64, 1), text.value.decode(), rt.DeviceGetByPCIBusId(byref(device), text.value), device.value)
    print(rt.DeviceGetByPCIBusId(byref(device), b"0000:ff:00.0"))
    """
    assert printed(source).splitlines() == ["0 MetaX C550 (emulated) 1 101", "0 0000:01:00.0 0 1", "1"]


def test_a_function_of_the_host_runs_in_stream_order(printed):
    source = """
    stream, block, seen = made(rt.StreamCreateWithFlags, 1), malloc(1), ctypes.create_string_buffer(b"-")
    Function = ctypes.CFUNCTYPE(None, c_void_p)
    function = Function(lambda _: written.append(bytes(seen)[:1]))
    written = []
    gate = Gate(stream)
    rt.MemsetAsync(block, ord("x"), c_size_t(1), stream)
    rt.MemcpyAsync(seen, block, c_size_t(1), TO_HOST, stream)
    print(rt.LaunchHostFunc(stream, function, None), written, rt.LaunchHostFunc(stream, None, None))
    gate.open()
    rt.StreamSynchronize(stream)
    print(written)
    """
    assert printed(source).splitlines() == ["0 [] 1", "[b'x']"]


def test_an_event_is_recorded_with_the_default_flag_only(printed):
    source = """
    event = made(rt.EventCreate)
    print(rt.EventRecordWithFlags(event, None, 0), rt.EventRecordWithFlags(event, None, 1), rt.DeviceReset())
    """
    assert printed(source) == "0 1 0\n"
