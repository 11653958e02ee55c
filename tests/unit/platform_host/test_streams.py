"""Streams: order, concurrency, inline default streams, what nested work sees."""

import ctypes
import time

import pytest
from flagos_contract import Failed, Status


@pytest.mark.host_only("a card's default stream is asynchronous")
def test_idle_default_stream_runs_on_the_calling_thread(host, probe):
    order = probe.make_list()
    host.launch_host_function(0, None, probe.work("append"), probe.make_entry(order, 1))
    assert probe.numbers(order) == [1]  # without any synchronisation
    assert probe.list_thread(order, 0) == probe.this_thread()
    assert host.status("stream_query", 0, None) == Status.SUCCESS


def test_side_stream_is_asynchronous_and_ordered(host, probe, stream):
    gate, order = probe.make_gate(), probe.make_list()
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    for number in range(200):
        host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, number))
    assert host.status("stream_query", 0, stream) == Status.NOT_READY
    assert probe.numbers(order) == []
    probe.open_gate(gate)
    host.stream_synchronize(0, stream)
    assert probe.numbers(order) == list(range(200))
    assert probe.list_thread(order, 0) != probe.this_thread()
    assert host.status("stream_query", 0, stream) == Status.SUCCESS


def test_two_streams_run_at_the_same_time(host, probe, stream):
    other = host.stream_create(1, 0)
    gate = probe.make_gate()
    host.launch_host_function(0, stream, probe.work("meet"), gate)
    host.launch_host_function(1, other, probe.work("meet"), gate)
    host.synchronize_device(0)
    host.synchronize_device(1)
    host.stream_destroy(other)


def test_many_blocked_streams_do_not_stop_another(host, probe, stream):
    gate, order = probe.make_gate(), probe.make_list()
    blocked = [host.stream_create(0, 0) for _ in range(40)]
    for handle in blocked:
        host.launch_host_function(0, handle, probe.work("pass_gate"), gate)
    host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, 1))
    host.stream_synchronize(0, stream)
    assert probe.numbers(order) == [1]
    probe.open_gate(gate)
    host.synchronize_device(0)
    for handle in blocked:
        host.stream_destroy(handle)


def test_copies_and_fills_wait_their_turn(host, probe, stream):
    gate = probe.make_gate()
    block = host.malloc(0, 64)
    host.write(block, b"a" * 64)
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.memset_async(block, ord("b"), 64, stream)
    later = b"c" * 10
    host.write(block, later, stream)
    assert host.read(block, 64) == b"a" * 64
    probe.open_gate(gate)
    host.stream_synchronize(0, stream)
    assert host.read(block, 64) == b"c" * 10 + b"b" * 54
    host.free(0, block)


def test_busy_default_stream_queues(host, probe, stream):
    gate, order = probe.make_gate(), probe.make_list()
    event = host.event_create(0, 0)
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.event_record(event, 0, stream)
    host.stream_wait_event(0, None, event)
    host.launch_host_function(0, None, probe.work("append"), probe.make_entry(order, 1))
    assert host.status("stream_query", 0, None) == Status.NOT_READY
    assert probe.numbers(order) == []
    host.launch_host_function(1, None, probe.work("append"), probe.make_entry(order, 0))  # another device is idle
    host.stream_synchronize(1, None)
    probe.open_gate(gate)
    host.stream_synchronize(0, None)
    assert probe.numbers(order) == [0, 1]
    host.event_destroy(event)


@pytest.mark.parametrize("side", [False, True])
def test_nested_work_is_part_of_its_function(host, probe, side):
    """A kernel that launches on its own stream and synchronises neither deadlocks nor reorders."""
    handle = host.stream_create(1, 0) if side else None
    order = probe.make_list()
    nested = probe.make_nested(ctypes.addressof(host.table), 1, handle, order)
    host.launch_host_function(1, handle, probe.work("launch_nested"), nested)
    host.stream_synchronize(1, handle)
    assert probe.numbers(order) == [1, 2, 3]
    assert probe.nested_statuses(nested) == Status.SUCCESS
    assert probe.nested_device(nested) == 1  # the function sees its stream's device as the current one
    assert host.get_device() == 0
    if side:
        host.stream_destroy(handle)


def test_synchronize_device_waits_for_all_its_streams(host, probe):
    handles = [host.stream_create(0, 0) for _ in range(3)]
    start = time.monotonic()
    for handle in handles:
        host.launch_host_function(0, handle, probe.work("sleep_milliseconds"), 300)
    host.stream_destroy(handles.pop())  # its work is finished all the same
    host.synchronize_device(1)
    host.synchronize_device(0)
    assert 0.3 <= time.monotonic() - start < 0.85  # at the same time, not one after the other
    for handle in handles:
        host.stream_destroy(handle)


def test_priorities(host):
    least, greatest = host.stream_priority_range()
    assert (least, greatest) == (0, -2)
    for priority in (least, greatest, 99, -99):
        host.stream_destroy(host.stream_create(0, priority))


def test_wrong_streams_are_refused(host, probe):
    handle = host.stream_create(0, 0)
    host.stream_destroy(handle)
    with pytest.raises(Failed, match="not a stream, or destroyed already"):
        host.stream_destroy(handle)
    with pytest.raises(Failed, match="a default stream lives as long as its device"):
        host.stream_destroy(None)
    with pytest.raises(Failed, match="the function is NULL"):
        host.launch_host_function(0, None, None, None)


@pytest.mark.host_only("a vendor's runtime has its own costs")
def test_query_of_an_idle_stream_costs_nanoseconds(host, probe, stream):
    for handle in (None, stream):
        assert probe.time_query(ctypes.addressof(host.table), 0, handle) < 50


@pytest.mark.host_only("the emulated cards contain its sources")
def test_idle_threads_end(run_script):
    source = """
    def threads():
        return sum(open(f"/proc/self/task/{task}/comm").read() == "flagos-stream\\n" for task in os.listdir("/proc/self/task"))
    assert threads() == 0  # lazily started
    stream = host.stream_create(0, 0)
    for _ in range(100):
        host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 0)
        host.stream_synchronize(0, stream)
    print(threads() < 10)  # used again; more than one where a thread was still on its way back
    end = time.monotonic() + 20
    while threads() and time.monotonic() < end:
        time.sleep(0.2)
    print(threads())
    host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 0)
    host.stream_synchronize(0, stream)
    """
    result = run_script(source)
    assert (result.stdout, result.stderr, result.returncode) == ("True\n0\n", "", 0)
