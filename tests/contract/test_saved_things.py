"""What can be saved, pickled or copied comes back as it was: device, strides, sharing, class and flags."""

import collections
import copy
import io
import pickle

import pytest
import torch
from torch import nn

DEVICE = "flagos"


class Tagged(torch.Tensor):
    """A subclass with nothing of its own."""

    def new_empty(self, *args, **kwargs):  # what PyTorch asks a subclass for before it can be deep-copied
        return torch.Tensor.new_empty(self, *args, **kwargs).as_subclass(type(self))


def with_attribute(device):
    x = torch.ones(2, device=device)
    x.note = {"of": "a tensor"}
    return x


def nested(device):
    base = torch.arange(12.0, device=device).view(3, 4)
    return collections.OrderedDict(rows=[base[0], base[1]], whole=base, again=(base, {"t": base.t()}))


THINGS = {
    "contiguous": lambda d: torch.arange(6.0, device=d).view(2, 3),
    "transposed": lambda d: torch.arange(6.0, device=d).view(2, 3).t(),
    "strided with an offset": lambda d: torch.arange(12.0, device=d)[1::3],
    "expanded": lambda d: torch.arange(3.0, device=d).expand(4, 3),
    "channels last": lambda d: torch.ones(2, 3, 4, 4, device=d).to(memory_format=torch.channels_last),
    "conj": lambda d: torch.tensor([1 + 2j, 3j], device=d).conj(),
    "neg": lambda d: torch._neg_view(torch.arange(3.0, device=d)),
    "real part": lambda d: torch.tensor([1 + 2j, 3j], device=d).real,
    "empty": lambda d: torch.empty(0, 3, device=d),
    "scalar": lambda d: torch.tensor(5, device=d),
    "bool": lambda d: torch.tensor([True, False], device=d),
    "bfloat16": lambda d: torch.ones(3, dtype=torch.bfloat16, device=d),
    "float8": lambda d: torch.ones(3, device=d).to(torch.float8_e5m2),
    "uint16": lambda d: torch.arange(3, device=d).to(torch.uint16),
    "a leaf": lambda d: torch.ones(3, device=d, requires_grad=True),
    "a parameter": lambda d: nn.Parameter(torch.ones(3, device=d)),
    "a frozen parameter": lambda d: nn.Parameter(torch.ones(3, device=d), requires_grad=False),
    "a buffer": lambda d: nn.Buffer(torch.ones(3, device=d)),
    "a subclass": lambda d: torch.ones(3, device=d).as_subclass(Tagged),
    "an attribute": with_attribute,
    "shared memory in a tree": nested,
    "a module": lambda d: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(d),
    "a recurrent module": lambda d: nn.LSTM(2, 3).to(d),
    "a packed sequence": lambda d: nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)]).to(d),
    "a device": lambda d: torch.device(d, 0),
    "a size": lambda d: torch.ones(2, 3, device=d).shape,
}


def save(**options):
    def round_trip(thing):
        buffer = io.BytesIO()
        torch.save(thing, buffer, **options)
        return torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)

    return round_trip


WAYS = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "old pickle": lambda thing: pickle.loads(pickle.dumps(thing, protocol=2)),
    "save": save(),
    "old save": save(_use_new_zipfile_serialization=False),
    "save with protocol 5": save(pickle_protocol=5),
}


def tensors(thing):
    """The tensors in a thing, in order."""
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, nn.Module):
        return list(thing.state_dict(keep_vars=True).values())
    if isinstance(thing, nn.utils.rnn.PackedSequence):
        return [thing.data]
    if isinstance(thing, dict):
        thing = list(thing.values())
    return [t for part in thing for t in tensors(part)] if isinstance(thing, (list, tuple)) else []


def sharing(thing):
    """Which of the tensors lie in one storage."""
    places = [t.untyped_storage().data_ptr() for t in tensors(thing)]
    return [places.index(p) for p in places]


def bits(x):
    x = x.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return bytes(x.untyped_storage())[: x.nbytes]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", THINGS)
def test_comes_back_as_it_was(name, way):
    """F4: deepcopy, pickle and save of everything that holds device tensors."""
    original, reference = THINGS[name](DEVICE), THINGS[name]("cpu")
    try:
        wanted = WAYS[way](reference)
    except (TypeError, AttributeError, RuntimeError) as error:  # what PyTorch cannot save, it cannot save from here
        with pytest.raises(type(error)):
            WAYS[way](original)
        return
    found = WAYS[way](original)
    assert type(found) is type(original)
    if not tensors(original):
        assert found == original
    assert sharing(found) == sharing(wanted)
    for f, o, w in zip(tensors(found), tensors(original), tensors(wanted), strict=True):
        assert (type(f), f.device, f.dtype, f.shape) == (type(o), o.device, o.dtype, o.shape)
        assert (f.stride(), f.storage_offset()) == (w.stride(), w.storage_offset())
        assert (f.requires_grad, f.is_conj(), f.is_neg()) == (w.requires_grad, w.is_conj(), w.is_neg())
        assert bits(f) == bits(o)
        assert getattr(f, "note", None) == getattr(w, "note", None)
        assert not f.numel() or f.data_ptr() != o.data_ptr()


def test_one_storage_for_a_parameter_and_its_view_after_saving():
    """F4: a module whose buffer is a view of its parameter (deepcopy parts them on every device)."""
    layer = nn.Linear(3, 3).to(DEVICE)
    layer.register_buffer("row", layer.weight.detach()[1])
    other = save()(layer)
    with torch.no_grad():
        other.weight[1] = 7
    assert other.row.tolist() == [7, 7, 7] and 7 not in layer.row.tolist()


def test_a_graph_is_not_copied():
    """F4: a tensor in the middle of a graph is refused by deepcopy, as on the CPU."""
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(torch.ones(2, device=device, requires_grad=True) * 2)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_both_kinds():
    """F4: untyped and typed storages are copied and saved with their device."""
    x = torch.arange(3.0, device=DEVICE)
    assert copy.deepcopy(x.untyped_storage()).device == x.device
    assert save()(x.untyped_storage()).device == x.device
    typed = x.storage()
    back = save()(typed)
    assert back.device == x.device and back.tolist() == [0, 1, 2] and back.dtype == torch.float32
    assert copy.deepcopy(typed).tolist() == [0, 1, 2]


def test_generators_streams_and_events():
    """F4: what holds no data says so, as torch.cuda's does: a stream cannot be pickled."""
    g = torch.Generator(DEVICE).manual_seed(4)
    back = pickle.loads(pickle.dumps(g))
    assert back.device == g.device and torch.equal(back.get_state(), g.get_state())
    assert torch.equal(torch.rand(3, device=DEVICE, generator=back), torch.rand(3, device=DEVICE, generator=g))
