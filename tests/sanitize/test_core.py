"""The core at work: eight threads, streams, autograd, the allocator, random numbers, faults, the end of a process."""

import random
import subprocess
import sys
import threading

import torch

DEVICE = "flagos"
THREADS, ROUNDS = 8, 12


def _work(index, weights, failures):
    pick = random.Random(index)
    streams = [torch.flagos.default_stream(0), torch.flagos.Stream(0), torch.flagos.Stream(0)]
    generator = torch.Generator(DEVICE).manual_seed(index)
    try:
        for _ in range(ROUNDS):
            rows = pick.randrange(1, 40)
            x = torch.arange(rows * 8, dtype=torch.float32).view(rows, 8) / 64
            with torch.flagos.stream(pick.choice(streams)) as _:
                current = torch.flagos.current_stream()
                there = x.pin_memory().to(DEVICE, non_blocking=True)
                loss = (there @ weights).relu().sum()
                (gradient,) = torch.autograd.grad(loss, weights)
                drawn = torch.rand(rows, device=DEVICE, generator=generator)
                kept = torch.cat([there.t()[::2].reshape(-1), drawn])
                event = torch.flagos.Event()
                event.record()
                streams[1].wait_event(event)
                gradient.record_stream(streams[1])
                try:
                    there @ drawn.new_ones(3)
                except RuntimeError:
                    pass
                current.synchronize()
            wanted = torch.zeros(8, 4) + x.sum(0)[:, None]  # all weights are positive, so that relu passes everything
            torch.testing.assert_close(gradient.cpu(), wanted)
            assert kept.numel() == rows * 5
            if pick.randrange(6) == 0:
                torch.flagos.empty_cache()
            torch.flagos.memory_stats()
    except BaseException as error:  # noqa: BLE001 - raised by the test
        failures.append(error)


def test_eight_threads_use_everything():
    weights, failures = torch.ones(8, 4, device=DEVICE, requires_grad=True), []
    threads = [threading.Thread(target=_work, args=(index, weights, failures)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.flagos.synchronize()
    assert not failures, failures


def test_work_moves_between_devices_and_back():
    x = torch.arange(64.0, device=DEVICE)
    for _ in range(20):
        x = x.to(f"{DEVICE}:{torch.flagos.device_count() - 1}", non_blocking=True).add(1).to(f"{DEVICE}:0")
    assert torch.equal(x.cpu(), torch.arange(64.0) + 20)


def test_a_fault_in_queued_work_is_raised_once():
    with torch.flagos.stream(torch.flagos.Stream()) as _:
        stream = torch.flagos.current_stream()
        torch.zeros(4, device=DEVICE)[torch.tensor([9], device=DEVICE)]
        try:
            stream.synchronize()
        except (RuntimeError, IndexError):
            pass
        stream.synchronize()


def test_a_process_ends_in_the_midst_of_work():
    program = """
import torch
x = torch.ones(200, 200, device="flagos", requires_grad=True)
with torch.flagos.stream(torch.flagos.Stream()):
    for _ in range(5):
        y = x @ x
(x * 2).sum().backward()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
