"""Other processes: what may be sent to them, and what the refusals say."""

import io
import multiprocessing
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch import nn
from torch.torch_version import TorchVersion

DEVICE = "flagos"

REMEDY = r"a tensor on flagos:\d cannot be passed to another process, .*; send tensor.cpu\(\) and move it"


def pickled(thing):
    buffer = io.BytesIO()
    ForkingPickler(buffer).dump(thing)
    return buffer.getvalue()


THINGS = {
    "a tensor": lambda: torch.ones(2, device=DEVICE),
    "a view": lambda: torch.ones(4, 4, device=DEVICE)[1:, ::2],
    "a parameter": lambda: nn.Parameter(torch.ones(2, device=DEVICE)),
    "a list": lambda: [torch.ones(2), torch.ones(2, device=DEVICE)],
    "a module": lambda: nn.Linear(2, 2).to(DEVICE),
    "a state dict": lambda: nn.Linear(2, 2).to(DEVICE).state_dict(),
    "a storage": lambda: torch.ones(2, device=DEVICE).untyped_storage(),
    "an optimizer": lambda: torch.optim.SGD(nn.Linear(2, 2).to(DEVICE).parameters(), lr=0.1),
    "a packed sequence": lambda: nn.utils.rnn.pack_sequence([torch.ones(2, 1)]).to(DEVICE),
}


@pytest.mark.parametrize("name", THINGS)
def test_device_tensors_are_refused_with_the_remedy(name):
    with pytest.raises(RuntimeError, match=REMEDY):
        pickled(THINGS[name]())


WAYS = {
    "a simple queue": lambda x: multiprocessing.get_context("spawn").SimpleQueue().put(x),
    "a pipe": lambda x: multiprocessing.Pipe()[0].send(x),
    "a torch queue": lambda x: torch.multiprocessing.get_context("fork").SimpleQueue().put(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_channel_says_it_to_the_sender(way):
    with pytest.raises(RuntimeError, match=REMEDY):
        WAYS[way](torch.ones(2, device=DEVICE))


def test_arguments_of_a_spawned_process_are_refused_before_it_runs():
    process = torch.multiprocessing.get_context("spawn").Process(target=print, args=(torch.ones(2, device=DEVICE),))
    with pytest.raises(RuntimeError, match=REMEDY):
        process.start()


def test_copies_on_the_cpu_go_through():
    sender, receiver = torch.multiprocessing.Pipe()
    sender.send([torch.arange(3.0, device=DEVICE).cpu(), nn.Parameter(torch.ones(2)), torch.ones(2).untyped_storage()])
    x, p, s = receiver.recv()
    assert x.to(DEVICE).tolist() == [0, 1, 2] and isinstance(p, nn.Parameter) and s.nbytes() == 8


def test_cpu_tensors_are_still_shared_not_copied():
    """What PyTorch does for the CPU is left as it was."""
    x = torch.zeros(3).share_memory_()
    y = ForkingPickler.loads(pickled(x))
    y[0] = 7
    assert x[0] == 7 and y.is_shared()


def test_sharing_in_place():
    """As for CUDA: nothing to do, and no error."""
    x = torch.ones(2, device=DEVICE)
    assert x.share_memory_() is x
    if TorchVersion(torch.__version__) >= (2, 13):  # an older PyTorch calls CUDA's tensors alone shared
        assert x.is_shared()
    assert nn.Linear(2, 2).to(DEVICE).share_memory() is not None
    with pytest.raises((RuntimeError, NotImplementedError), match="only available on CPU|flagos"):
        x.untyped_storage()._share_fd_cpu_()


def test_plain_pickle_still_copies():
    """pickle itself writes the bytes: only multiprocessing, which shares, refuses."""
    import copy
    import pickle

    x = torch.arange(3.0, device=DEVICE)
    assert pickle.loads(pickle.dumps(x)).is_flagos and copy.deepcopy(x).is_flagos


def test_a_gradient_in_the_middle_of_a_graph_is_refused_in_the_words_of_pytorch():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        pickled(torch.ones(2, device=DEVICE, requires_grad=True) * 2)


def test_devices_and_types_travel():
    assert ForkingPickler.loads(pickled(torch.device("flagos:0"))) == torch.device("flagos:0")
