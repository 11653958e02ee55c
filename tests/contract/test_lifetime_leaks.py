"""Nothing piles up: device memory, host memory and Python objects stay level however long a program runs."""

import ctypes
import gc
import os
import weakref

import pytest
import torch
from torch import nn

DEVICE = "flagos"
STEPS = 10_000
# What the allocators of the interpreter and of the C library may keep for themselves. A leak of 8 bytes a step would
# hide in it; one tensor object a step (300 bytes and more) is 10 000 times that and does not.
ALLOWED = 2_000_000


def resident():
    """Bytes of this process in memory, without what the C library keeps of what was freed: a leak would fill that first, unseen."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def _training():
    w = torch.ones(8, 8, device=DEVICE, requires_grad=True)
    x = torch.ones(8, device=DEVICE)

    def step():
        (w @ x).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=1e-6)
        w.grad = None

    return step


def _views_and_scalars():
    x = torch.zeros(16, 16, device=DEVICE)

    def step():
        x[3:9, ::2].t().add_(1)
        x[x > 1e9] = 0.0
        torch.cat([x[0], x[1]]).max().item()

    return step


def _streams_and_events():
    x = torch.ones(64, device=DEVICE)

    def step():
        stream, event = torch.flagos.Stream(), torch.flagos.Event(enable_timing=True)
        with torch.flagos.stream(stream):
            y = x + 1
            event.record()
        y.record_stream(stream)
        torch.flagos.current_stream().wait_event(event)
        event.synchronize()

    return step


def _copies():
    x = torch.ones(256, device=DEVICE)

    def step():
        pinned = torch.empty(256, pin_memory=True)
        pinned.copy_(x, non_blocking=True)
        pinned.to(DEVICE, non_blocking=True).half().cpu()
        torch.flagos.current_stream().synchronize()

    return step


def _random_numbers():
    g = torch.Generator(DEVICE)

    def step():
        nn.functional.dropout(torch.rand(16, device=DEVICE, generator=g))
        torch.flagos.set_rng_state(torch.flagos.get_rng_state())

    return step


def _errors():
    x = torch.ones(3, device=DEVICE)

    def step():
        for wrong in (lambda: x @ torch.ones(4, device=DEVICE), lambda: x + torch.ones(3, 1).expand(3, 3)):
            try:
                wrong()
            except RuntimeError:
                pass
            else:
                raise AssertionError("no error")

    return step


PROGRAMS = {
    "training": (_training, STEPS),
    "views and scalars": (_views_and_scalars, STEPS),
    "streams and events": (_streams_and_events, STEPS // 2),
    "copies": (_copies, STEPS // 2),
    "random numbers": (_random_numbers, STEPS),
    "errors": (_errors, STEPS // 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_ten_thousand_steps_leave_memory_as_it_was(name):
    made, steps = PROGRAMS[name]
    step = made()
    for _ in range(300):  # pools and caches fill
        step()
    gc.collect()
    torch.flagos.synchronize()
    allocated, reserved, before = torch.flagos.memory_allocated(), torch.flagos.memory_reserved(), resident()
    for count in range(steps):
        step()
        if count % 1000 == 0:
            torch.flagos.synchronize()
            assert torch.flagos.memory_allocated() == allocated
    gc.collect()
    torch.flagos.synchronize()
    assert torch.flagos.memory_allocated() == allocated
    assert torch.flagos.memory_reserved() == reserved
    assert resident() - before < ALLOWED


@pytest.mark.capability("cpu_kernels_in_place")  # device memory elsewhere is no part of the process
def test_a_leak_would_be_noticed():
    """One small tensor kept in each step is more than the checks above let pass, even where it fills holes of the heap."""
    before, held = resident(), torch.flagos.memory_allocated()
    kept = [torch.ones(8, device=DEVICE) for _ in range(STEPS)]
    assert torch.flagos.memory_allocated() > held and resident() - before > ALLOWED
    del kept


def test_the_graph_frees_what_it_held_in_the_moment_backward_ends():
    w = torch.ones(1000, device=DEVICE, requires_grad=True)
    before = torch.flagos.memory_allocated()
    loss = (w.exp() * w.sin()).sum()
    assert torch.flagos.memory_allocated() >= before + 2 * 4000  # exp keeps its result, the product both factors
    loss.backward()
    del loss
    torch.flagos.synchronize()
    assert torch.flagos.memory_allocated() == before + 4096  # the gradient


def test_an_unused_graph_goes_with_its_last_reference():
    w = torch.ones(1000, device=DEVICE, requires_grad=True)
    before = torch.flagos.memory_allocated()
    loss = (w.exp() * w.sin()).sum()
    gone = weakref.ref(loss)
    del loss
    assert gone() is None and torch.flagos.memory_allocated() == before


def test_cycles_through_hooks_and_attributes_are_collected():
    gc.collect()
    before = torch.flagos.memory_allocated()

    def make():
        x = torch.ones(1000, device=DEVICE, requires_grad=True)
        x.register_hook(lambda grad: x.sum() * grad)
        y = x * 2
        y.own = y
        model = nn.Linear(4, 4).to(DEVICE)
        model.register_forward_hook(lambda *_: model)
        return weakref.ref(y), weakref.ref(model)

    gone = make()
    for _ in range(2):  # PyTorch lets go of the outer object first, on the CPU too
        gc.collect()
    assert [ref() for ref in gone] == [None, None] and torch.flagos.memory_allocated() == before


def test_a_deep_graph_is_freed_without_recursion():
    x = torch.ones(2, device=DEVICE, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    del y
    assert torch.ones(1, device=DEVICE).item() == 1


def test_storages_live_as_long_as_their_last_view():
    before = torch.flagos.memory_allocated()
    base = torch.zeros(4096, device=DEVICE)
    view = base[100:200].view(10, 10).t()
    del base
    assert torch.flagos.memory_allocated() == before + 4096 * 4
    view += 1
    assert view.sum().item() == 100
    del view
    assert torch.flagos.memory_allocated() == before


def test_memory_used_by_queued_work_outlives_its_tensor():
    stream = torch.flagos.Stream()
    with torch.flagos.stream(stream):
        torch.ones(2, 2, device=DEVICE) @ torch.ones(2, 2, device=DEVICE)  # a library keeps working memory for each stream
    before = torch.flagos.memory_allocated()
    x = torch.rand(300, 300, device=DEVICE)
    wanted = x.cpu()
    stream.wait_stream(torch.flagos.current_stream())
    with torch.flagos.stream(stream):
        y = x
        for _ in range(10):
            y = y @ x / 150  # each intermediate loses its tensor while its work is still queued
        x.record_stream(stream)
        del x
    for _ in range(10):
        torch.full((300, 300), float("nan"), device=DEVICE)  # would take over what was freed too early
    stream.synchronize()
    found = y.cpu()
    by_hand = wanted
    for _ in range(10):
        by_hand = by_hand @ wanted / 150
    torch.testing.assert_close(found, by_hand)
    del y
    torch.flagos.synchronize()
    assert torch.flagos.memory_allocated() == before
