"""What streams promise: order inside one, none between two unless asked for, and waiting that really waits."""

import gc
import threading

import pytest
import torch

from .slow import ones, queued, side, slow

DEVICE = "flagos"


@pytest.fixture
def streams():
    side()  # is measured before the first of them has work
    pair = torch.flagos.Stream(), torch.flagos.Stream()
    yield pair
    for s in pair:
        s.synchronize()


def test_the_order_inside_a_stream_is_that_of_the_calls(streams):
    """G4: in-place work behind slow work on the same memory."""
    with torch.flagos.stream(streams[0]):
        x = slow(ones())
        for number in range(10):
            x.mul_(0).add_(number)
    streams[0].synchronize()
    assert x.unique().tolist() == [9]


@queued
def test_an_event_orders_two_streams(streams):
    """G4: the reported lines: long work on one, wait_event on the other, and the reader sees the result."""
    a, b = streams
    event = torch.flagos.Event()
    for times in (20, 200, 2000):  # long enough beside whatever else keeps this process from its turn
        target = torch.zeros(side(), side(), device=DEVICE)
        a.wait_stream(torch.flagos.current_stream())
        with torch.flagos.stream(a):
            target.copy_(slow(ones(), times))
            event.record(a)
        pending = not event.query()
        b.wait_event(event)
        with torch.flagos.stream(b):
            read = target + 1
        b.synchronize()
        assert event.query()
        torch.testing.assert_close(read.cpu(), torch.full((side(), side()), 2.0), rtol=1e-4, atol=0)
        if pending:
            break
    assert pending, "the work is too short to show anything"


@queued
def test_an_event_marks_the_moment_of_its_recording(streams):
    """G4: work queued after the mark is not waited for, and recording again moves the mark."""
    a, b = streams
    event = torch.flagos.Event()
    for times in (20, 200, 2000):  # long enough beside whatever else keeps this process from its turn
        event.record(a)
        with torch.flagos.stream(a):
            x = slow(ones(), times)
        event.synchronize()
        b.wait_event(event)
        with torch.flagos.stream(b):
            y = ones() + 1
        b.synchronize()
        if waited_for_less := event.query() and not a.query():
            break
    assert waited_for_less, "waited for later work"
    event.record(a)
    assert not event.query()
    event.synchronize()
    assert a.query() and x[0, 0].item() == pytest.approx(1, abs=1e-4) and y[0, 0].item() == 2


def test_many_events_on_one_stream_come_true_in_order(streams):
    """G4: a later mark is never reached before an earlier one."""
    a = streams[0]
    events = []
    with torch.flagos.stream(a):
        x = ones()
        for _ in range(8):
            x = slow(x, 1)
            events.append(a.record_event())
    while not events[-1].query():
        reached = [e.query() for e in reversed(events)]  # the later ones first: time passes between two answers
        assert reached == sorted(reached)
    assert all(e.query() for e in events)


def test_a_chain_over_three_streams():
    """G4: each waits for the one before it, and the caller only for the last."""
    streams = [torch.flagos.Stream() for _ in range(3)]
    x = ones()
    for former, s in zip([torch.flagos.current_stream(), *streams], streams, strict=False):
        s.wait_stream(former)
        with torch.flagos.stream(s):
            x = slow(x, 3) + 1
    streams[-1].synchronize()
    torch.testing.assert_close(x.cpu(), torch.full((side(), side()), 4.0), rtol=1e-4, atol=0)  # a step left out is 1
    assert all(s.query() for s in streams)


def test_the_default_stream_waits_when_it_is_told_to(streams):
    """G4: and operators on it come after what it waits for."""
    with torch.flagos.stream(streams[0]):
        x = slow(ones(), 10)
    torch.flagos.current_stream().wait_stream(streams[0])
    y = x + 1
    assert y[3, 3].item() == pytest.approx(2, abs=1e-4)


@pytest.mark.devices(2)
def test_events_order_two_devices():
    """G4: an event of one device holds back a stream of the other."""
    a, b = torch.flagos.Stream(0), torch.flagos.Stream(1)
    with torch.flagos.stream(a):
        x = slow(ones())
        event = a.record_event()
    with torch.flagos.stream(b):
        b.wait_event(event)
        y = x.to("flagos:1", non_blocking=True) + 1
    b.synchronize()
    torch.testing.assert_close(y.cpu(), torch.full((side(), side()), 2.0))
    assert torch.flagos.current_device() == 0


def test_elapsed_time_follows_the_work(streams):
    """G4: between two marks lies the time of the work between them; a longer piece takes longer."""
    a = streams[0]
    marks = [torch.flagos.Event(enable_timing=True) for _ in range(3)]
    x = ones()
    with torch.flagos.stream(a):
        marks[0].record()
        x = slow(x, 2)
        marks[1].record()
        x = slow(x, 40)
        marks[2].record()
    a.synchronize()
    short, long, both = (marks[i].elapsed_time(marks[j]) for i, j in ((0, 1), (1, 2), (0, 2)))
    assert 0 < short < long < both
    assert both == pytest.approx(short + long, rel=0.01, abs=0.01)
    assert marks[2].elapsed_time(marks[0]) == pytest.approx(-both, rel=0.01)


@queued
@pytest.mark.parametrize("kind", [torch.flagos.Event, lambda **k: torch.Event(DEVICE, **k)], ids=["flagos", "torch"])
def test_elapsed_time_that_cannot_be_told(kind):
    """G4: without timing, before recording and before the end: an error, not a number."""
    plain, timed, later = kind(), kind(enable_timing=True), kind(enable_timing=True)
    for e in (plain, timed):
        e.record()
        e.synchronize()
    for start, end in ((plain, timed), (timed, plain)):
        with pytest.raises(ValueError, match="Both events must be created with argument 'enable_timing=True'"):
            start.elapsed_time(end)
    with pytest.raises(ValueError, match="Both events must be recorded before calculating elapsed time"):
        timed.elapsed_time(later)
    s = torch.flagos.Stream()
    with torch.flagos.stream(s):
        kept = slow(ones(), 10)
        later.record(s)
    with pytest.raises(RuntimeError, match="Both events must be completed before calculating elapsed time"):
        timed.elapsed_time(later)
    s.synchronize()
    assert timed.elapsed_time(later) > 0 and kept is not None


def test_events_that_were_never_recorded():
    """G4: nothing to wait for, as with CUDA."""
    e = torch.flagos.Event()
    assert e.query()
    e.synchronize()
    torch.flagos.current_stream().wait_event(e)


def test_an_event_of_another_device_type_is_refused():
    """G4: a CPU stream or event has no place here."""
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        torch.flagos.set_stream(torch.Stream(device="cpu"))
    with pytest.raises(ValueError, match="expected a stream of a flagos device|flagos"):
        torch.flagos.set_stream(type("Fake", (), {"device": torch.device("cpu")})())


def test_events_of_other_processes_are_refused_with_the_remedy():
    """G4: no half-working handle."""
    for attempt in (
        lambda: torch.flagos.Event(interprocess=True),
        lambda: torch.flagos.Event().ipc_handle(),
        lambda: torch.flagos.Event.from_ipc_handle(torch.device("flagos:0"), b"x"),
    ):
        with pytest.raises(RuntimeError, match="cannot be shared between processes; leave interprocess=False"):
            attempt()


def test_a_blocking_event_waits_too(streams):
    """G4: blocking=True only says how the thread waits."""
    event = torch.flagos.Event(blocking=True)
    with torch.flagos.stream(streams[0]):
        x = slow(ones())
        event.record()
    event.synchronize()
    assert streams[0].query() and x[0, 0].item() == pytest.approx(1, abs=1e-4)


def test_urgent_work_is_computed_right():
    """Streams of every priority give the same values; the priority is a hint."""
    least, greatest = torch.flagos.Stream.priority_range()
    results = []
    for priority in range(greatest, least + 1):
        with torch.flagos.stream(torch.flagos.Stream(priority=priority)):
            results.append(slow(ones(), 2))
    torch.flagos.synchronize()
    for r in results:
        torch.testing.assert_close(r.cpu(), torch.ones(side(), side()))


@queued
def test_record_stream_keeps_the_block_until_the_reader_is_done(streams):
    """G4: memory freed on its own stream while another still reads it is not handed out."""
    b = streams[1]
    x = ones()
    address = x.data_ptr()
    b.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(b):
        kept = slow(ones(), 20)
        read = x + 1
    x.record_stream(b)
    del x
    assert not b.query()
    again = torch.zeros(side(), side(), device=DEVICE)
    assert again.data_ptr() != address
    b.synchronize()
    assert read.unique().tolist() == [2] and kept is not None


def test_views_and_storages_are_recorded_too(streams):
    """G4: record_stream of a view holds the whole block."""
    s = streams[0]
    base = ones()
    view = base[10:20]
    s.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(s):
        kept = slow(ones(), 20)
        read = view * 2
    view.record_stream(s)
    del base, view
    gc.collect()
    filler = [torch.zeros(side(), side(), device=DEVICE) for _ in range(4)]
    s.synchronize()
    assert read.unique().tolist() == [2] and len(filler) == 4 and kept is not None


def test_threads_with_streams_of_their_own():
    """Each thread's stream is its own choice, and the results do not mix."""
    results = {}

    def work(number):
        with torch.flagos.stream(torch.flagos.Stream()):
            x = torch.full((side(), side()), float(number), device=DEVICE)
            results[number] = slow(x, 3).mean().item()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {n: pytest.approx(n, abs=1e-3) for n in range(6)}
    assert torch.flagos.current_stream() == torch.flagos.default_stream()
