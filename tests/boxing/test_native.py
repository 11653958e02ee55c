"""The same memory as a tensor of the device that PyTorch drives, for other libraries, and back."""

import gc

import pytest
import torch
from torch.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack

from .conftest import CUDA_IN_PYTHON, DEVICE, NATIVE, moved, same


@pytest.mark.parametrize("pick", [lambda x: x, lambda x: x.t(), lambda x: x[1:, ::2]], ids=["whole", "transposed", "part"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_both_show_the_same_memory(native, dtype, pick):
    x = pick(moved(torch.ones(3, 4).to(dtype)))
    there = torch.flagos.to_native(x)
    assert there.device.type == native and (there.dtype, there.stride()) == (dtype, x.stride())
    assert there.data_ptr() == x.data_ptr()
    back = torch.flagos.from_native(there)
    assert back.data_ptr() == x.data_ptr()
    back.zero_()
    assert x.untyped_storage().device.type == DEVICE and back.untyped_storage().device.type == DEVICE
    assert not there.any().item() and not x.any().item()


@pytest.mark.skipif(NATIVE == "cuda" and not CUDA_IN_PYTHON, reason="PyTorch's DLPack asks torch.cuda for the current stream")
def test_other_libraries_take_it_by_dlpack(native):
    x = moved(torch.arange(4.0))
    there = torch.flagos.to_native(x)
    kind, index = there.__dlpack_device__()
    assert (kind, index) == ({"cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA}[native], 0)
    shared = torch.from_dlpack(there)
    shared += 1
    same(x, torch.arange(1.0, 5.0))
    same(torch.flagos.from_native(torch.from_dlpack(shared)), torch.arange(1.0, 5.0))


def test_each_keeps_the_memory_alive():
    x = moved(torch.arange(1000.0))
    there = torch.flagos.to_native(x)
    del x
    gc.collect()
    filler = moved(torch.zeros(1000))
    back = torch.flagos.from_native(there)
    del there
    assert back.sum().item() == 499500 and not filler.any().item()


def test_memory_of_another_owner_is_kept_alive_too():
    x = moved(torch.arange(1000.0))
    there = torch.flagos.to_native(from_dlpack(to_dlpack(x)))  # a capsule's storage holds none of the native device
    assert there.data_ptr() == x.data_ptr()
    del x
    gc.collect()
    filler = moved(torch.zeros(1000))
    assert there.sum().item() == 499500 and not filler.any().item()


def test_gradients_stay_behind():
    x = moved(torch.ones(2)).requires_grad_()
    there = torch.flagos.to_native(x)
    assert not there.requires_grad and torch.flagos.from_native(there).is_leaf
    (torch.flagos.from_native(there) * x).sum().backward()
    same(x.grad, torch.ones(2))


def test_a_tensor_from_elsewhere_is_named(native):
    with pytest.raises(ValueError, match="expected a tensor on a 'flagos' device, but got one on 'meta'"):
        torch.flagos.to_native(torch.ones(2, device="meta"))
    with pytest.raises(ValueError, match=f"expected a tensor on a '{native}' device, but got one on 'flagos:0'"):
        torch.flagos.from_native(torch.ones(2, device=DEVICE))
    with pytest.raises(ValueError, match=r"expected a strided tensor, but got one of layout torch.sparse_coo; call to_dense\(\) first"):
        torch.flagos.to_native(torch.eye(2, device=DEVICE).to_sparse())
