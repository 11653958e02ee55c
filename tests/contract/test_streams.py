"""Streams order work, events mark it, and waiting means waiting."""

import threading

import pytest
import torch

from .slow import ones, queued, side, slow

DEVICE = "flagos"


def queue_long_work(stream, times=10):
    """Work that takes a while, queued on `stream`; returns its result, a matrix of ones."""
    side()  # is measured before the stream has work
    with torch.flagos.stream(stream):
        return slow(ones(), times)


def test_kinds_and_names():
    s = torch.flagos.Stream()
    assert isinstance(s, torch.Stream) and s.device == torch.device("flagos:0")
    assert isinstance(torch.flagos.Event(), torch.Event)
    assert "flagos:0" in repr(s)
    assert s == torch.flagos.Stream(stream_id=s.stream_id, device_index=s.device_index, device_type=s.device_type)
    assert s != torch.flagos.default_stream() and len({s, torch.flagos.default_stream()}) == 2
    assert torch.Stream(device=DEVICE).device.type == DEVICE
    assert s.flagos_stream != torch.flagos.Stream().flagos_stream
    assert torch.flagos.default_stream() == torch.flagos.current_stream()
    assert torch.flagos.default_stream().query() in (True, False)


def test_priority():
    least, greatest = torch.flagos.Stream.priority_range()
    assert least >= greatest
    assert torch.flagos.Stream(priority=greatest).priority == greatest
    assert torch.flagos.Stream(priority=greatest - 100).priority == greatest
    assert torch.flagos.Stream(priority=least + 100).priority == least
    with torch.flagos.stream(torch.flagos.Stream(priority=greatest)):
        assert torch.flagos.current_stream().priority == greatest


def test_current_stream_in_every_way_of_setting_it():
    s, t = torch.flagos.Stream(), torch.flagos.Stream()
    with torch.flagos.stream(s):
        assert torch.flagos.current_stream() == s == torch.accelerator.current_stream()
        with t:
            assert torch.flagos.current_stream() == t
        assert torch.flagos.current_stream() == s
        with torch.flagos.stream(None):
            assert torch.flagos.current_stream() == s
    assert torch.flagos.current_stream() == torch.flagos.default_stream()
    torch.flagos.set_stream(s)
    torch.flagos.set_stream(None)
    assert torch.flagos.current_stream() == s
    torch.accelerator.set_stream(torch.flagos.default_stream())
    assert torch.flagos.current_stream() == torch.flagos.default_stream()
    with pytest.raises(ZeroDivisionError), torch.flagos.stream(s):
        1 / 0
    assert torch.flagos.current_stream() == torch.flagos.default_stream()


def test_current_stream_is_per_thread():
    seen = []
    with torch.flagos.stream(torch.flagos.Stream()):
        thread = threading.Thread(target=lambda: seen.append(torch.flagos.current_stream().stream_id))
        thread.start()
        thread.join()
    assert seen == [0]


@pytest.mark.devices(2)
def test_a_stream_of_another_device():
    s = torch.flagos.Stream(device=1)
    own = torch.flagos.Stream(device=0)
    torch.flagos.set_stream(own)
    with torch.flagos.stream(s):
        assert torch.flagos.current_device() == 1 and torch.flagos.current_stream() == s
        assert torch.ones(2, device=DEVICE).device.index == 1
        assert torch.flagos.current_stream(0) == own
    assert torch.flagos.current_device() == 0 and torch.flagos.current_stream() == own
    assert torch.flagos.current_stream(1) == torch.flagos.default_stream(1)
    torch.flagos.set_stream(torch.flagos.default_stream(0))


@queued
def test_side_streams_do_not_block_the_caller_and_events_know():
    s = torch.flagos.Stream()
    done = torch.flagos.Event()
    x = queue_long_work(s, times=20)
    done.record(s)
    pending = not done.query()
    assert pending and not s.query()
    done.synchronize()
    assert done.query()
    s.synchronize()
    assert s.query()
    torch.testing.assert_close(x.cpu(), torch.ones(side(), side()))


@pytest.mark.parametrize("how", ["wait_stream", "wait_event", "event.wait", "synchronize", "event.synchronize"])
def test_order_across_streams(how):
    a, b = torch.flagos.Stream(), torch.flagos.Stream()
    for _ in range(3):
        x = queue_long_work(a)
        if how == "wait_stream":
            b.wait_stream(a)
        elif how == "wait_event":
            b.wait_event(a.record_event())
        elif how == "event.wait":
            a.record_event().wait(b)
        elif how == "synchronize":
            a.synchronize()
        else:
            a.record_event(torch.flagos.Event()).synchronize()
        with torch.flagos.stream(b):
            y = x + 1
        b.synchronize()
        torch.testing.assert_close(y.cpu(), torch.full((side(), side()), 2.0))


def test_device_synchronize_waits_for_every_stream():
    streams = [torch.flagos.Stream() for _ in range(3)]
    for s in streams:
        queue_long_work(s)
    torch.flagos.synchronize()
    assert all(s.query() for s in streams)
    queue_long_work(streams[0])
    torch.accelerator.synchronize()
    assert streams[0].query()


def test_timing():
    s = torch.flagos.Stream()
    start, end = torch.flagos.Event(enable_timing=True), torch.flagos.Event(enable_timing=True)
    start.record(s)
    queue_long_work(s, times=8)
    end.record(s)
    end.synchronize()
    first = start.elapsed_time(end)
    assert first > 0.1
    assert start.elapsed_time(start) == 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        a, b = torch.flagos.Event(), torch.flagos.Event()
        a.record()
        b.record()
        a.elapsed_time(b)
    with pytest.raises(RuntimeError, match="cannot be shared between processes"):
        torch.flagos.Event(interprocess=True)
    assert torch.flagos.Event().query()  # never recorded: nothing to wait for


@pytest.mark.capability("index_checks")
def test_an_error_on_a_side_stream_is_raised_at_synchronisation():
    s = torch.flagos.Stream()
    x = torch.arange(4.0, device=DEVICE)
    with pytest.raises((RuntimeError, IndexError)):
        with torch.flagos.stream(s):
            x.index_select(0, torch.tensor([99], device=DEVICE))
        s.synchronize()
    s.synchronize()
    with torch.flagos.stream(s):
        y = x + 1
    s.synchronize()
    assert y.tolist() == [1, 2, 3, 4]


def test_values_that_are_needed_now_wait():
    s = torch.flagos.Stream()
    with torch.flagos.stream(s):
        x = queue_long_work(s)
        assert x[0, 0].item() == 1
        assert torch.nonzero(x).shape == (side() ** 2, 2)
        assert bool((x > 0).all())


def test_thread_state_travels_with_the_work():
    s = torch.flagos.Stream()
    with torch.flagos.stream(s), torch.no_grad():
        x = torch.ones(3, device=DEVICE, requires_grad=True) * 2
    assert not x.requires_grad
    with torch.flagos.stream(s):
        w = torch.ones(300, 300, device=DEVICE, requires_grad=True)
        (w @ w).sum().backward()
    s.synchronize()
    assert torch.equal(w.grad.cpu(), torch.full((300, 300), 600.0))
