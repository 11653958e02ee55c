"""Gradients that come in as expanded, transposed or strided tensors give what the CPU gives."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from .conftest import needing

DEVICE = "flagos"

LAYERS = {
    "linear": (lambda: nn.Linear(6, 4), (2, 3, 6)),
    "linear without bias": (lambda: nn.Linear(6, 4, bias=False), (3, 6)),
    "bilinear": (lambda: Two(nn.Bilinear(6, 6, 4)), (3, 6)),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, groups=2), (2, 4, 9)),
    "conv2d": (lambda: nn.Conv2d(3, 4, 3, padding=1), (2, 3, 6, 6)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), (2, 3, 5, 5)),
    "layer norm": (lambda: nn.LayerNorm(6), (2, 3, 6)),
    "batch norm": (lambda: nn.BatchNorm2d(3), (4, 3, 5, 5)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (2, 4, 5)),
    "rms norm": (lambda: nn.RMSNorm(6), (2, 3, 6)),
    "embedding": (lambda: Index(nn.Embedding(7, 5)), (3, 4)),
    "embedding bag": (lambda: Index(nn.EmbeddingBag(7, 5, mode="mean")), (3, 4)),
    "lstm": (lambda: First(nn.LSTM(6, 5, batch_first=True)), (2, 4, 6)),
    "gru": (lambda: First(nn.GRU(6, 5)), (4, 2, 6)),
    "attention": (lambda: Three(nn.MultiheadAttention(6, 2, batch_first=True)), (2, 4, 6)),
    "max pool": (lambda: nn.MaxPool2d(2), (2, 3, 6, 6)),
    "average pool": (lambda: nn.AdaptiveAvgPool2d(2), (2, 3, 6, 6)),
    "upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 4, 4)),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), (2, 4, 3, 3)),
    "prelu": (lambda: nn.PReLU(3), (2, 3, 4)),
    "softmax": (lambda: nn.Softmax(-1), (2, 3, 4)),
    "gelu": (lambda: nn.GELU(), (2, 3, 4)),
}


class Index(nn.Module):
    """Gradients of an embedding: the index is made of the input, whose own gradient is zero."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        index = torch.arange(x.numel(), device=x.device).view(x.shape) % 7
        return self.layer(index)


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Two(First):
    def forward(self, x):
        return self.layer(x, x * 2)


class Three(First):
    def forward(self, x):
        return self.layer(x, x, x)[0]


def expanded(y):
    return torch.full((1,) * y.dim(), 0.5, device=y.device).expand(y.shape)


def partly_expanded(y):
    row = torch.linspace(-1, 1, y.shape[-1], device=y.device)
    return row.expand(y.shape)


def transposed(y):
    swapped = torch.linspace(-1, 1, y.numel(), device=y.device).view(y.transpose(0, -1).shape)
    return swapped.transpose(0, -1)


def strided(y):
    wide = torch.linspace(-1, 1, 2 * y.numel(), device=y.device).view(*y.shape[:-1], 2 * y.shape[-1])
    return wide[..., ::2]


def run(model, x, gradient):
    x = x.detach().requires_grad_()
    y = model(x)
    y.backward(gradient(y))
    return [y, *(t.grad for t in [x, *model.parameters()] if t.grad is not None)]


@pytest.mark.parametrize("gradient", [expanded, partly_expanded, transposed, strided], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name, gradient):
    """B2: `sum().backward()` hands a stride-0 gradient to every layer; transposed and strided ones come too."""
    build, shape = LAYERS[name]
    model, x = build(), torch.randn(shape)
    other = copy.deepcopy(model).to(DEVICE)
    wanted, found = run(model, x, gradient), run(other, x.to(DEVICE), gradient)
    for f, w in zip(found, wanted, strict=True):
        assert f.device.type == DEVICE and f.stride() == w.stride()
        torch.testing.assert_close(f.detach().cpu(), w.detach(), rtol=1e-5, atol=1e-5)


FUNCTIONS = {
    "mm": (lambda a, b: a @ b, (4, 6), (6, 5)),
    "mm of transposed": (lambda a, b: a.t() @ b.t(), (6, 4), (5, 6)),
    "bmm": (torch.bmm, (2, 4, 6), (2, 6, 5)),
    "matmul broadcast": (torch.matmul, (3, 1, 4, 6), (2, 6, 5)),
    "mv": (torch.mv, (4, 6), (6,)),
    "dot": (lambda a, b: torch.dot(a, b).expand(3), (6,), (6,)),
    "addmm": (lambda a, b: torch.addmm(a[:, :1], a, b), (4, 6), (6, 6)),
    "baddbmm": (lambda a, b: torch.baddbmm(a[:, :, :1], a, b, beta=0.5), (2, 4, 6), (2, 6, 5)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bk", a, b), (2, 4, 6), (2, 6, 5)),
    "outer": (torch.outer, (4,), (5,)),
    "mul": (torch.mul, (4, 1), (1, 5)),
    "div": (lambda a, b: a / (b.abs() + 1), (4, 5), (5,)),
    "where": (lambda a, b: torch.where(a > 0, a, b), (4, 5), (4, 5)),
    "cat": (lambda a, b: torch.cat([a, b], 1), (4, 2), (4, 3)),
    "cdist": (torch.cdist, (4, 3), (5, 3)),
    "sdpa": (lambda a, b: F.scaled_dot_product_attention(a, b, b), (1, 2, 4, 8), (1, 2, 5, 8)),
    "cosine": (lambda a, b: F.cosine_similarity(a, b, dim=-1), (4, 5), (4, 5)),
    "solve": (lambda a, b: torch.linalg.solve(a @ a.mT + 3 * torch.eye(4, device=a.device), b), (4, 4), (4, 3)),
    "index": (lambda a, b: a[torch.tensor([0, 0, 2], device=a.device)] + b, (4, 5), (3, 5)),
    "cumsum": (lambda a, b: (a * b).cumsum(0), (4, 5), (4, 5)),
    "std": (lambda a, b: (a + b).std(1), (4, 5), (4, 5)),
    "grid_sample": (lambda a, b: F.grid_sample(a, b.tanh(), align_corners=False), (1, 2, 4, 4), (1, 3, 3, 2)),
    "fft": (lambda a, b: torch.fft.irfft(torch.fft.rfft(a) * torch.fft.rfft(b)), (4, 6), (4, 6)),
}


@pytest.mark.parametrize("gradient", [expanded, partly_expanded, transposed, strided], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", needing("cpu_rules", {"sdpa"}, FUNCTIONS))
def test_functions_of_two_tensors(name, gradient):
    """B2: the same for the functions under the layers, with operands that are not contiguous either."""
    function, *shapes = FUNCTIONS[name]
    inputs = [torch.randn(shape) for shape in shapes]
    results = []
    for device in ("cpu", DEVICE):
        leaves = [x.to(device).requires_grad_() for x in inputs]
        y = function(*leaves)
        results.append([y, *torch.autograd.grad(y, leaves, gradient(y))])
    for w, f in zip(*results, strict=True):
        assert f.stride() == w.stride()
        torch.testing.assert_close(f.detach().cpu(), w.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_reported_model(dtype):
    """B2: a sum straight behind a Linear, in other precisions too."""
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(1)
        layer = nn.Linear(256, 256).to(device, dtype)
        x = torch.ones(2, 64, 256, device=device, dtype=dtype, requires_grad=True)
        layer(x).sum().backward()
        results.append([x.grad.cpu(), layer.weight.grad.cpu(), layer.bias.grad.cpu()])
    for w, f in zip(*results, strict=True):
        assert torch.equal(f, w)
