"""``torch.nn.utils`` and what else works on modules: norms, parametrizations, pruning, packing, averaging."""

import pytest
import torch
from torch import nn
from torch.nn import utils
from torch.nn.utils import parametrizations, parametrize, prune

DEVICE = "flagos"


def train(make, device, shape):
    torch.manual_seed(0)
    layer = make().to(device)
    x = torch.linspace(-1, 1, torch.Size(shape).numel(), device=device).view(shape)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()
    return layer(x), layer


WRAPPED = {
    "weight_norm": lambda: parametrizations.weight_norm(nn.Linear(4, 4)),
    "weight_norm of a convolution": lambda: parametrizations.weight_norm(nn.Conv1d(4, 4, 1), dim=1),
    "spectral_norm": lambda: parametrizations.spectral_norm(nn.Linear(4, 4)),
    "orthogonal": lambda: parametrizations.orthogonal(nn.Linear(4, 4)),
    "orthogonal by cayley": lambda: parametrizations.orthogonal(nn.Linear(4, 4), orthogonal_map="cayley"),
    "old weight_norm": lambda: utils.weight_norm(nn.Linear(4, 4)),
    "old spectral_norm": lambda: utils.spectral_norm(nn.Linear(4, 4)),
    "pruned": lambda: prune.l1_unstructured(nn.Linear(4, 4), "weight", 0.5),
    "structured pruning": lambda: prune.ln_structured(nn.Linear(4, 4), "weight", 0.5, n=2, dim=0),
}


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.*` is deprecated")
@pytest.mark.parametrize("name", WRAPPED)
def test_reparametrized_layers_train(name):
    shape = (2, 4, 3) if "convolution" in name else (3, 4)
    wanted, _ = train(WRAPPED[name], "cpu", shape)
    found, moved = train(WRAPPED[name], DEVICE, shape)
    assert all(t.is_flagos for t in moved.state_dict().values())
    torch.testing.assert_close(found.detach().cpu(), wanted.detach(), rtol=1e-4, atol=1e-5)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def test_own_parametrizations():
    layer = nn.Linear(3, 3).to(DEVICE)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.mT) and layer.weight.is_flagos
    layer.weight = torch.ones(3, 3, device=DEVICE)
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.cpu().weight.device.type == "cpu"
    parametrize.remove_parametrizations(layer.to(DEVICE), "weight")
    assert isinstance(layer.weight, nn.Parameter) and layer.weight.is_flagos


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_clipping(norm, foreach):
    results = []
    for device in ("cpu", DEVICE):
        ps = [nn.Parameter(torch.ones(3, 2, device=device)), nn.Parameter(torch.ones(4, device=device))]
        for i, p in enumerate(ps):
            p.grad = torch.full_like(p, i + 1.0)
        total = utils.clip_grad_norm_(ps, 1.5, norm_type=norm, foreach=foreach)
        assert total.device.type == device
        assert utils.get_total_norm([p.grad for p in ps], norm).item() <= 1.5 + 1e-4
        utils.clip_grad_value_(ps, 0.1, foreach=foreach)
        results.append([total.cpu(), *(p.grad.cpu() for p in ps)])
    for w, f in zip(*results, strict=True):
        torch.testing.assert_close(f, w)


def test_clipping_refuses_what_is_not_finite():
    p = nn.Parameter(torch.ones(2, device=DEVICE))
    p.grad = torch.tensor([1.0, float("nan")], device=DEVICE)
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)


def test_vectors_of_parameters():
    layer = nn.Linear(2, 3).to(DEVICE)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector.is_flagos and vector.shape == (9,)
    utils.vector_to_parameters(torch.arange(9.0, device=DEVICE), layer.parameters())
    assert layer.weight.flatten().tolist() == [0, 1, 2, 3, 4, 5] and layer.bias.tolist() == [6, 7, 8]
    with pytest.raises(TypeError, match="different devices"):
        utils.parameters_to_vector([layer.weight, nn.Parameter(torch.ones(1))])


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_packed_sequences(kind, batch_first):
    """Packed on the device, lengths on the CPU, sorted or not, through a layer and back."""
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(2)
        layer = kind(3, 4, 2, bidirectional=True, batch_first=batch_first).to(device)
        x = torch.linspace(-1, 1, 60, device=device).view(4, 5, 3).requires_grad_()
        packed = utils.rnn.pack_padded_sequence(
            x if batch_first else x.transpose(0, 1), torch.tensor([2, 5, 1, 3]), batch_first, enforce_sorted=False
        )
        assert packed.batch_sizes.device.type == "cpu" and packed.data.device.type == device
        y, _ = layer(packed)
        padded, lengths = utils.rnn.pad_packed_sequence(y, batch_first, padding_value=-1.0, total_length=6)
        assert lengths.tolist() == [2, 5, 1, 3] and lengths.device.type == "cpu"
        padded.square().sum().backward()
        results.append([padded, x.grad])
    for w, f in zip(*results, strict=True):
        torch.testing.assert_close(f.detach().cpu(), w.detach())


def test_sequences_of_different_lengths():
    rows = [torch.ones(2, 3, device=DEVICE), torch.ones(4, 3, device=DEVICE)]
    padded = utils.rnn.pad_sequence(rows, batch_first=True, padding_side="left")
    assert padded.shape == (2, 4, 3) and padded[0, 0, 0].item() == 0
    packed = utils.rnn.pack_sequence(rows, enforce_sorted=False)
    assert packed.data.is_flagos and packed.batch_sizes.tolist() == [2, 2, 1, 1]
    for found, wanted in zip(utils.rnn.unpack_sequence(packed), rows, strict=True):
        assert torch.equal(found, wanted)
    unpadded = utils.rnn.unpad_sequence(padded, torch.tensor([4, 4]), batch_first=True)
    assert len(unpadded) == 2 and unpadded[0].is_flagos


def test_fusing_and_averaging():
    torch.manual_seed(0)
    conv, norm = nn.Conv2d(2, 3, 3).to(DEVICE).eval(), nn.BatchNorm2d(3).to(DEVICE).eval()
    x = torch.randn(1, 2, 5, 5, device=DEVICE)
    torch.testing.assert_close(utils.fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)))
    average = torch.optim.swa_utils.AveragedModel(norm, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    average.update_parameters(norm)
    average.update_parameters(norm)
    torch.optim.swa_utils.update_bn([torch.randn(4, 3, 2, 2)], average, device=DEVICE)
    assert all(t.is_flagos for n, t in average.module.state_dict().items())


def test_initialisation():
    """torch.nn.init fills device tensors from the device's stream of random numbers."""
    init = nn.init
    for fill in (init.uniform_, init.normal_, init.xavier_normal_, init.kaiming_uniform_, init.orthogonal_,
                 init.trunc_normal_, lambda t: init.sparse_(t, 0.5), init.eye_, init.ones_):  # fmt: skip
        torch.manual_seed(3)
        a = fill(torch.empty(6, 6, device=DEVICE))
        torch.manual_seed(3)
        assert torch.equal(a, fill(torch.empty(6, 6, device=DEVICE))) and a.is_flagos and a.any()
    assert init.dirac_(torch.empty(2, 2, 3, device=DEVICE))[0, 0, 1].item() == 1
