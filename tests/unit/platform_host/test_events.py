"""Events: states, order between streams, times."""

import pytest
from flagos_contract import Failed, Status


@pytest.fixture
def event(host):
    handle = host.event_create(0, 1)
    yield handle
    host.event_destroy(handle)


@pytest.fixture
def other_stream(host):
    handle = host.stream_create(0, 0)
    yield handle
    host.stream_destroy(handle)


def test_unrecorded_event_is_reached(host, event, stream):
    assert host.status("event_query", event) == Status.SUCCESS
    host.event_synchronize(event)
    host.stream_wait_event(0, stream, event)
    assert host.status("stream_query", 0, stream) == Status.SUCCESS


def test_event_on_idle_stream_is_reached_at_once(host, event, stream):
    host.event_record(event, 0, stream)
    assert host.status("event_query", event) == Status.SUCCESS


def test_event_orders_two_streams(host, probe, event, stream, other_stream):
    gate, order = probe.make_gate(), probe.make_list()
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, 1))
    host.event_record(event, 0, stream)
    host.stream_wait_event(0, other_stream, event)
    host.launch_host_function(0, other_stream, probe.work("append"), probe.make_entry(order, 2))
    assert host.status("event_query", event) == Status.NOT_READY
    probe.open_gate(gate)
    host.stream_synchronize(0, other_stream)
    assert probe.numbers(order) == [1, 2]
    assert host.status("event_query", event) == Status.SUCCESS


def test_wait_takes_the_state_at_the_time_of_the_call(host, probe, event, stream, other_stream):
    """Each stream waits for an event that the other records later: no deadlock, as the later recording is not meant."""
    second = host.event_create(0, 0)
    gate, order = probe.make_gate(), probe.make_list()
    host.stream_wait_event(0, stream, second)
    host.launch_host_function(0, stream, probe.work("append"), probe.make_entry(order, 1))
    host.launch_host_function(0, other_stream, probe.work("pass_gate"), gate)
    host.event_record(second, 0, other_stream)
    host.stream_synchronize(0, stream)  # the gate is still closed
    assert probe.numbers(order) == [1]
    probe.open_gate(gate)
    host.event_synchronize(second)
    host.event_destroy(second)


def test_recorded_again_while_waits_are_pending(host, probe, event, stream, other_stream):
    first, second, order = probe.make_gate(), probe.make_gate(), probe.make_list()
    host.launch_host_function(0, stream, probe.work("pass_gate"), first)
    host.event_record(event, 0, stream)
    host.stream_wait_event(0, other_stream, event)
    host.launch_host_function(0, other_stream, probe.work("append"), probe.make_entry(order, 1))
    host.launch_host_function(0, stream, probe.work("pass_gate"), second)
    host.event_record(event, 0, stream)
    probe.open_gate(first)
    host.stream_synchronize(0, other_stream)  # the first recording is enough
    assert probe.numbers(order) == [1]
    assert host.status("event_query", event) == Status.NOT_READY
    probe.open_gate(second)
    host.event_synchronize(event)


def test_destroyed_event_still_counts_for_who_waits(host, probe, stream, other_stream):
    event = host.event_create(0, 0)
    gate, order = probe.make_gate(), probe.make_list()
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.event_record(event, 0, stream)
    host.stream_wait_event(0, other_stream, event)
    host.event_destroy(event)
    host.launch_host_function(0, other_stream, probe.work("append"), probe.make_entry(order, 1))
    assert probe.numbers(order) == []
    probe.open_gate(gate)
    host.stream_synchronize(0, other_stream)
    assert probe.numbers(order) == [1]


def test_chain_over_many_streams(host, probe):
    order = probe.make_list()
    handles = [host.stream_create(number % 2, 0) for number in range(30)]
    events = [host.event_create(0, 0) for _ in handles]
    for number, (handle, event) in enumerate(zip(handles, events, strict=True)):
        if number:
            host.stream_wait_event(0, handle, events[number - 1])
        else:
            host.launch_host_function(0, handle, probe.work("sleep_milliseconds"), 20)
        host.launch_host_function(0, handle, probe.work("append"), probe.make_entry(order, number))
        host.event_record(event, 0, handle)
    host.event_synchronize(events[-1])
    assert probe.numbers(order) == list(range(30))
    for handle, event in zip(handles, events, strict=True):
        host.stream_destroy(handle)
        host.event_destroy(event)


def test_elapsed_time_is_the_streams(host, probe, stream):
    start, end = host.event_create(0, 1), host.event_create(0, 1)
    gate = probe.make_gate()
    host.launch_host_function(0, stream, probe.work("pass_gate"), gate)
    host.event_record(start, 0, stream)
    host.launch_host_function(0, stream, probe.work("sleep_milliseconds"), 50)
    host.event_record(end, 0, stream)
    with pytest.raises(Failed, match="the start event is not reached yet; synchronise first") as error:
        host.event_elapsed(start, end)
    assert error.value.status == Status.NOT_READY
    probe.open_gate(gate)
    host.event_synchronize(end)
    assert 50 <= host.event_elapsed(start, end) < 500
    assert host.event_elapsed(end, start) == -host.event_elapsed(start, end)
    host.event_destroy(start)
    host.event_destroy(end)


def test_elapsed_time_needs_timing_and_recordings(host, event):
    untimed = host.event_create(0, 0)
    host.event_record(untimed, 0, None)
    with pytest.raises(Failed, match="the start event was made without enable_timing") as error:
        host.event_elapsed(untimed, event)
    assert error.value.status == Status.INVALID_ARGUMENT
    with pytest.raises(Failed, match="the start event was never recorded"):
        host.event_elapsed(event, event)
    host.event_record(event, 0, None)
    with pytest.raises(Failed, match="the end event was made without enable_timing"):
        host.event_elapsed(event, untimed)
    for name, *arguments in [("event_query", None), ("event_synchronize", None), ("event_record", None, 0, None)]:
        with pytest.raises(Failed, match=f"{name}: the event is NULL"):
            getattr(host, name)(*arguments)
    host.event_destroy(untimed)
    host.event_destroy(None)
