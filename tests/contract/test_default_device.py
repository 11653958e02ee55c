"""``with torch.device(...)`` and ``torch.set_default_device``: what is made without a device argument is made there."""

import threading

import pytest
import torch
from torch import nn
from torch.utils._device import _device_constructors

DEVICE = "flagos"

FACTORIES = {
    "empty": lambda: torch.empty(2),
    "zeros": lambda: torch.zeros(2),
    "ones": lambda: torch.ones(2),
    "full": lambda: torch.full((2,), 3.0),
    "eye": lambda: torch.eye(2),
    "arange": lambda: torch.arange(3),
    "range": None,  # PyTorch lists it and leaves it on the CPU all the same
    "linspace": lambda: torch.linspace(0, 1, 3),
    "logspace": lambda: torch.logspace(0, 1, 3),
    "tensor": lambda: torch.tensor([1, 2]),
    "as_tensor": lambda: torch.as_tensor([1, 2]),
    "asarray": lambda: torch.asarray([1, 2]),
    "scalar_tensor": lambda: torch.scalar_tensor(2),
    "rand": lambda: torch.rand(2),
    "randn": lambda: torch.randn(2),
    "randint": lambda: torch.randint(3, (2,)),
    "randperm": lambda: torch.randperm(3),
    "empty_strided": lambda: torch.empty_strided((2,), (1,)),
    "empty_permuted": lambda: torch.empty_permuted((2, 3), (1, 0)),
    "empty_quantized": None,  # test_other_layouts.py: there are no quantized tensors
    "frombuffer": None,  # shows the buffer's own memory
    "from_file": None,  # maps a file into host memory
    "tril_indices": lambda: torch.tril_indices(2, 2),
    "triu_indices": lambda: torch.triu_indices(2, 2),
    "vander": lambda: torch.vander(torch.ones(2)),
    "hann_window": lambda: torch.hann_window(3),
    "hamming_window": lambda: torch.hamming_window(3),
    "blackman_window": lambda: torch.blackman_window(3),
    "bartlett_window": lambda: torch.bartlett_window(3),
    "kaiser_window": lambda: torch.kaiser_window(3),
    "fft_fftfreq": lambda: torch.fft.fftfreq(3),
    "fft_rfftfreq": lambda: torch.fft.rfftfreq(3),
    "sparse_coo_tensor": lambda: torch.sparse_coo_tensor([[0]], [1.0], (2,)),
    "sparse_csr_tensor": lambda: torch.sparse_csr_tensor([0, 1], [0], [1.0], size=(1, 1)),
    "sparse_csc_tensor": lambda: torch.sparse_csc_tensor([0, 1], [0], [1.0], size=(1, 1)),
    "sparse_bsr_tensor": lambda: torch.sparse_bsr_tensor([0, 1], [0], [[[1.0]]], size=(1, 1)),
    "sparse_bsc_tensor": lambda: torch.sparse_bsc_tensor([0, 1], [0], [[[1.0]]], size=(1, 1)),
    "sparse_compressed_tensor": lambda: torch.sparse_compressed_tensor(
        [0, 1], [0], [1.0], size=(1, 1), layout=torch.sparse_csr
    ),
    "nested_tensor": lambda: torch.nested.nested_tensor([[1.0], [2.0, 3.0]], layout=torch.jagged),
    "load": None,  # test_serialization.py
    "cosine": lambda: torch.signal.windows.cosine(3),
    "gaussian": lambda: torch.signal.windows.gaussian(3),
}


def made(name):
    return FACTORIES[name]().device


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:The PyTorch API of nested")
@pytest.mark.parametrize("name", [n for n in FACTORIES if FACTORIES[n]])
def test_every_factory_makes_it_there(name):
    with torch.device(DEVICE):
        assert made(name) == torch.device("flagos:0")
        with torch.device("cpu"):
            assert made(name).type == "cpu"
        assert made(name).type == DEVICE
    assert made(name).type == "cpu"


def test_no_factory_of_this_pytorch_is_missing():
    known = {f.__name__ for f in _device_constructors()}
    assert sorted(known - FACTORIES.keys()) == []


def test_an_argument_wins_over_the_block():
    with torch.device(DEVICE):
        assert torch.ones(1, device="cpu").device.type == "cpu"
        assert torch.ones_like(torch.ones(1, device="cpu")).device.type == "cpu"
        assert torch.ones(1, device="cpu").new_zeros(1).device.type == "cpu"
        assert nn.Linear(1, 1, device="cpu").weight.device.type == "cpu"
        assert torch.Generator().device.type == "cpu"
        assert torch.ones(1).cpu().device.type == "cpu"


def test_modules_are_made_there():
    with torch.device(DEVICE):
        m = nn.Sequential(nn.Linear(2, 3), nn.LSTM(3, 3), nn.BatchNorm1d(3), nn.TransformerEncoderLayer(4, 2, 8))
    assert all(t.is_flagos for t in m.state_dict().values())
    torch.manual_seed(5)
    with torch.device(DEVICE):
        a = nn.Linear(2, 3)
    torch.manual_seed(5)
    assert torch.equal(a.weight, nn.Linear(2, 3, device=DEVICE).weight)


@pytest.mark.devices(2)
def test_an_index_is_kept_and_the_current_device_is_not_changed():
    with torch.device("flagos:1"):
        assert torch.ones(1).device.index == 1 and torch.flagos.current_device() == 0
        assert torch.ones(1, device=DEVICE).device.index == 0
    with torch.device(DEVICE), torch.flagos.device(1):
        assert torch.ones(1).device.index == 1


def test_the_default_device_of_the_process():
    torch.set_default_device(DEVICE)
    try:
        assert torch.get_default_device() == torch.device("flagos:0")
        for name in ("ones", "tensor", "arange", "randperm", "eye"):
            assert made(name).type == DEVICE
        assert nn.Linear(1, 1).weight.is_flagos
        with torch.device("cpu"):
            assert torch.ones(1).device.type == "cpu" and torch.get_default_device().type == "cpu"
        loader = torch.utils.data.DataLoader(torch.arange(4), batch_size=2)
        assert [b.tolist() for b in loader] == [[0, 1], [2, 3]]
        model = nn.Linear(2, 2)
        torch.optim.Adam(model.parameters()).step(lambda: model(torch.ones(1, 2)).sum().backward())
        if torch.flagos.device_count() > 1:
            torch.set_default_device("flagos:1")
            assert torch.ones(1).device.index == 1
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device.type == "cpu" and torch.get_default_device().type == "cpu"


def test_each_thread_chooses_for_itself():
    """PyTorch keeps the default by thread: a device set in one is not seen in another."""
    seen = {}

    def work():
        seen["at first"] = torch.ones(1).device.type
        torch.set_default_device(DEVICE)
        seen["then"] = torch.ones(1).device.type

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == {"at first": "cpu", "then": DEVICE} and torch.ones(1).device.type == "cpu"


def test_a_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match="flagos:77 does not exist"), torch.device("flagos:77"):
        torch.ones(1)
    assert torch.ones(1).device.type == "cpu"


def test_a_compiled_function_sees_the_block():
    with torch.device(DEVICE):
        assert torch.compile(lambda: torch.ones(2) + 1, backend="eager")().device.type == DEVICE
    torch._dynamo.reset()
