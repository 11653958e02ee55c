"""The emulated libmusart behaves as the vendor's is known to."""

import re
import signal

import pytest


def test_the_cpu_cannot_touch_device_memory(run):
    result = run("ctypes.string_at(malloc(16), 1)")
    assert result.returncode == -signal.SIGSEGV
    assert re.match(r"flagos: host code touched device memory of flagos:0 at 0x", result.stderr)


def test_errors_have_names_and_texts_and_are_remembered_by_their_thread(printed):
    source = """
    print(name(0), name(2), name(600), name(12345), rt.musaGetErrorString(101).decode(), sep="; ")
    bad = rt.musaSetDevice(7)
    print(bad, rt.musaPeekAtLastError(), rt.musaGetLastError(), rt.musaGetLastError())
    rt.musaSetDevice(7)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(rt.musaPeekAtLastError()))
    thread.start(), thread.join()
    print(seen, rt.musaPeekAtLastError(), rt.musaSetDevice(0), rt.musaPeekAtLastError())
    """
    assert printed(source).splitlines() == [
        "musaSuccess; musaErrorMemoryAllocation; musaErrorNotReady; unrecognized error code; invalid device ordinal",
        "101 101 101 0",
        "[0] 101 0 101",
    ]


def test_kinds_of_memory(printed):
    source = """
    block, pinned, flagged = malloc(64), made(rt.musaMallocHost, c_size_t(64)), made(rt.musaHostAlloc, c_size_t(64), 3)
    plain = ctypes.create_string_buffer(4096)
    plain_address = ctypes.addressof(plain)
    kinds = [attributes(address).type for address in (block.value + 63, pinned, flagged.value + 63, plain_address)]
    print(kinds, attributes(block).device, attributes(block).host_pointer, attributes(block).device_pointer == block.value)
    register = [rt.musaHostRegister(plain, c_size_t(4096), 0) for _ in range(2)]
    mapped = made(rt.musaHostGetDevicePointer, plain, 0)
    print(register, attributes(plain_address + 4095).type, attributes(plain_address + 4096).type, mapped.value == plain_address)
    print([rt.musaHostUnregister(plain) for _ in range(2)], attributes(plain_address).type)
    print(*map(rt.musaFreeHost, (pinned, flagged, plain)), *map(rt.musaFree, (block, block, None)))
    """
    assert printed(source).splitlines() == ["[2, 1, 1, 0] 0 None True", "[0, 712] 1 0 True", "[0, 713] 0", "0 0 1 0 1 0"]


def test_what_is_not_there_says_so(printed):
    source = """
    handle = c_void_p()
    print(name(rt.musaMallocManaged(byref(handle), c_size_t(8), 1)), name(rt.musaIpcGetMemHandle(None, malloc(8))),
          name(rt.musaEventCreateWithFlags(byref(handle), 6)), rt.flagos_emulation_last_error().decode())
    """
    assert (
        printed(source)
        == "musaErrorNotSupported musaErrorNotSupported musaErrorNotSupported emulated events stay in their process\n"
    )


def test_memory_is_limited_and_counted(printed):
    source = """
    def info():
        free, total = c_size_t(), c_size_t()
        rt.musaMemGetInfo(byref(free), byref(total))
        return free.value >> 20, total.value >> 20
    block, handle = malloc(40 << 20), c_void_p()
    print(info(), name(rt.musaMalloc(byref(handle), c_size_t(30 << 20))), rt.musaFree(block), info())
    """
    assert printed(source) == "(24, 64) musaErrorMemoryAllocation 0 (64, 64)\n"


def test_asynchronous_allocation_is_freed_in_stream_order(printed):
    source = """
    stream = made(rt.musaStreamCreateWithFlags, 1)
    block = made(rt.musaMallocAsync, c_size_t(64), stream)
    gate = Gate(stream)
    rt.musaMemsetAsync(block, 5, c_size_t(64), stream)
    print(rt.musaFreeAsync(c_void_p(block.value + 1), stream), rt.musaFreeAsync(block, stream), attributes(block).type)
    gate.open()
    rt.musaStreamSynchronize(stream)
    print(attributes(block).type)
    """
    assert printed(source) == "1 0 2\n0\n"


def test_copies_are_checked(printed):
    source = """
    block, other, plain = malloc(64), malloc(64, device=1), ctypes.create_string_buffer(64)
    copy = lambda *arguments: short(rt.musaMemcpy(*arguments[:2], c_size_t(arguments[2]), arguments[3]))
    print(copy(block, plain, 64, TO_DEVICE), copy(block, plain, 64, ANY), copy(plain, block, 64, ANY), copy(plain, plain, 9, 0))
    print(*[copy(block, plain, *arguments) for arguments in ((65, TO_DEVICE), (64, ON_DEVICE), (64, TO_HOST), (64, 9))])
    print(copy(block, other, 64, ON_DEVICE), copy(None, plain, 64, TO_DEVICE), copy(None, None, 0, TO_DEVICE))
    peer = lambda *ends, size=64: short(rt.musaMemcpyPeerAsync(*ends, c_size_t(size), None))
    print(peer(block, 0, other, 1), peer(block, 1, other, 1), peer(block, 0, plain, 1), peer(block, 0, other, 1, size=65))
    print(short(rt.musaMemcpyAsync(block, plain, c_size_t(8), TO_DEVICE, c_void_p(1))))
    """
    assert printed(source).splitlines() == [
        "Success Success Success Success",
        "InvalidValue InvalidValue InvalidMemcpyDirection InvalidMemcpyDirection",
        "InvalidValue InvalidValue Success",
        "Success InvalidValue InvalidValue InvalidValue",
        "InvalidResourceHandle",
    ]


def test_host_memory_is_read_when_the_stream_gets_there(printed):
    """Stricter than a card, which may stage memory that is not page-locked: a forgotten synchronisation shows."""
    source = """
    block, plain = malloc(1), ctypes.create_string_buffer(b"a")
    gate = Gate()
    rt.musaMemcpyAsync(block, plain, c_size_t(1), TO_DEVICE, None)
    plain[0] = b"b"
    print(rt.musaStreamQuery(None))
    gate.open()
    print(bytes(read(block)))
    """
    assert printed(source) == "600\nb'b'\n"
    assert "b'a'" in printed(
        source.replace("gate = Gate()", "gate = threading.Event(); gate.open = gate.set"), FLAGOS_EMULATION_INLINE="1"
    )


@pytest.mark.parametrize(("flags", "order"), [(0, [0, 600]), (1, [0, 0])])
def test_streams_order_themselves_against_the_default_stream_unless_non_blocking(printed, flags, order):
    source = f"""
    stream = made(rt.musaStreamCreateWithFlags, {flags})
    other = made(rt.musaStreamCreateWithFlags, 1)
    block = malloc(8)
    gate = Gate()
    rt.musaMemsetAsync(block, 1, c_size_t(8), other)
    rt.musaStreamSynchronize(other)
    rt.musaMemsetAsync(block, 2, c_size_t(8), stream)
    if {flags}:
        rt.musaStreamSynchronize(stream)
    print([rt.musaStreamQuery(other), rt.musaStreamQuery(stream)])
    gate.open()
    print(rt.musaDeviceSynchronize())
    gate = Gate(stream)
    rt.musaMemsetAsync(block, 3, c_size_t(8), None)
    if {flags}:
        rt.musaStreamSynchronize(None)
    print(rt.musaStreamQuery(None))
    gate.open()
    """
    assert printed(source).splitlines() == [str(order), "0", str(order[1])]


def test_priorities_are_clamped_and_kept(printed):
    source = """
    least, greatest, value = c_int(), c_int(), c_int()
    rt.musaDeviceGetStreamPriorityRange(byref(least), byref(greatest))
    kept = []
    for priority in (0, -1, -99, 99):
        rt.musaStreamGetPriority(made(rt.musaStreamCreateWithPriority, 1, priority), byref(value))
        kept.append(value.value)
    print(least.value, greatest.value, kept)
    """
    assert printed(source) == "0 -2 [0, -1, -2, 0]\n"


def test_stale_handles_are_errors(printed):
    source = """
    stream, event = made(rt.musaStreamCreate), made(rt.musaEventCreate)
    rt.musaStreamDestroy(stream), rt.musaEventDestroy(event)
    calls = [rt.musaStreamDestroy(stream), rt.musaStreamQuery(stream), rt.musaStreamSynchronize(stream),
             rt.musaEventQuery(event), rt.musaEventRecord(event, None), rt.musaStreamWaitEvent(None, event, 0),
             rt.musaEventDestroy(event), rt.musaStreamDestroy(None)]
    print(set(map(name, calls)))
    """
    assert printed(source) == "{'musaErrorInvalidResourceHandle'}\n"


def test_times_need_recorded_events_with_timing(printed):
    source = """
    start, end, untimed = made(rt.musaEventCreate), made(rt.musaEventCreate), made(rt.musaEventCreateWithFlags, 2)
    elapsed = c_float()
    between = lambda first, second: short(rt.musaEventElapsedTime(byref(elapsed), first, second))
    print(between(start, end))
    rt.musaEventRecord(start, None), rt.musaEventRecord(untimed, None)
    gate = Gate()
    rt.musaEventRecord(end, None)
    print(between(untimed, start), between(start, end))
    gate.open()
    rt.musaEventSynchronize(end)
    print(between(start, end), elapsed.value > 0)
    """
    assert printed(source).splitlines() == ["InvalidResourceHandle", "InvalidResourceHandle NotReady", "Success True"]


def test_peers_and_attributes(printed):
    source = """
    value, yes = c_int(), []
    for pair in ((0, 1), (1, 0), (1, 1)):
        rt.musaDeviceCanAccessPeer(byref(value), *pair)
        yes.append(value.value)
    print(yes, *[short(rt.musaDeviceEnablePeerAccess(*call)) for call in ((1, 0), (1, 0), (0, 0), (5, 0), (1, 3))])
    read_attribute = lambda number: rt.musaDeviceGetAttribute(byref(value), number, 0) or value.value
    print(read_attribute(75), read_attribute(76), read_attribute(16), rt.musaDeviceGetAttribute(byref(value), 9999, 0))
    """
    assert printed(source).splitlines() == [
        "[1, 1, 0] Success PeerAccessAlreadyEnabled InvalidDevice InvalidDevice InvalidValue",
        "3 1 60 1",
    ]


def test_a_forked_child_cannot_use_the_runtime(printed):
    source = """
    malloc(8)
    child = os.fork()
    if child == 0:
        handle = c_void_p()
        os._exit(rt.musaMalloc(byref(handle), c_size_t(8)))
    print(os.waitpid(child, 0)[1] >> 8)
    """
    assert printed(source) == "3\n"


def test_activities_are_told_with_the_call_that_caused_them(printed):
    source = """
    seen = []
    fields = [name for name, _ in Activity._fields_]
    observer = Observer(lambda _, activity: seen.append({name: getattr(activity.contents, name) for name in fields}))
    block, plain, stream = malloc(64), ctypes.create_string_buffer(64), made(rt.musaStreamCreateWithFlags, 1)
    pinned, other = made(rt.musaMallocHost, c_size_t(64)), malloc(64, device=1)
    rt.flagos_emulation_v1_observe(observer, None)
    rt.musaMemcpyAsync(block, plain, c_size_t(64), TO_DEVICE, stream)
    rt.musaMemsetAsync(block, 7, c_size_t(32), stream)
    rt.musaMemcpyPeerAsync(other, 1, block, 0, c_size_t(16), stream)
    rt.musaMemcpyAsync(pinned, block, c_size_t(8), TO_HOST, None)
    Gate(stream).open()
    rt.musaDeviceSynchronize()
    rt.musaSetDevice(5)
    rt.flagos_emulation_v1_observe(None, None)
    rt.musaMemset(block, 0, c_size_t(64))
    calls = {entry["correlation"]: entry for entry in seen if entry["kind"] in (4, 5)}
    for entry in sorted((e for e in seen if e["kind"] not in (4, 5)), key=lambda e: e["correlation"]):
        cause = calls[entry["correlation"]]
        assert cause["thread"] == threading.get_native_id()
        assert cause["start"] <= entry["end"] and entry["start"] <= entry["end"]
        print(cause["name"].decode(), entry["kind"], entry["name"].decode(), entry["stream"] > 0, entry["bytes"],
              entry["value"], entry["source"], entry["target"], entry["source_device"], entry["target_device"])
    print([(e["kind"], e["name"].decode(), e["value"]) for e in calls.values()][-2:])
    """
    assert printed(source).splitlines() == [
        "musaMemcpyAsync 2 musaMemcpyAsync True 64 0 1 3 -1 0",
        "musaMemsetAsync 3 musaMemsetAsync True 32 7 0 0 0 0",
        "musaMemcpyPeerAsync 2 musaMemcpyPeerAsync True 16 0 3 3 0 1",
        "musaMemcpyAsync 2 musaMemcpyAsync False 8 0 3 2 0 -1",
        "musaLaunchKernel 1 gate True 0 0 0 0 0 0",
        "[(5, 'musaDeviceSynchronize', 0), (4, 'musaSetDevice', 101)]",
    ]
