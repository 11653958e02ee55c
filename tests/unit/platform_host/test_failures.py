"""Errors of queued work: who is told, how often, and what happens next."""

import ctypes

import pytest
from flagos_contract import Failed, Status

WORDS = ctypes.create_string_buffer(b"index 7 is out of bounds")


@pytest.fixture
def break_stream(host, probe):
    return lambda device, stream: host.launch_host_function(
        device, stream, probe.work("fail_with"), ctypes.addressof(WORDS)
    )


def reports(call, *arguments):
    with pytest.raises(Failed) as error:
        call(*arguments)
    assert error.value.status == Status.ASYNC
    assert "index 7 is out of bounds" in str(error.value)


@pytest.mark.parametrize("which", ["stream_synchronize", "stream_query", "synchronize_device", "event_synchronize"])
def test_reported_once_by_the_next_synchronisation(host, stream, break_stream, which):
    event = host.event_create(0, 0)
    break_stream(0, stream)
    host.event_record(event, 0, stream)
    while host.status("event_query", event) == Status.NOT_READY:
        pass
    arguments = {"synchronize_device": (0,), "event_synchronize": (event,)}.get(which, (0, stream))
    reports(getattr(host, which), *arguments)
    for name, *others in [
        ("stream_synchronize", 0, stream),
        ("stream_query", 0, stream),
        ("synchronize_device", 0),
        ("event_synchronize", event),
    ]:
        assert host.status(name, *others) == Status.SUCCESS
    host.event_destroy(event)


@pytest.mark.host_only("a card's default stream is asynchronous")
def test_default_stream_too(host, probe, break_stream):
    order = probe.make_list()
    break_stream(1, None)
    reports(host.stream_query, 1, None)
    host.launch_host_function(1, None, probe.work("append"), probe.make_entry(order, 1))
    assert probe.list_thread(order, 0) == probe.this_thread()  # inline again


def test_event_before_the_failure_is_sound(host, probe, stream, break_stream):
    event = host.event_create(0, 0)
    host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 10)
    host.event_record(event, 0, stream)
    break_stream(0, stream)
    host.event_synchronize(event)
    reports(host.stream_synchronize, 0, stream)
    host.event_destroy(event)


def test_each_function_is_called_once_after_a_failure_too(host, probe, stream, break_stream):
    """Only the call can release what an argument owns."""
    order = probe.make_list()
    break_stream(0, stream)
    for number in range(100):
        host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, number))
    reports(host.stream_synchronize, 0, stream)
    host.stream_synchronize(0, stream)
    assert probe.numbers(order) == list(range(100))


def test_the_first_failure_is_the_one_reported(host, probe, stream, break_stream):
    gate = probe.make_gate()
    consequence = ctypes.create_string_buffer(b"a consequence")
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    break_stream(0, stream)
    host.launch_host_function(0, stream, probe.work("fail_with"), ctypes.addressof(consequence))
    probe.open_gate(gate)
    reports(host.stream_synchronize, 0, stream)
    host.stream_synchronize(0, stream)


def test_waiting_streams_learn_of_it(host, probe, stream, break_stream):
    """Bad data that reaches the default stream through an event must not be read without an error."""
    gate, event, block = probe.make_gate(), host.event_create(0, 0), host.malloc(0, 8)
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    break_stream(0, stream)
    host.event_record(event, 0, stream)
    host.stream_wait_event(0, None, event)
    probe.open_gate(gate)
    reports(host.read, block, 8)
    host.stream_synchronize(0, stream)  # the same failure, told already
    host.read(block, 8)
    # The event was reached before anyone waited: the same.
    break_stream(0, stream)
    host.event_record(event, 0, stream)
    while host.status("event_query", event) == Status.NOT_READY:
        pass
    host.stream_wait_event(0, None, event)
    reports(host.stream_synchronize, 0, None)
    host.synchronize_device(0)
    host.event_destroy(event)
    host.free(0, block)


def test_no_failure_is_lost(host, stream, break_stream):
    other = host.stream_create(0, 0)
    break_stream(0, stream)
    break_stream(0, other)
    reports(host.synchronize_device, 0)
    reports(host.synchronize_device, 0)
    host.synchronize_device(0)
    break_stream(0, other)
    host.stream_destroy(other)
    reports(host.synchronize_device, 0)
    host.synchronize_device(0)
