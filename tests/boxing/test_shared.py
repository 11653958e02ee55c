"""What others hold on to: threads with one weight, files, the storage's device."""

import io
import threading

import torch

from .conftest import DEVICE, moved, same


def test_four_threads_share_one_weight():
    """Nothing that another thread can see changes while a kernel runs: each of 16000 products is flagos' and right."""
    weight, wanted = moved(torch.eye(8)), torch.arange(64.0).reshape(8, 8)
    inputs = [moved(wanted + i) for i in range(4)]
    faults, start = [], threading.Barrier(4)

    def work(number):
        start.wait(60)
        try:
            for _ in range(4000):
                found = torch.mm(inputs[number], weight)
                if found.device.type != DEVICE or weight.device.type != DEVICE or found.untyped_storage().device.type != DEVICE:
                    faults.append(f"{found.device} {weight.device}")
            if not torch.equal(found.cpu(), wanted + number):
                faults.append("a wrong product")
        except Exception as fault:  # noqa: BLE001 - told by the test's own thread
            faults.append(repr(fault))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not faults, faults[:3]


def test_threads_write_their_own_parts_of_one_storage():
    base = torch.zeros(4, 1000, device=DEVICE)
    threads = [threading.Thread(target=lambda row=row: [row.add_(1) for _ in range(200)]) for row in base]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    same(base, torch.full((4, 1000), 200.0))


def test_saved_tensors_come_back_to_their_device():
    base = moved(torch.arange(6.0).reshape(2, 3))
    file = io.BytesIO()
    torch.save({"base": base, "view": base[1]}, file)
    for where, device in ((None, DEVICE), ("cpu", "cpu")):
        file.seek(0)
        found = torch.load(file, map_location=where)
        assert found["base"].device.type == device
        assert found["base"].untyped_storage().data_ptr() == found["view"].untyped_storage().data_ptr()
        assert found["view"].tolist() == [3, 4, 5]


def test_memory_is_given_back():
    if not hasattr(torch.flagos, "memory_allocated"):
        return
    torch.add(moved(torch.ones(4)), 1)
    before = torch.flagos.memory_allocated()
    for _ in range(20):
        x = torch.ones(1000, device=DEVICE)
        torch._foreach_add_([x, x.clone()], 1.0)
        x = x.mul(2).view(10, 100).t().contiguous()
    del x
    assert torch.flagos.memory_allocated() <= before + 64
