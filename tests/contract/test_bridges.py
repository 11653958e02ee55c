"""Bridges to other software: DLPack, numpy, the array protocol, and the methods PyTorch makes for a renamed device."""

import numpy
import pytest
import torch
from torch import nn
from torch.utils.dlpack import from_dlpack, to_dlpack

DEVICE = "flagos"

TO_NUMPY = (
    "can't convert flagos:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64]
)
@pytest.mark.parametrize(
    "pick", [lambda x: x, lambda x: x.t(), lambda x: x[1:, ::2]], ids=["whole", "transposed", "part"]
)
def test_a_capsule_shares_the_memory(dtype, pick):
    x = torch.ones(3, 4).to(dtype).to(DEVICE)
    y = from_dlpack(to_dlpack(pick(x)))
    assert y.device == x.device and y.dtype == dtype and y.stride() == pick(x).stride()
    assert y.data_ptr() == pick(x).data_ptr()
    y.zero_()
    assert not pick(x).any().item()


def test_a_capsule_keeps_the_memory_alive():
    x = torch.arange(1000.0, device=DEVICE)
    capsule = to_dlpack(x)
    address = x.data_ptr()
    del x
    filler = torch.zeros(1000, device=DEVICE)
    y = from_dlpack(capsule)
    assert y.data_ptr() == address != filler.data_ptr() and y[999].item() == 999
    with pytest.raises(RuntimeError, match="DLTensor capsule can be consumed only once|consumed"):
        from_dlpack(capsule)


@pytest.mark.devices(2)
def test_a_capsule_knows_its_device():
    torch.flagos.set_device(0)
    y = from_dlpack(to_dlpack(torch.ones(3, device="flagos:1")))
    assert y.device == torch.device("flagos:1") and torch.flagos.current_device() == 0


def test_what_a_capsule_cannot_hold():
    for make in (
        lambda d: torch.ones(2, device=d, requires_grad=True),
        lambda d: torch.tensor([1j], device=d).conj(),
        lambda d: torch.ones(2, 2, device=d).to_sparse(),
    ):
        with pytest.raises(Exception) as on_cpu:
            make("cpu").__dlpack__()
        with pytest.raises((type(on_cpu.value), ValueError, BufferError, RuntimeError)):
            make(DEVICE).__dlpack__()


def test_the_protocol_without_a_capsule_names_the_device():
    """PyTorch compares with the key's first name, so it cannot know a renamed device: one sentence, no wrong memory."""
    x = torch.ones(3, device=DEVICE)
    for attempt in (x.__dlpack_device__, lambda: torch.from_dlpack(x)):
        try:
            found = attempt()
        except ValueError as error:
            assert str(error) == "Unknown device type flagos for Dlpack"
        else:  # a PyTorch that knows it
            assert not isinstance(found, torch.Tensor) or found.data_ptr() == x.data_ptr()


def test_from_the_cpu_to_the_device(same):
    x = torch.arange(3.0)
    same(torch.from_dlpack(x, device=DEVICE), x)
    same(torch.from_dlpack(numpy.arange(3.0), device=DEVICE), torch.arange(3.0, dtype=torch.float64))
    same(torch.as_tensor(numpy.arange(3), device=DEVICE), torch.arange(3))
    same(torch.tensor(numpy.float32(2.5), device=DEVICE), torch.tensor(2.5))
    same(torch.from_numpy(numpy.ones((2, 2), numpy.float16)).to(DEVICE), torch.ones(2, 2).half())
    same(torch.asarray(numpy.arange(3), device=DEVICE), torch.arange(3))
    same(torch.tensor(bytearray(b"ab"), dtype=torch.uint8, device=DEVICE), torch.tensor([97, 98], dtype=torch.uint8))
    same(torch.ones(2, device=DEVICE) * numpy.float64(2), torch.full((2,), 2.0))
    same(torch.ones(2, device=DEVICE).new_tensor(numpy.array([3.0])), torch.tensor([3.0]))


NUMPY = {
    "numpy()": lambda x: x.numpy(),
    "asarray": numpy.asarray,
    "array": numpy.array,
    "__array__": lambda x: x.__array__(),
    "a numpy function": numpy.sin,
    "stack": lambda x: numpy.stack([x, x]),
    "float array": lambda x: numpy.array([x, x]),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_is_told_to_ask_the_cpu(name):
    with pytest.raises(TypeError) as error:
        NUMPY[name](torch.ones(2, device=DEVICE))
    assert str(error.value) == TO_NUMPY


def test_numpy_on_request():
    x = torch.tensor([1 + 2j, 3j], device=DEVICE, requires_grad=True).conj()
    assert x.numpy(force=True).tolist() == [1 - 2j, -3j]
    assert torch.ones(2, device=DEVICE).cpu().numpy().tolist() == [1, 1]
    assert numpy.array([t.item() for t in torch.arange(2, device=DEVICE)]).tolist() == [0, 1]
    assert not hasattr(torch.ones(1, device=DEVICE), "__cuda_array_interface__")
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        memoryview(torch.ones(2, device=DEVICE))


def test_methods_of_tensors():
    x = torch.ones(2)
    y = x.flagos()
    assert y.is_flagos and not x.is_flagos and y.flagos() is y and y.flagos(0) is y
    assert not (y.is_cuda or y.is_cpu or y.is_xpu or y.is_meta) and y.get_device() == 0
    assert x.flagos(non_blocking=True).is_flagos and x.flagos(torch.device("flagos:0")).is_flagos
    assert x.flagos(memory_format=torch.contiguous_format).is_flagos
    if torch.flagos.device_count() > 1:
        assert x.flagos(1).get_device() == 1 and y.flagos("flagos:1").get_device() == 1
    with pytest.raises((RuntimeError, ValueError), match="flagos|cpu"):
        x.flagos("cpu")
    with pytest.raises(AttributeError):
        x.is_flagos = True


def test_methods_of_modules_and_sequences():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert m.flagos() is m and all(t.is_flagos for t in m.state_dict().values())
    assert m.cpu()[0].weight.device.type == "cpu"
    if torch.flagos.device_count() > 1:
        assert m.flagos(1)[0].weight.get_device() == 1
    packed = nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    moved = packed.flagos()
    assert moved.is_flagos and not packed.is_flagos and moved.batch_sizes.device.type == "cpu"
    assert not moved.cpu().is_flagos and moved.double().data.dtype == torch.float64


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_methods_of_storages():
    u = torch.arange(3.0).untyped_storage()
    assert u.flagos().is_flagos and not u.is_flagos and u.flagos().cpu().tolist() == u.tolist()
    assert u.flagos().flagos().data_ptr() != 0 and u.flagos(non_blocking=True).is_flagos
    s = torch.FloatStorage([1, 2, 3])
    assert s.flagos().is_flagos and s.flagos().tolist() == [1, 2, 3] and s.flagos().dtype == torch.float32
    assert not s.is_flagos and s.flagos().double().dtype == torch.float64
    t = torch.ones(3, device=DEVICE).storage()
    assert t.is_flagos and t.cpu().tolist() == [1, 1, 1] and t.device == torch.device("flagos:0")
    raw = torch.UntypedStorage(8, device=DEVICE)
    raw.fill_(1)
    assert raw[0] == 1 and raw.nbytes() == 8
    raw[1] = 7
    assert raw.tolist()[:3] == [1, 7, 1] and raw.copy_(torch.UntypedStorage(8).fill_(2)).tolist() == [2] * 8


def test_names_of_types():
    x = torch.ones(2, device=DEVICE)
    assert x.type() == "torch.flagos.FloatTensor" and x.long().type() == "torch.flagos.LongTensor"
    assert torch.ones(2).type("torch.flagos.HalfTensor").dtype == torch.float16
    assert torch.ones(2).type("torch.flagos.HalfTensor").is_flagos
    assert x.type("torch.DoubleTensor").device.type == "cpu" and x.type(torch.float64).is_flagos
    assert x.double().type_as(x).dtype == torch.float32 and torch.ones(2).type_as(x).is_flagos
    assert not isinstance(x, torch.FloatTensor)
    with pytest.raises(AttributeError, match="FloatTensor"):
        torch.set_default_tensor_type("torch.flagos.FloatTensor")


def test_a_platform_without_a_device_type_of_pytorchs_own_says_so():
    from torch_fl import _C

    if native := _C.native_device_type():
        pytest.skip(f"PyTorch drives this platform's devices as '{native}'; tests/boxing has what it does there")
    for attempt in (torch.flagos.to_native, torch.flagos.from_native):
        with pytest.raises(NotImplementedError, match="PyTorch has no device type of its own for the devices of platform '.*'; hand"):
            attempt(torch.ones(2, device=DEVICE))
