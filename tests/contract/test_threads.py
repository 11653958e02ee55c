"""Many threads on one device: shared weights, first use, streams, the allocator, the counters."""

import itertools
import queue
import threading

import pytest
import torch
from torch import nn

DEVICE = "flagos"
THREADS = 8


def together(work, count=THREADS):
    """Results of ``work(0)`` to ``work(count - 1)`` in threads that begin together; what one of them raised is raised."""
    results, barrier = [None] * count, threading.Barrier(count)

    def begin(index):
        try:
            barrier.wait(60)
            results[index] = work(index)
        except BaseException as error:  # noqa: BLE001 - it is raised again by the test's own thread
            results[index] = error

    threads = [threading.Thread(target=begin, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _model():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))


@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")  # what this test is about; CUDA's, too
@pytest.mark.parametrize("own_stream", [False, True])
def test_threads_share_weights_in_both_directions(own_stream):
    cpu = _model()
    model = _model().to(DEVICE)
    torch.flagos.synchronize()
    inputs = [torch.randn(5, 16) for _ in range(THREADS)]

    def gradients(net, x):
        return torch.autograd.grad(net(x).square().sum(), list(net.parameters()))

    def work(index):
        stream = torch.flagos.Stream() if own_stream or index % 2 else torch.flagos.current_stream()
        with torch.flagos.stream(stream):
            for _ in range(5):
                found = gradients(model, inputs[index].to(DEVICE))
        stream.synchronize()
        return [tensor.cpu() for tensor in found]

    for x, found in zip(inputs, together(work), strict=True):
        torch.testing.assert_close(found, list(gradients(cpu, x)))


def test_gradients_of_all_threads_arrive_at_shared_leaves():
    """Each thread adds whole numbers to one leaf's gradient, one after the other: none is lost."""
    leaf, lock = torch.zeros(64, device=DEVICE, requires_grad=True), threading.Lock()

    def work(index):
        for _ in range(10):
            loss = (leaf * float(index + 1)).sum()
            with lock:
                loss.backward()

    together(work)
    assert leaf.grad.tolist() == [10.0 * sum(range(1, THREADS + 1))] * 64


def test_threads_that_begin_together_all_find_the_device(python):
    code = """
        import threading, torch
        barrier, results = threading.Barrier(8), []
        def work(index):
            device = f"flagos:{index % torch.flagos.device_count()}"
            barrier.wait()
            x = torch.full((100,), float(index), device=device)
            with torch.flagos.stream(torch.flagos.Stream(device)):
                y = x * 2 + torch.ones(100, device=device)
            torch.flagos.synchronize(device)
            results.append((index, y.sum().item(), torch.flagos.current_device()))
        assert not torch.flagos.is_initialized()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert sorted(results) == [(i, 100.0 * (2 * i + 1), 0) for i in range(8)], results
        assert torch.flagos.is_initialized()
        print("ok")
    """
    assert python(code).stdout == "ok\n"


PRESSURE = """
import random, threading, torch
LIMIT = 48 << 20  # of a card, a fraction of its memory
torch.flagos.set_per_process_memory_fraction(min(1.0, LIMIT / torch.flagos.mem_get_info()[1]))
refused, failures, freed = [0] * 8, [], threading.Condition()
def fill(size, mark):
    block = torch.full((size,), mark, dtype=torch.uint8, device="flagos")
    assert int(block[0]) == int(block[-1]) == mark, "a block of another thread"
    return block
def work(index):
    pick, held = random.Random(index), []
    stream = torch.flagos.Stream() if index % 2 else torch.flagos.current_stream()
    try:
        with torch.flagos.stream(stream):
            for step in range(25):
                size = pick.randrange(1 << 20, 8 << 20)
                while True:
                    try:
                        held.append(fill(size, index * 16 + step % 16))
                        break
                    except torch.OutOfMemoryError:
                        refused[index] += 1
                        held.clear()  # what a user does: free something, try again
                        with freed:
                            freed.notify_all()
                            freed.wait(0.02)
                if len(held) > 2:
                    held.pop(pick.randrange(len(held)))
        held.clear()
        stream.synchronize()
    except BaseException as error:
        failures.append(repr(error))
    with freed:
        freed.notify_all()
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
assert sum(refused) > 0, "there was no pressure"
torch.flagos.synchronize()
assert torch.flagos.memory_allocated() == 0, torch.flagos.memory_allocated()
assert torch.flagos.max_memory_allocated() <= LIMIT
torch.flagos.empty_cache()
assert torch.flagos.memory_reserved() == 0
whole = torch.empty(LIMIT - (4 << 20), dtype=torch.uint8, device="flagos")
print("ok")
"""


@pytest.mark.parametrize("caching", ["1", "0"])
def test_threads_that_run_out_of_memory_recover(python, caching):
    settings = {"FLAGOS_HOST_MEMORY": "48MiB", "FLAGOS_USE_CACHING_ALLOCATOR": caching}
    assert python(PRESSURE, **settings).stdout == "ok\n"


def test_memory_may_be_freed_by_another_thread():
    before, handed, checked = torch.flagos.memory_allocated(), queue.Queue(maxsize=4), []

    def work(index):
        if index == 0:
            for step in range(100):
                handed.put((step, torch.full((1000 + step,), float(step), device=DEVICE)))
            for _ in range(THREADS - 1):
                handed.put(None)
            return
        stream = torch.flagos.Stream()
        while (item := handed.get()) is not None:
            step, block = item
            stream.wait_stream(torch.flagos.default_stream())
            with torch.flagos.stream(stream):
                block.record_stream(stream)
                checked.append(int((block == step).sum()) == 1000 + step)
            del block, item

    together(work)
    torch.flagos.synchronize()
    assert checked == [True] * 100 and torch.flagos.memory_allocated() == before


@pytest.mark.devices(2)
def test_each_thread_has_its_own_device_and_stream():
    def work(index):
        torch.flagos.set_device(index % 2)
        stream = torch.flagos.Stream()
        with torch.flagos.stream(stream):
            for _ in range(50):
                assert torch.flagos.current_device() == index % 2 == torch.empty(1, device=DEVICE).device.index
                assert torch.flagos.current_stream() == stream
        return torch.flagos.current_stream() == torch.flagos.default_stream()

    assert all(together(work)) and torch.flagos.current_device() == 0


def test_an_event_of_one_thread_orders_the_work_of_another():
    first, second = torch.flagos.Stream(), torch.flagos.Stream()
    handed = queue.Queue()

    def work(index):
        if index == 0:
            for step in range(50):
                with torch.flagos.stream(first):
                    x = torch.full((2000,), 1.0, device=DEVICE)
                    for _ in range(4):
                        x = x + float(step)
                    event = torch.flagos.Event()
                    event.record(first)
                handed.put((x, event))
            return []
        seen = []
        for _ in range(50):
            x, event = handed.get(timeout=60)
            with torch.flagos.stream(second):
                event.wait(second)
                x.record_stream(second)
                seen.append((x.min() + 0.0, x.max() + 0.0))
        second.synchronize()
        return [(low.item(), high.item()) for low, high in seen]

    assert together(work, 2)[1] == [(4.0 * step + 1,) * 2 for step in range(50)]


def test_threads_share_a_generator_without_drawing_anything_twice():
    torch.manual_seed(12)
    start = torch.flagos.default_generators[0].get_offset()
    drawn = torch.cat(sum(together(lambda _: [torch.rand(4, device=DEVICE).cpu() for _ in range(200)]), []))
    assert torch.flagos.default_generators[0].get_offset() - start == 4 * 200 * THREADS
    assert drawn.view(-1, 4).unique(dim=0).shape[0] == 200 * THREADS
    torch.manual_seed(12)
    alone = torch.cat([torch.rand(4, device=DEVICE).cpu() for _ in range(200 * THREADS)])
    assert torch.equal(drawn.sort().values, alone.sort().values)  # the threads shared one stream out


def test_counters_lose_no_call(served):
    x = torch.ones(3, device=DEVICE)
    served.clear()
    together(lambda _: [x + 1 for _ in range(250)])
    assert served.calls("add.Tensor") == 250 * THREADS


def test_pinned_buffers_and_copies_that_do_not_block():
    def work(index):
        stream, sums = torch.flagos.Stream(), []
        with torch.flagos.stream(stream):
            for step in range(20):
                there = torch.full((4096,), float(index + step)).pin_memory().to(DEVICE, non_blocking=True)
                back = torch.empty(4096, pin_memory=True)
                back.copy_(there * 2, non_blocking=True)
                stream.synchronize()
                sums.append(bool((back == 2.0 * (index + step)).all()))
        return sums

    assert all(itertools.chain(*together(work)))


def test_a_fault_in_one_threads_backward_leaves_the_others_alone():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("meant to fail")

    w = torch.ones(16, device=DEVICE, requires_grad=True)

    def work(index):
        outcomes = []
        for _ in range(10):
            try:
                (grad,) = torch.autograd.grad((Fails.apply(w) if index % 2 else w * 3).sum(), w)
                outcomes.append(grad.sum().item())
            except ValueError as error:
                outcomes.append(str(error))
        return outcomes

    for index, outcomes in enumerate(together(work)):
        assert outcomes == ([48.0] if index % 2 == 0 else ["meant to fail"]) * 10


def test_a_user_may_call_backward_from_a_hook():
    inner = torch.ones(4, device=DEVICE, requires_grad=True)

    def hook(grad):
        with torch.enable_grad():
            (inner * 2).sum().backward()
        return grad

    def work(_):
        w = torch.ones(4, device=DEVICE, requires_grad=True)
        y = w * 3
        y.register_hook(hook)
        y.sum().backward()
        return w.grad.tolist()

    assert [work(0) for _ in range(3)] == [[3.0] * 4] * 3
    assert inner.grad.tolist() == [6.0] * 4


def test_data_parallel_style_replicas_on_every_device():
    cpu, x = _model(), torch.randn(THREADS, 6, 16)
    replicas = [_model().to(f"{DEVICE}:{index}") for index in range(torch.flagos.device_count())]

    def work(index):
        net = replicas[index % len(replicas)]
        with torch.flagos.device(index % len(replicas)), torch.no_grad():
            return net(x[index].to(next(net.parameters()).device)).cpu()

    torch.testing.assert_close(torch.stack(together(work)), cpu(x).detach())
