"""The current device: one truth for every getter, set by every setter, and moved by nothing else."""

import itertools
import threading

import pytest
import torch
from torch import nn

from .conftest import needing

DEVICE = "flagos"

pytestmark = [pytest.mark.devices(2), pytest.mark.filterwarnings("ignore:Use `.*` instead:FutureWarning")]

GETTERS = {
    "torch.flagos.current_device": torch.flagos.current_device,
    "torch.accelerator.current_device_index": torch.accelerator.current_device_index,
    "the deprecated name": lambda: torch.accelerator.current_device_idx(),
    "a new tensor": lambda: torch.empty(0, device=DEVICE).device.index,
    "a moved tensor": lambda: torch.ones(1).to(DEVICE).device.index,
    "tensor.flagos()": lambda: torch.ones(1).flagos().device.index,
    "module.flagos()": lambda: nn.Linear(1, 1).flagos().weight.device.index,
    "the current stream": lambda: torch.flagos.current_stream().device_index,
    "torch.accelerator.current_stream": lambda: torch.accelerator.current_stream().device_index,
    "a new stream": lambda: torch.Stream().device_index,
    "a new flagos stream": lambda: torch.flagos.Stream().device_index,
    "a storage": lambda: torch.UntypedStorage(4, device=DEVICE).device.index,
    "a generator": lambda: torch.Generator(DEVICE).device.index,
    "torch.load": lambda: _loaded().device.index,
    "the device context": lambda: _in_context().device.index,
    "randperm": lambda: torch.randperm(3, device=DEVICE).device.index,
    "a Python list": lambda: torch.tensor([1], device=DEVICE).device.index,
    "get_device_properties": lambda: (
        0 if torch.flagos.get_device_properties().uuid == torch.flagos.get_device_properties(0).uuid else 1
    ),
}

SETTERS = {
    "torch.flagos.set_device": torch.flagos.set_device,
    "by name": lambda i: torch.flagos.set_device(f"flagos:{i}"),
    "by device": lambda i: torch.flagos.set_device(torch.device(DEVICE, i)),
    "torch.accelerator.set_device_index": torch.accelerator.set_device_index,
    "the deprecated name": lambda i: torch.accelerator.set_device_idx(i),
    "set_stream": lambda i: torch.flagos.set_stream(torch.flagos.default_stream(i)),
    "torch.accelerator.set_stream": lambda i: torch.accelerator.set_stream(torch.flagos.default_stream(i)),
    "_exchange_device": torch.flagos._exchange_device,
    "_maybe_exchange_device": torch.flagos._maybe_exchange_device,
}

CONTEXTS = {
    "torch.flagos.device": torch.flagos.device,
    "torch.accelerator.device_index": torch.accelerator.device_index,
    "torch.flagos.device_of": lambda i: torch.flagos.device_of(torch.ones(1, device=f"flagos:{i}")),
    "torch.flagos._DeviceGuard": torch.flagos._DeviceGuard,
    "a stream": lambda i: torch.flagos.stream(torch.flagos.Stream(i)),
    "torch.Stream": lambda i: torch.Stream(device=f"flagos:{i}"),
}


def _loaded():
    import io

    buffer = io.BytesIO()
    torch.save(torch.ones(1), buffer)
    return torch.load(io.BytesIO(buffer.getvalue()), map_location=DEVICE)


def _in_context():
    with torch.device(DEVICE):
        return torch.ones(1)


def answers():
    return {name: getter() for name, getter in GETTERS.items()}


@pytest.mark.parametrize("setter", SETTERS)
def test_every_getter_follows_every_setter(setter):
    """G1: whoever sets the device, everybody sees it, and an allocation elsewhere changes nothing."""
    for index in (1, 0, 1):
        SETTERS[setter](index)
        assert set(answers().values()) == {index}, answers()
        kept = torch.ones(3, device=f"flagos:{1 - index}").sum()
        assert set(answers().values()) == {index}, answers()
        assert kept.item() == 3


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_context_is_left_as_it_was_entered(context):
    """G1: also when it is left by an exception, and when it is nested in another."""
    for outer, inner in itertools.product((0, 1), repeat=2):
        torch.flagos.set_device(outer)
        with CONTEXTS[context](inner):
            assert set(answers().values()) == {inner}, answers()
            with CONTEXTS[context](1 - inner):
                assert torch.flagos.current_device() == 1 - inner
            assert torch.flagos.current_device() == inner
        assert set(answers().values()) == {outer}, answers()
        with pytest.raises(ZeroDivisionError), CONTEXTS[context](inner):
            1 / 0
        assert torch.flagos.current_device() == outer


def test_each_thread_has_its_own():
    """G1: a new thread starts on device 0 and changes only itself."""
    torch.flagos.set_device(1)
    seen = []

    def work():
        seen.append(torch.flagos.current_device())
        torch.flagos.set_device(1)
        torch.flagos.set_device(0)
        seen.append(torch.empty(0, device=DEVICE).device.index)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [0, 0] and torch.flagos.current_device() == 1


SUCCEEDING = {
    "to half and sum": lambda x: x.to(torch.float16).sum(),
    "matmul": lambda x: x @ x,
    "copy to the other": lambda x: x.to("flagos:0"),
    "copy from the other": lambda x: x.copy_(torch.ones(3, 3, device="flagos:0")),
    "to the cpu": lambda x: x.cpu(),
    "item": lambda x: x[0, 0].item(),
    "random": lambda x: torch.rand_like(x).bernoulli(),
    "dropout": lambda x: nn.functional.dropout(x),
    "index": lambda x: x[torch.tensor([0], device=x.device)],
    "nonzero": lambda x: x.nonzero(),
    "svd": lambda x: torch.linalg.svd(x),
    "sort": lambda x: x.sort(),
    "foreach": lambda x: torch._foreach_add([x], 1),
    "out": lambda x: torch.add(x, 1, out=torch.empty(0, device=x.device)),
    "print": repr,
    "backward": lambda x: (x.clone().requires_grad_() @ x).sum().backward(),
    "save": lambda x: torch.save(x, __import__("io").BytesIO()),
    "record_stream": lambda x: x.record_stream(torch.flagos.Stream(1)),
    "free": lambda x: torch.flagos.empty_cache(),
    "synchronize": lambda x: torch.flagos.synchronize(1),
    "statistics": lambda x: (
        torch.flagos.memory_stats(1),
        torch.flagos.mem_get_info(1),
        torch.flagos.memory_summary(1),
    ),
    "properties": lambda x: [torch.flagos.get_device_properties(i) for i in range(2)],
    "events": lambda x: torch.flagos.Stream(1).record_event().synchronize(),
    "generator": lambda x: torch.flagos.set_rng_state(torch.flagos.get_rng_state(1), 1),
    "new storage": lambda x: x.untyped_storage().clone().resize_(1000),
    "data pointer": lambda x: nn.Parameter(torch.ones(2)).__setattr__("data", x),
    "compile": lambda x: torch.compile(lambda t: t + 1, backend="eager")(x),
    "a module": lambda x: nn.Linear(3, 3).to(x.device)(x),
    "func": lambda x: torch.func.vmap(torch.sin)(x),
}

FAILING = {
    "shapes": lambda x: torch.mm(x, x[:2]),
    "index": lambda x: x[torch.tensor([99], device=x.device)],
    "devices": lambda x: x + torch.ones(3, 3, device="flagos:0"),
    "cpu": lambda x: torch.mm(x, torch.ones(3, 3)),
    "cholesky": lambda x: torch.linalg.cholesky(-x),
    "memory": lambda x: torch.empty(1 << 50, dtype=torch.uint8, device="flagos:1"),
    "no such device": lambda x: x.to("flagos:77"),
    "type": lambda x: torch.mm(x, x.double()),
    "view": lambda x: x.view(77),
    "backward": lambda x: x.clone().requires_grad_().mul(2).backward(),
    "numpy": lambda x: x.numpy(),
    "python": lambda x: x.clone().requires_grad_().register_hook(lambda g: 1 / 0) and 1 / 0,
    "out": lambda x: torch.add(x, 1, out=torch.empty(3, 3)),
}


@pytest.mark.parametrize("current", [0, 1])
def test_no_operator_moves_it(current):
    """G3: success on either device leaves the current device where it was."""
    x = torch.eye(3, device="flagos:1")
    for name, work in SUCCEEDING.items():
        torch.flagos.set_device(current)
        stream = torch.flagos.current_stream(1)
        work(x)
        assert torch.flagos.current_device() == current, name
        assert torch.flagos.current_stream(1) == stream and torch.empty(0, device=DEVICE).device.index == current, name
    torch._dynamo.reset()


@pytest.mark.parametrize("name", needing("index_checks", {"index"}, FAILING))
@pytest.mark.parametrize("current", [0, 1])
def test_no_failure_moves_it(name, current):
    """G3: neither does an error, wherever it was raised."""
    x = torch.eye(3, device="flagos:1")
    torch.flagos.set_device(current)
    with pytest.raises((RuntimeError, IndexError, TypeError, ZeroDivisionError)):
        FAILING[name](x)
        torch.flagos.synchronize(1)
    assert torch.flagos.current_device() == current
    assert torch.empty(0, device=DEVICE).device.index == current
    assert (x + 1).device.index == 1 and torch.flagos.current_device() == current


def test_backward_threads_do_not_move_it():
    """G3: a graph over two devices and the CPU, run from a thread on the other device."""
    torch.flagos.set_device(1)
    a = torch.ones(3, device="flagos:0", requires_grad=True)
    seen = []
    y = (a * 2).to("flagos:1")
    y.register_hook(lambda g: seen.append((g.device.index, torch.flagos.current_device())))
    a.register_hook(lambda g: seen.append((g.device.index, torch.flagos.current_device())))
    (y * 3).cpu().sum().backward()
    assert torch.flagos.current_device() == 1
    assert seen == [(1, 1), (0, 0)], "a hook runs with its gradient's device current"
