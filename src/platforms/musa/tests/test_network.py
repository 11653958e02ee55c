"""Convolutions, normalisations, pooling, and a whole training step."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

CASES = {
    "2d": (F.conv2d, (2, 4, 9, 8), (6, 4, 3, 3), {"stride": 2, "padding": 1}),
    "dilated": (F.conv2d, (2, 4, 9, 8), (6, 4, 3, 2), {"dilation": (2, 1), "padding": (2, 0)}),
    "grouped": (F.conv2d, (2, 4, 7, 7), (8, 2, 3, 3), {"groups": 2}),
    "depthwise": (F.conv2d, (2, 4, 7, 7), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
    "1d": (F.conv1d, (2, 4, 11), (6, 4, 3), {"stride": 2, "padding": 1}),
    "1x1": (F.conv2d, (2, 4, 5, 5), (6, 4, 1, 1), {}),
    "transposed": (F.conv_transpose2d, (2, 4, 5, 6), (4, 3, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    "transposed 1d": (F.conv_transpose1d, (2, 4, 6), (4, 2, 3), {"stride": 2, "groups": 2}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "plain"])
def test_convolution_and_its_gradients(native, case, biased):
    function, input_shape, weight_shape, options = CASES[case]
    channels = weight_shape[1] * options.get("groups", 1) if "transposed" in case else weight_shape[0]

    def both(x, w, b):
        x, w, b = (t.detach().requires_grad_() for t in (x, w, b))
        y = function(x, w, b if biased else None, **options)
        y.backward(torch.linspace(-1, 1, y.numel(), device=y.device).view_as(y))
        return [y, x.grad, w.grad, *([b.grad] if biased else [])]

    arguments = torch.randn(input_shape), torch.randn(weight_shape), torch.randn(channels)
    native("convolution", both, *arguments, rtol=1e-4, atol=1e-4)
    native("convolution_backward", both, *arguments, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_convolution_of_other_types(native, dtype):
    native("convolution", F.conv2d, torch.randn(1, 3, 6, 6).to(dtype), torch.randn(4, 3, 3, 3).to(dtype), rtol=2e-2, atol=2e-2)


def test_three_dimensions_are_the_cpus(backends):
    x, w = torch.randn(1, 2, 4, 4, 4), torch.randn(3, 2, 2, 2, 2)
    torch.testing.assert_close(F.conv3d(x.to("flagos"), w.to("flagos")).cpu(), F.conv3d(x, w))
    assert "cpu" in backends("convolution")


def test_an_invalid_convolution_is_refused_in_pytorchs_words():
    with pytest.raises(RuntimeError, match="expected input"):
        F.conv2d(torch.ones(1, 3, 5, 5, device="flagos"), torch.ones(2, 4, 3, 3, device="flagos"))


def test_conv2d_without_batch(native):
    native("convolution", F.conv2d, torch.randn(3, 6, 6), torch.randn(4, 3, 3, 3), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [lambda: nn.Conv2d(3, 4, 3), lambda: nn.ConvTranspose2d(3, 4, 3), lambda: nn.BatchNorm2d(3)])
def test_channels_last_stay_last(backends, make):
    last = torch.channels_last
    x = torch.randn(2, 3, 5, 6).to("flagos", memory_format=last).requires_grad_()
    y = make().to("flagos")(x)
    y.sum().backward()
    assert y.is_contiguous(memory_format=last) and x.grad.is_contiguous(memory_format=last)
    assert backends("native_batch_norm") | backends("convolution") == {"musa"}


def gradients_of(module, x):
    module = module.to(x.device)
    x = x.detach().requires_grad_()
    y = module(x)
    y.backward(torch.linspace(-1, 1, y.numel(), device=y.device).view_as(y))
    return [y, x.grad, *(p.grad for p in module.parameters()), *module.buffers()]


def seeded(make):
    torch.manual_seed(5)
    module = make()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.rand_like(parameter) + 0.5)
    return module


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 4, 6)], ids=str)
def test_layer_norm(native, shape):
    def run(x):
        return gradients_of(seeded(lambda: nn.LayerNorm(shape[-1])), x)

    native("native_layer_norm", run, torch.randn(shape), rtol=1e-4, atol=1e-5)
    native("native_layer_norm_backward", run, torch.randn(shape), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_batch_norm(native, training):
    def run(x):
        return gradients_of(seeded(lambda: nn.BatchNorm2d(3)).train(training), x)

    native("native_batch_norm", run, torch.randn(4, 3, 5, 5), rtol=1e-4, atol=1e-5)
    native("native_batch_norm_backward", run, torch.randn(4, 3, 5, 5), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"stride": 1, "padding": 1}, {"dilation": 2}, {"ceil_mode": True}], ids=str)
def test_max_pool(native, options):
    def run(x):
        return gradients_of(nn.MaxPool2d(3 if options else 2, **options), x)

    x = torch.randperm(2 * 3 * 8 * 7).view(2, 3, 8, 7).float()
    native("max_pool2d_with_indices", run, x)
    native("max_pool2d_with_indices_backward", run, x)


def steps(device, model, data, count=3):
    torch.manual_seed(1)
    model = model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x, target = (t.to(device) for t in data)
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, -2), target.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().cpu())
    return torch.stack(losses)


def small_cnn():
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, activation="gelu")
        self.head = nn.Linear(16, 20)

    def forward(self, x):
        return self.head(self.layer(self.embedding(x)))


@pytest.mark.parametrize("name", ["cnn", "transformer"])
def test_training_equals_the_cpu(backends, name):
    if name == "cnn":
        model, data = small_cnn, (torch.randn(8, 1, 8, 8), torch.randint(0, 10, (8,)))
    else:
        model, data = Transformer, (torch.randint(0, 20, (4, 6)), torch.randint(0, 20, (4, 6)))
    torch.testing.assert_close(steps("flagos", model, data), steps("cpu", model, data), rtol=1e-4, atol=1e-4)
    for operator in ("convolution", "native_batch_norm", "addmm") if name == "cnn" else ("mm", "native_layer_norm", "gelu"):
        assert backends(operator) == {"musa"}
