"""Nested, quantized and oneDNN tensors: what works, and one clear sentence for what does not."""

import pytest
import torch
from torch import nn

DEVICE = "flagos"

pytestmark = pytest.mark.filterwarnings("ignore:.*prototype stage", "ignore:.*quantized tensor creation functions")


def rows(device):
    return [torch.arange(3.0, device=device), torch.arange(5.0, device=device) + 1]


def jagged(device, width=None, **options):
    parts = rows(device) if width is None else [r[:, None].expand(-1, width) for r in rows(device)]
    return torch.nested.nested_tensor([p.clone() for p in parts], layout=torch.jagged, **options)


JAGGED = {
    "add": lambda t: t + 1,
    "mul": lambda t: t * t,
    "sin": torch.sin,
    "relu": torch.relu,
    "clone": torch.clone,
    "to double": lambda t: t.double(),
    "sum": lambda t: t.sum(dim=1),
    "softmax": lambda t: torch.softmax(t.unsqueeze(-1), dim=1).squeeze(-1),
    "unsqueeze": lambda t: t.unsqueeze(-1),
    "detach": lambda t: t.detach(),
    "neg": torch.neg,
}


@pytest.mark.parametrize("name", JAGGED)
def test_jagged_tensors(name):
    wanted, found = JAGGED[name](jagged("cpu")), JAGGED[name](jagged(DEVICE))
    assert found.device.type == DEVICE and found.is_nested == wanted.is_nested
    for f, w in zip(found.unbind(), wanted.unbind(), strict=True):
        torch.testing.assert_close(f.cpu(), w)


def test_jagged_tensors_move_and_train():
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(1)
        layer = nn.Linear(4, 2).to(device)
        x = jagged("cpu", 4, requires_grad=True)
        y = layer(x.to(device))
        assert y.device.type == device
        torch.nested.to_padded_tensor(y, 0.0).square().sum().backward()
        results.append([layer.weight.grad.cpu(), x.grad.values().cpu()])
    for w, f in zip(*results, strict=True):
        torch.testing.assert_close(f, w)


def test_padding_and_back():
    x = jagged(DEVICE)
    padded = torch.nested.to_padded_tensor(x, -1.0)
    assert padded.tolist() == [[0, 1, 2, -1, -1], [1, 2, 3, 4, 5]] and padded.is_flagos
    assert [p.tolist() for p in x.cpu().unbind()] == [[0, 1, 2], [1, 2, 3, 4, 5]]
    assert torch.nested.as_nested_tensor(rows(DEVICE), layout=torch.jagged).is_nested
    assert "NestedTensor" in repr(x)


def one_sentence(error, *words):
    text = str(error.value)
    assert "flagos" in text and all(w in text for w in words), text
    assert len(text.splitlines()) == 1 and "INTERNAL ASSERT" not in text and "Could not run" not in text, text


STRIDED_NESTED = {
    "made of device tensors": lambda: torch.nested.nested_tensor(rows(DEVICE)),
    "made on the device": lambda: torch.nested.nested_tensor(rows("cpu"), device=DEVICE),
    "moved": lambda: torch.nested.nested_tensor(rows("cpu")).to(DEVICE),
    "as nested": lambda: torch.nested.as_nested_tensor(rows(DEVICE)),
}


@pytest.mark.parametrize("name", STRIDED_NESTED)
def test_the_strided_nested_layout_names_the_other(name):
    """It works, or one sentence says that the jagged layout does."""
    try:
        x = STRIDED_NESTED[name]() + 1
        assert [p.tolist() for p in x.unbind()] == [[1, 2, 3], [2, 3, 4, 5, 6]]
    except NotImplementedError as error:
        text = str(error)
        assert "nested" in text and "torch.jagged" in text and "flagos" in text
        assert len(text.splitlines()) == 1 and "Could not run" not in text, text


QUANTIZED = {
    "per tensor": lambda: torch.quantize_per_tensor(torch.ones(3, device=DEVICE), 0.1, 0, torch.quint8),
    "per channel": lambda: torch.quantize_per_channel(
        torch.ones(2, 2, device=DEVICE), torch.ones(2, device=DEVICE), torch.zeros(2, device=DEVICE), 0, torch.qint8
    ),
    "moved": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8).to(DEVICE),
    "empty": lambda: torch._empty_affine_quantized((2,), scale=1.0, zero_point=0, dtype=torch.quint8, device=DEVICE),
    "dynamic": lambda: torch.quantize_per_tensor_dynamic(torch.ones(3, device=DEVICE), torch.quint8, False),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_tensors_are_refused_in_one_sentence(name):
    with pytest.raises((NotImplementedError, RuntimeError)) as error:
        QUANTIZED[name]()
    one_sentence(error, "quantized")


def test_fake_quantization_works(same):
    x = torch.linspace(-1, 1, 9)
    same(
        torch.fake_quantize_per_tensor_affine(x.to(DEVICE), 0.1, 0, -128, 127),
        torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127),
    )
    scale, zero = torch.full((3,), 0.1), torch.zeros(3, dtype=torch.int32)
    same(
        torch.fake_quantize_per_channel_affine(x.view(3, 3).to(DEVICE), scale.to(DEVICE), zero.to(DEVICE), 0, -128, 127),
        torch.fake_quantize_per_channel_affine(x.view(3, 3), scale, zero, 0, -128, 127),
    )


def test_int8_products(same):
    """What weight-only quantization needs: integer matrices and scaled products of floats."""
    a = torch.randint(-128, 127, (32, 32), dtype=torch.int8)
    same(torch._int_mm(a.to(DEVICE), a.to(DEVICE)), torch._int_mm(a, a))


def test_other_layouts_are_refused_in_one_sentence():
    with pytest.raises((NotImplementedError, RuntimeError)) as error:
        torch.ones(2, device=DEVICE).to_mkldnn()
    one_sentence(error)
