"""Devices, streams, events, copies, pinned memory and generators."""

# Work that lasts until it is let go, on the current device's default stream or on another.
GATE = """
from mirror import Gate
gate = Gate()
"""


def test_devices(passes):
    passes(
        """
        x = torch.ones(2, 3, device="cuda:1")
        assert x.device.index == 1 and (x + x).device.index == 1
        assert_close(x.to("cuda:0").cpu(), torch.ones(2, 3))
        turned = torch.zeros(3, 2, device="cuda:0").t()
        assert_close(turned.copy_(x.int()).cpu(), torch.ones(2, 3))
        message = refused(RuntimeError, lambda: x + torch.ones(2, 3, device="cuda:0"))
        assert "at least two devices, cuda:1 and cuda:0" in message
        torch.accelerator.set_device_index(1)
        assert torch.zeros(1, device=D).device.index == 1
        """
    )


def test_streams_come_from_pools_of_32(passes):
    passes(
        """
        ordinary, urgent = [[torch.Stream(device=D, priority=priority) for _ in range(33)] for priority in (0, -1)]
        assert len({stream.stream_id for stream in (*ordinary, *urgent)}) == 64
        assert ordinary[0] == ordinary[32] and len({stream.native_handle for stream in (*ordinary, *urgent)}) == 64
        with ordinary[0]:
            assert torch.accelerator.current_stream() == ordinary[0]
            x = torch.ones(3, device=D) + 1
        assert torch.accelerator.current_stream().stream_id == 0 and x.tolist() == [2] * 3
        """
    )


def test_events_order_streams_and_measure(passes):
    passes(
        GATE
        + """
side, first, second = torch.Stream(device=D), torch.Event(device=D, enable_timing=True), torch.Event(device=D, enable_timing=True)
first.record()
side.wait_event(first)
second.record(side)
assert not first.query() and not second.query() and not side.query()
gate.open()
side.synchronize()
assert first.query() and second.query() and first.elapsed_time(second) >= 0
"""
    )


def test_copies_wait_as_they_are_asked_to(passes):
    passes(
        """
        x, pageable, pinned, other = torch.zeros(4, device=D), torch.zeros(4), torch.zeros(4).pin_memory(), torch.zeros(4).pin_memory()
        results = []
        source = torch.arange(4.0).pin_memory()
        """
        + GATE.replace("\n", "\n        ")
        + """
        x.copy_(source, non_blocking=True)
        pinned.copy_(x, non_blocking=True)
        assert not torch.accelerator.current_stream().query() and pinned.sum() == 0
        blocking = [threading.Thread(target=lambda to=to: results.append(to.copy_(x).tolist())) for to in (pageable, other)]
        for thread in blocking:
            thread.start()
        gate.open()
        for thread in blocking:
            thread.join()
        assert results == [[0, 1, 2, 3]] * 2 and pinned.tolist() == [0, 1, 2, 3]
        """
    )


def test_a_kernel_waits_for_the_stream_and_for_no_other(passes):
    passes(
        """
        side, source = torch.Stream(device=D), torch.arange(4.0).pin_memory()
        x, results = torch.zeros(4, device=D), []
        """
        + GATE.replace("\n", "\n        ")
        + """
        x.copy_(source, non_blocking=True)
        with side:
            assert (torch.ones(2, device=D) + 1).tolist() == [2, 2]
        waiting = threading.Thread(target=lambda: results.append((x + 1).tolist()))
        waiting.start()
        gate.open()
        waiting.join()
        assert results == [[1, 2, 3, 4]]
        """
    )


def test_pinned_memory(passes):
    passes(
        """
        pinned = torch.arange(3.0).pin_memory()
        assert pinned.is_pinned() and not torch.ones(3).is_pinned() and pinned[1:].is_pinned()
        assert torch.empty(5, pin_memory=True).is_pinned()
        assert "Only dense CPU tensors can be pinned" in refused(RuntimeError, lambda: torch.empty(2, device=D, pin_memory=True))
        """
    )


def test_generators_have_cudas_state(passes):
    passes(
        """
        made = torch.Generator(device=D).manual_seed(3)
        first, state = torch.randn(5, device=D, generator=made), made.get_state()
        assert state.numel() == 16 and state.view(torch.int64).tolist() == [3, 8]
        second = torch.rand(5, device=D, generator=made)
        made.set_state(state)
        assert torch.equal(torch.rand(5, device=D, generator=made), second)
        assert torch.equal(torch.randn(5, device=D, generator=torch.Generator(device=D).manual_seed(3)), first)
        assert "multiple of 4" in refused(RuntimeError, lambda: made.set_state(torch.tensor([3, 2]).view(torch.uint8)))
        assert "Expected a 'cuda' device type" in refused(RuntimeError, lambda: torch.empty(2, device=D).normal_(generator=torch.Generator()))
        before = torch.get_rng_state()
        torch.nn.functional.dropout(torch.ones(8, device=D))
        assert torch.equal(torch.get_rng_state(), before)  # the CPU's stream is left alone
        """
    )
