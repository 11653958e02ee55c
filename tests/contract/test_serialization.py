"""Saving, loading, copying: device, strides and sharing survive."""

import copy
import io
import pickle

import pytest
import torch

DEVICE = "flagos"


def reload(thing, **options):
    buffer = io.BytesIO()
    torch.save(thing, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


def shared():
    base = torch.arange(12.0, device=DEVICE).view(3, 4)
    return {"base": base, "column": base[:, 1], "transposed": base.t(), "name": "x"}


@pytest.mark.parametrize("weights_only", [True, False])
def test_save_and_load_keep_device_strides_and_sharing(weights_only):
    back = reload(shared(), weights_only=weights_only)
    assert back["base"].device == torch.device("flagos:0")
    assert back["column"].stride() == (4,) and back["transposed"].stride() == (1, 4)
    back["base"][0, 1] = 99
    assert back["column"][0].item() == 99 and back["transposed"][1, 0].item() == 99


@pytest.mark.parametrize("location", ["cpu", torch.device("cpu"), lambda storage, where: storage])
def test_to_the_cpu(location):
    back = reload(shared(), map_location=location)
    assert all(t.device.type == "cpu" for t in back.values() if isinstance(t, torch.Tensor))
    back["base"][0, 1] = 99
    assert back["column"][0].item() == 99


@pytest.mark.parametrize("location", ["flagos", "flagos:0", torch.device("flagos:0"), {"cpu": "flagos:0"}])
def test_from_the_cpu(location):
    x = torch.arange(12.0).view(3, 4)
    back = reload([x, x[1]], map_location=location)
    assert back[0].device == torch.device("flagos:0")
    back[0][1] = 5
    assert back[1].unique().tolist() == [5]


@pytest.mark.devices(2)
def test_device_index_is_kept_or_mapped():
    assert reload(torch.ones(2, device="flagos:1")).device.index == 1
    assert reload(torch.ones(2, device="flagos:1"), map_location="flagos:0").device.index == 0
    assert reload(torch.ones(2, device="flagos:1"), map_location={"flagos:1": "flagos:0"}).device.index == 0
    torch.flagos.set_device(1)
    assert reload(torch.ones(2), map_location="flagos").device.index == 1


def test_a_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match="77"):
        reload(torch.ones(2), map_location="flagos:77")


def test_modules_and_state_dicts():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).to(DEVICE)
    state = reload(model.state_dict(), weights_only=True)
    assert all(t.device.type == DEVICE for t in state.values())
    other = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    other.load_state_dict(state)
    assert torch.equal(other[0].weight, model[0].weight.cpu()) and other[0].weight.device.type == "cpu"
    whole = reload(model, weights_only=False)
    assert torch.equal(whole[0].weight.cpu(), model[0].weight.cpu()) and whole[0].weight.device.type == DEVICE


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: reload(x, weights_only=False)]
)
def test_clones_of_every_kind(clone):
    builders = (
        lambda device: torch.arange(12.0, device=device).view(3, 4)[:, ::2],
        lambda device: torch.nn.Parameter(torch.ones(2, device=device)),
        lambda device: torch.ones(2, device=device, requires_grad=True),
        lambda device: torch.tensor([1 + 2j], device=device).conj(),
        lambda device: torch.ones(3, dtype=torch.bfloat16, device=device),
        lambda device: torch.tensor(True, device=device),
        lambda device: torch.empty(0, device=device),
    )
    for build in builders:
        x = build(DEVICE)
        y, reference = clone(x), clone(build("cpu"))
        assert type(y) is type(x) and y.device == x.device and y.dtype == x.dtype
        assert y.requires_grad == x.requires_grad and y.stride() == reference.stride()
        assert y.is_conj() == reference.is_conj()
        assert torch.equal(y.detach().cpu(), x.detach().cpu())
        if x.numel():
            assert y.data_ptr() != x.data_ptr()


def test_deepcopy_keeps_ties():
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2, bias=False), "b": torch.nn.Linear(2, 2, bias=False)})
    model["b"].weight = model["a"].weight
    other = copy.deepcopy(model.to(DEVICE))
    assert other["a"].weight is other["b"].weight and other["a"].weight is not model["a"].weight
    a = torch.ones(4, device=DEVICE)
    pair = copy.deepcopy([a, a[1:]])
    pair[0][1] = 7
    assert pair[1][0].item() == 7 and a[1].item() == 1


def test_storages():
    s = torch.arange(4, dtype=torch.uint8, device=DEVICE).untyped_storage()
    assert s.device.type == DEVICE and s.cpu().tolist() == [0, 1, 2, 3]
    assert s.clone().cpu().tolist() == [0, 1, 2, 3]
    assert copy.deepcopy(s).device.type == DEVICE
    s.resize_(6)
    assert s.nbytes() == 6 and s.cpu().tolist()[:4] == [0, 1, 2, 3]
    s.fill_(3)
    assert set(s.cpu().tolist()) == {3}


def test_loading_in_a_process_without_the_device(python, tmp_path):
    file = tmp_path / "x.pt"
    torch.save({"w": torch.arange(3.0, device=DEVICE)}, file)
    python(
        f"""
        import torch
        assert not hasattr(torch, "flagos")
        assert torch.load({str(file)!r}, map_location="cpu")["w"].tolist() == [0, 1, 2]
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


def test_mmap_load(tmp_path):
    file = tmp_path / "x.pt"
    torch.save({"w": torch.arange(3.0)}, file)
    assert torch.load(file, map_location=DEVICE, mmap=True)["w"].tolist() == [0, 1, 2]
