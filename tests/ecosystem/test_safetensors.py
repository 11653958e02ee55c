"""safetensors: files are written from the device and read to it."""

import pytest
import safetensors
import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

from .conftest import DEVICE, twins

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_type_comes_back(dtype, tmp_path, same):
    wanted = torch.randint(0, 2, (3, 5)).to(dtype)
    save_file({"a": wanted.to(DEVICE)}, tmp_path / "a.safetensors")
    found = load_file(tmp_path / "a.safetensors", device=0)["a"]
    same(found, wanted)
    same(found + found, wanted + wanted)


@pytest.mark.devices(2)
def test_a_number_is_a_device(tmp_path):
    save_file({"a": torch.arange(4.0, device=f"{DEVICE}:1")}, tmp_path / "a.safetensors")
    for index in range(2):
        found = load_file(tmp_path / "a.safetensors", device=index)["a"]
        assert found.device == torch.device(DEVICE, index)
        assert found.sum().item() == 6


def test_a_part_of_a_tensor_is_read(tmp_path, same):
    wanted = torch.randn(6, 4)
    save_file({"a": wanted}, tmp_path / "a.safetensors")
    with safetensors.safe_open(tmp_path / "a.safetensors", "pt", device=0) as file:
        same(file.get_slice("a")[2:4] * 1, wanted[2:4])


def test_a_model_with_tied_weights_comes_back(tmp_path, same):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)
            self.head.weight = self.embed.weight

    model, copied = twins(Tied())
    save_model(copied, tmp_path / "m.safetensors")
    again = Tied().to(DEVICE)
    assert load_model(again, tmp_path / "m.safetensors", device=0) == (set(), [])
    same(again.state_dict(), model.state_dict())
    tokens = torch.tensor([3, 1, 4])
    same(again.head(again.embed(tokens.to(DEVICE))), model.head(model.embed(tokens)))


@pytest.mark.no_kernels
def test_the_devices_name_is_refused_by_the_library(tmp_path):
    """It knows some names and, for every accelerator, numbers."""
    save_file({"a": torch.ones(2)}, tmp_path / "a.safetensors")
    with pytest.raises(safetensors.SafetensorError, match="device flagos:0 is invalid"):
        load_file(tmp_path / "a.safetensors", device=f"{DEVICE}:0")
