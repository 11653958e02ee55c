"""Checkpoints: every map_location of torch.load, both kinds of file, and torch.distributed.checkpoint in one process."""

import io

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn

from .conftest import needing

DEVICE = "flagos"

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def state(device):
    base = torch.arange(12.0, device=device).view(3, 4)
    return {
        "base": base,
        "row": base[1],
        "half": base.half(),
        "step": 3,
        "flags": [True, torch.tensor(5, device=device)],
    }


def tensors(s):
    return [s["base"], s["row"], s["half"], s["flags"][1]]


def saved(device, **options):
    buffer = io.BytesIO()
    torch.save(state(device), buffer, **options)
    return buffer.getvalue()


def chosen(storage, location):
    """A function as map_location: everything to the last device."""
    return storage.flagos(torch.flagos.device_count() - 1)


LAST = torch.device(DEVICE, max(0, torch.flagos.device_count() - 1))  # the tests are collected without a device, too

# map_location -> where a file of the CPU and one of flagos:0 come back
LOCATIONS = {
    "none": (None, "cpu", "flagos:0"),
    "cpu": ("cpu", "cpu", "cpu"),
    "cpu device": (torch.device("cpu"), "cpu", "cpu"),
    "flagos": (DEVICE, "flagos:0", "flagos:0"),
    "flagos with index": (str(LAST), str(LAST), str(LAST)),
    "flagos device": (torch.device(DEVICE), "flagos:0", "flagos:0"),
    "flagos device with index": (LAST, str(LAST), str(LAST)),
    "dictionary": ({"flagos:0": str(LAST)}, "cpu", str(LAST)),
    "dictionary to the cpu": ({"flagos:0": "cpu", "cpu": "flagos:0"}, "flagos:0", "cpu"),
    "function": (chosen, str(LAST), str(LAST)),
    "function that keeps the cpu": (lambda storage, location: storage, "cpu", "cpu"),
    "function that leaves it to PyTorch": (lambda storage, location: None, "cpu", "flagos:0"),
    "meta": ("meta", "meta", "meta"),
}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("new_format", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("name", LOCATIONS)
def test_every_map_location(name, new_format, weights_only):
    """F4: to where it says, with values, types and sharing."""
    location, *expected = LOCATIONS[name]
    for source, target in zip(("cpu", "flagos:0"), expected, strict=True):
        data = saved(source, _use_new_zipfile_serialization=new_format)
        back = torch.load(io.BytesIO(data), map_location=location, weights_only=weights_only)
        assert {str(t.device) for t in tensors(back)} == {target}
        if target == "meta":
            continue
        for found, wanted in zip(tensors(back), tensors(state("cpu")), strict=True):
            assert (
                found.dtype == wanted.dtype and found.stride() == wanted.stride() and torch.equal(found.cpu(), wanted)
            )
        back["base"][1, 0] = 99
        assert back["row"][0].item() == 99 and back["step"] == 3


def test_a_device_context_is_a_default_location():
    """As PyTorch has it: the default device does not move what a file holds."""
    with torch.device(DEVICE):
        assert torch.load(io.BytesIO(saved("cpu")))["base"].device.type == "cpu"
        assert torch.load(io.BytesIO(saved(DEVICE)), map_location="cpu")["base"].device.type == "cpu"


def test_maps_of_files(tmp_path):
    file = tmp_path / "x.pt"
    for source in ("cpu", DEVICE):
        torch.save(state(source), file)
        for location in (None, "cpu", DEVICE):
            back = torch.load(file, mmap=True, map_location=location)
            where = location or source
            assert {t.device.type for t in tensors(back)} == {where}
            assert torch.equal(back["base"].cpu(), state("cpu")["base"])
            back["base"].add_(1)  # copy on write: the file stays
        assert torch.equal(torch.load(file, map_location="cpu")["base"], state("cpu")["base"])


def without_second_device(data):
    """The bytes of a file that was written where there were more devices."""
    assert data.count(b"flagos:0")
    return data.replace(b"flagos:0", b"flagos:7")


@pytest.mark.parametrize("new_format", [True, False], ids=["zip", "legacy"])
def test_a_device_that_is_missing_here(new_format):
    """F4: a file of flagos:7: how many there are, and map_location as the remedy, which works."""
    data = without_second_device(saved("flagos:0", _use_new_zipfile_serialization=new_format))
    with pytest.raises(RuntimeError, match=r"device 7 but torch.flagos.device_count\(\) is \d+.*map_location"):
        torch.load(io.BytesIO(data))
    assert torch.load(io.BytesIO(data), map_location="cpu")["row"].tolist() == [4, 5, 6, 7]
    assert torch.load(io.BytesIO(data), map_location={"flagos:7": "flagos:0"})["row"].device.index == 0
    with pytest.raises(RuntimeError, match="77"):
        torch.load(io.BytesIO(data), map_location="flagos:77")


def test_a_file_from_a_cuda_machine():
    """Tensors of another accelerator: PyTorch's own error, and map_location brings them here."""
    data = saved("flagos:0").replace(b"flagos:0", b"cuda:000")
    with pytest.raises(RuntimeError, match="cuda|CUDA"):
        torch.load(io.BytesIO(data))
    back = torch.load(io.BytesIO(data), map_location=DEVICE)
    assert {str(t.device) for t in tensors(back)} == {"flagos:0"} and back["row"].tolist() == [4, 5, 6, 7]


def test_state_dicts_load_into_modules_elsewhere():
    source = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LSTM(4, 2)).to(DEVICE)
    buffer = io.BytesIO()
    torch.save(source.state_dict(), buffer)
    for location, device in (("cpu", "cpu"), ("cpu", DEVICE), (None, "cpu"), (None, DEVICE)):
        target = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LSTM(4, 2)).to(device)
        target.load_state_dict(torch.load(io.BytesIO(buffer.getvalue()), map_location=location))
        for (name, found), wanted in zip(target.state_dict().items(), source.state_dict().values(), strict=True):
            assert found.device.type == device and torch.equal(found.cpu(), wanted.cpu()), name


def training(device):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
    net(torch.ones(2, 3, device=device)).square().sum().backward()
    optimizer.step()
    return net, optimizer


def write_without_copying_ahead(state, path):
    dcp.save(state, storage_writer=dcp.FileSystemWriter(path, per_thread_copy_ahead=0), no_dist=True)


WRITERS = {
    "default": lambda state, path: dcp.save(state, checkpoint_id=path, no_dist=True),
    "without copying ahead": write_without_copying_ahead,
}


@pytest.mark.parametrize("target", ["cpu", DEVICE])
@pytest.mark.parametrize("source", ["cpu", DEVICE])
@pytest.mark.parametrize("writer", needing("sole_accelerator", {"default"}, WRITERS))
def test_distributed_checkpoint_in_one_process(tmp_path, source, target, writer):
    """Saved from one place and loaded into another, without a process group."""
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    net, optimizer = training(source)
    weights, moments = get_state_dict(net, optimizer)
    WRITERS[writer]({"net": weights, "optimizer": moments}, tmp_path / "c")
    other, fresh = training(target)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    weights, moments = get_state_dict(other, fresh)
    loaded = {"net": weights, "optimizer": moments}
    dcp.load(loaded, checkpoint_id=tmp_path / "c", no_dist=True)
    set_state_dict(other, fresh, model_state_dict=loaded["net"], optim_state_dict=loaded["optimizer"])
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert q.device.type == target
        torch.testing.assert_close(q.cpu(), p.cpu())
        torch.testing.assert_close(fresh.state[q]["exp_avg"].cpu(), optimizer.state[p]["exp_avg"].cpu())
        assert fresh.state[q]["exp_avg"].device.type == target


def test_distributed_checkpoint_in_the_background(tmp_path):
    """async_save copies to the host first: later changes are not in the file."""
    x = torch.ones(1000, device=DEVICE)
    writing = dcp.async_save({"x": x}, checkpoint_id=tmp_path / "c", no_dist=True)
    x.zero_()
    writing.result()
    back = {"x": torch.zeros(1000, device=DEVICE)}
    dcp.load(back, checkpoint_id=tmp_path / "c", no_dist=True)
    assert back["x"].sum().item() == 1000 and back["x"].is_flagos


@pytest.mark.capability("sole_accelerator")
def test_distributed_checkpoints_become_plain_files(tmp_path):
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp

    write_without_copying_ahead({"x": torch.arange(3.0, device=DEVICE)}, tmp_path / "c")
    dcp_to_torch_save(tmp_path / "c", tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", map_location=DEVICE)["x"].tolist() == [0, 1, 2]
    torch.save({"x": torch.arange(3.0, device=DEVICE)}, tmp_path / "y.pt")
    torch_save_to_dcp(tmp_path / "y.pt", tmp_path / "d")
    back = {"x": torch.zeros(3, device=DEVICE)}
    dcp.load(back, checkpoint_id=tmp_path / "d", no_dist=True)
    assert back["x"].tolist() == [0, 1, 2]


def test_saving_waits_for_queued_work():
    """What a side stream is still computing is in the file when save runs on that stream."""
    s = torch.flagos.Stream()
    with torch.flagos.stream(s):
        x = torch.ones(400, 400, device=DEVICE)
        for _ in range(10):
            x = x @ x / 400
        buffer = io.BytesIO()
        torch.save(x, buffer)
    torch.testing.assert_close(torch.load(io.BytesIO(buffer.getvalue()), map_location="cpu"), torch.ones(400, 400))
