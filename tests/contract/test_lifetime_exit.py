"""The end of a process with everything alive at once: status 0 and not a word."""

import pytest

# Each program leaves much behind: the interpreter, PyTorch and the device end in an order that nobody chose.
PROGRAMS = {
    "graphs, hooks and cycles": """
        import torch, weakref
        from torch import nn
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).to("flagos")
        model[0].weight.register_hook(lambda grad: grad * model[2].weight.sum())
        model.register_forward_hook(lambda *_: setattr(model, 'seen', loss))
        loss = None
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.kept = ctx, x
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return grad * 2
        x = torch.ones(4, 8, device="flagos", requires_grad=True)
        loss = model(Own.apply(x)).sum()
        loss.backward(retain_graph=True)
        cycle = [loss, x]; cycle.append(cycle); loss.cycle = cycle
        weakref.finalize(model, lambda: (torch.ones(2) + 1).sum().item())
        optimizer = torch.optim.AdamW(model.parameters()); optimizer.step()
    """,
    "queued work on many streams": """
        import torch
        streams, kept = [torch.flagos.Stream() for _ in range(6)], []
        x = torch.ones(400, 400, device="flagos")
        for stream in streams:
            with torch.flagos.stream(stream):
                for _ in range(6):
                    x = x @ x / 400
                kept.append((x, torch.flagos.Event(enable_timing=True)))
                kept[-1][1].record()
                pinned = torch.empty(400, 400, pin_memory=True).copy_(x, non_blocking=True)
                kept.append(pinned)
        torch.flagos.set_stream(streams[0])
    """,
    # A daemon thread inside an operator aborts any PyTorch process, on the CPU too; one that waits does not.
    "threads that go on": """
        import queue, threading, torch
        w, waiting = torch.ones(16, 16, device="flagos", requires_grad=True), queue.Queue()
        def work(rounds):
            local = threading.local(); local.kept = torch.ones(5, device="flagos")
            with torch.flagos.stream(torch.flagos.Stream()):
                for _ in range(rounds):
                    kept = torch.autograd.grad((w @ w).sum(), w)
            if not rounds:
                queue.Queue().get()
        for _ in range(3):
            threading.Thread(target=work, args=(0,), daemon=True).start()
            threading.Thread(target=work, args=(60,)).start()
        work(1)
    """,
    "workers of a data loader": """
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        model = torch.nn.Linear(2, 1).to("flagos")
        data = TensorDataset(torch.ones(64, 2))
        loader = DataLoader(data, 4, num_workers=2, pin_memory=True, persistent_workers=True, multiprocessing_context="fork")
        batches = iter(loader)
        (first,) = next(batches)
        assert first.is_pinned()
        model(first.to("flagos", non_blocking=True)).sum().backward()
    """,
    "work in atexit, del and finalisers": """
        import atexit, threading, torch
        class Last:
            def __init__(self): self.x = torch.ones(3, device="flagos", requires_grad=True)
            def __del__(self):
                if torch is not None: del self.x
        kept = [Last(), Last()]; kept.append(kept)
        def late():
            y = torch.ones(3, device="flagos", requires_grad=True)
            thread = threading.Thread(target=lambda: (y * 2).sum().backward())
            try:
                thread.start()
            except RuntimeError:  # Python 3.12 starts no thread any more
                (y * 2).sum().backward()
            else:
                thread.join()
            assert y.grad.tolist() == [2.0] * 3
        atexit.register(late)
        (kept[0].x * 3).sum().backward()
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_ends_well_with(python, name):
    # Python 3.12 and later warn of forking beside threads, which the data loader does.
    done = python(PROGRAMS[name], warn="workers" in name, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "workers" in name or done.stderr == ""


def test_forks_of_a_busy_process(python):
    """Children of a process whose threads and streams are at work end at once, with whatever they inherited."""
    code = """
        import os, sys, threading, torch
        x = torch.ones(300, 300, device="flagos")
        w = torch.ones(8, device="flagos", requires_grad=True)
        (w * 2).sum().backward()
        stop = threading.Event()
        def busy():
            with torch.flagos.stream(torch.flagos.Stream()):
                while not stop.is_set():
                    y = x @ x
                    torch.autograd.grad((w * 3).sum(), w)
        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads: thread.start()
        for child in range(6):
            pid = os.fork()
            if pid == 0:
                if child % 2:
                    os._exit(0)
                try:
                    x + 1
                except RuntimeError as error:
                    assert "spawn" in str(error)
                else:
                    os._exit(9)
                del x, w
                (torch.ones(4) * 2).sum()
                sys.stdout.flush()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, child
        stop.set()
        for thread in threads: thread.join()
        assert torch.flagos.memory_allocated() > 0 and x[0, 0].item() == 1.0
        print("ok")
    """
    assert python(code, warn=True).stdout == "ok\n"
