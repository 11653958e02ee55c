"""Gradients, modules and attention: PyTorch's formulas above, the target's kernels below."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as attention

from .conftest import DEVICE, moved, same


def test_gradients_are_the_cpus(boxed):
    x, w = torch.randn(4, 3), torch.randn(3, 2)
    outcome = []
    for device in ("cpu", DEVICE):
        one, two = (t.detach().to(device).requires_grad_() for t in (x, w))
        (one @ two).tanh().square().mean().backward()
        outcome.append([one.grad, two.grad])
    boxed("mm", "tanh", "tanh_backward")
    same(outcome[1], outcome[0])


def test_second_derivatives():
    x = moved(torch.tensor([0.5, 2.0])).requires_grad_()
    (first,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    same(second, torch.tensor([3.0, 12.0]))


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3))


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_network_trains_as_on_the_cpu(optimizer, boxed):
    x, y = torch.randn(5, 3, 4, 4), torch.tensor([0, 1, 2, 1, 0])
    losses = {}
    for device in ("cpu", DEVICE):
        model = network().to(device)
        steps = optimizer(model.parameters(), lr=0.01)
        losses[device] = []
        for _ in range(3):
            steps.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            steps.step()
            losses[device].append(loss.item())
    boxed("convolution", "convolution_backward", "native_batch_norm", "gelu", "addmm")
    assert losses[DEVICE] == pytest.approx(losses["cpu"], rel=1e-4)


@pytest.mark.parametrize("form", ["plain", "causal", "float mask", "bool mask", "grouped"])
@pytest.mark.parametrize("gradients", [False, True])
def test_attention_is_right_with_every_mask(form, gradients):
    q, k, v = (torch.randn(2, 4, 8, 16) for _ in range(3))
    keywords = {"is_causal": form == "causal"}
    if form == "float mask":
        keywords["attn_mask"] = torch.randn(8, 8)
    if form == "bool mask":
        keywords["attn_mask"] = torch.ones(8, 8).tril().bool()
    if form == "grouped":
        k, v, keywords["enable_gqa"] = k[:, :2], v[:, :2], True
    outcome = []
    for device in ("cpu", DEVICE):
        inputs = [t.detach().to(device).requires_grad_(gradients) for t in (q, k, v)]
        there = {name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in keywords.items()}
        found = attention(*inputs, **there)
        outcome.append([found.contiguous(), *(torch.autograd.grad(found.square().sum(), inputs) if gradients else ())])
    for one, other in zip(outcome[1], outcome[0]):
        assert one.device.type == DEVICE
        torch.testing.assert_close(one.detach().cpu(), other.detach(), rtol=2e-4, atol=2e-5)


def test_attention_reaches_the_targets_fused_kernel(boxed, native):
    dtype, kernel = (torch.float32, "_scaled_dot_product_flash_attention_for_cpu") if native == "cpu" else (
        torch.bfloat16, "_scaled_dot_product_fused_attention_overrideable")  # fmt: skip
    if native == "cuda" and not torch._C._dispatch_has_kernel_for_dispatch_key("aten::_scaled_dot_product_flash_attention", "CUDA"):
        pytest.skip("this PyTorch has no fused attention for CUDA")
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        attention(*(torch.randn(1, 2, 8, 16, dtype=dtype, device=DEVICE) for _ in range(3)), is_causal=True)
    boxed("_fused_sdp_choice", kernel)


def test_inference_mode_and_functional_transforms():
    x = torch.randn(3, 4)
    with torch.inference_mode():
        y = moved(x).sin()
        assert y.is_inference()
        same(y.add_(1), x.sin() + 1)
    same(torch.func.vmap(torch.func.grad(lambda t: t.sin().sum()))(moved(x)), x.cos())


def test_deep_copies_and_views_keep_device_and_storage():
    base = moved(torch.arange(6.0))
    pair = copy.deepcopy([base, base[2:]])
    assert pair[0].untyped_storage().data_ptr() == pair[1].untyped_storage().data_ptr() != base.untyped_storage().data_ptr()
    pair[0].zero_()
    same(pair[1], torch.zeros(4))
    same(base, torch.arange(6.0))
    for view in (base.view(2, 3).t(), base[1::2], base.unfold(0, 2, 2), base.detach(), base.expand(2, 6), base.view(torch.int32)):
        assert view.device == base.device and view.untyped_storage().device == base.device
        assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
