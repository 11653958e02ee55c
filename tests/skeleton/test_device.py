"""The skeleton suite: what a platform library must do before anything else is worth trying, through the contract alone."""

from __future__ import annotations


def test_it_loads_and_shows_its_table(run_script):
    assert run_script("print(card.table.id, card.table.sdk_version, card.device_count())") == "b'mycard' b'1.0' 2"
    assert run_script("print(card.device_properties(1).name)") == "b'Mycard (emulated)'"


def test_the_settings_of_emulated_devices_hold(run_script):
    print_memory = "print(card.device_count(), card.memory_info(0)[1])"
    assert run_script(print_memory, FLAGOS_HOST_DEVICES="3", FLAGOS_HOST_MEMORY="4MiB") == f"3 {4 << 20}"


def test_bytes_go_there_and_back_on_every_device_and_between_them(run_script):
    said = run_script("""
from_0, on_1 = card.malloc(0, 4096), card.malloc(1, 4096)
card.write(from_0, bytes(range(256)) * 16)
card.stream_synchronize(0, None)
card.memcpy_async(on_1, from_0, 4096, ON_DEVICE, None)
print(card.read(on_1, 4096) == bytes(range(256)) * 16, card.pointer_info(on_1).device)
card.memset_async(on_1, 7, 4096, None)
print(set(card.read(on_1, 4096)))
for device, address in ((0, from_0), (1, on_1)):
    card.free(device, address)
print(all(card.memory_info(device)[0] == card.memory_info(device)[1] for device in (0, 1)))
""")
    assert said.splitlines() == ["True 1", "{7}", "True"]


def test_streams_keep_order_through_events(run_script):
    said = run_script("""
first, second, event = card.stream_create(0, 0), card.stream_create(0, 0), card.event_create(0, 1)
source, target = card.malloc(0, 1 << 20), card.malloc(0, 1 << 20)
for round in range(20):
    card.memset_async(source, round, 1 << 20, first)
    card.event_record(event, 0, first)
    card.stream_wait_event(0, second, event)
    card.memcpy_async(target, source, 1 << 20, ON_DEVICE, second)
    card.event_record(event, 0, second)
    card.stream_wait_event(0, first, event)
card.stream_synchronize(0, second)
print(set(card.read(target, 1 << 20)), card.status("event_query", event).name)
for stream in (first, second):
    card.stream_destroy(stream)
""")
    assert said == "{19} SUCCESS"


def test_pinned_memory_is_known_as_such(run_script):
    said = run_script("""
pinned = card.malloc_pinned(64)
print(card.pointer_info(pinned).kind == PINNED, card.pointer_info(0).kind == UNKNOWN)
card.free_pinned(pinned)
""")
    assert said == "True True"


def test_every_failure_has_a_status_and_a_sentence(run_script):
    said = run_script("""
def refused(name, *arguments):
    try:
        getattr(card, name)(*arguments)
    except Failed as failure:
        print(failure.status.name, str(failure).startswith(("cannot ", "there are ", "neither ")))
    else:
        print("accepted")
block = card.malloc(0, 16)
card.free(0, block)
refused("free", 0, block)
refused("malloc", 0, 1 << 50)
refused("set_device", 9)
refused("stream_synchronize", 9, None)
refused("stream_destroy", 12345)
refused("can_access_peer", 0, 9)
""", FLAGOS_HOST_MEMORY="64MiB")  # fmt: skip
    assert said.splitlines() == [
        "INVALID_ARGUMENT True", "OUT_OF_MEMORY True", *["INVALID_ARGUMENT True"] * 4
    ]  # fmt: skip


def test_tritons_kernels_reach_the_emulated_card(run_script):
    said = run_script("print(bool(card.table.launch_host_function), card.host_offset() != 0)")
    assert said == "True True"
