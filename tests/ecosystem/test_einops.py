"""einops: rearrangements by name, and its layers."""

import einops
import pytest
import torch
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

from .conftest import DEVICE, twins

PATTERNS = [
    ("rearrange", "b c (h p) (w q) -> b (h w) (c p q)", {"p": 2, "q": 4}),
    ("rearrange", "b c h w -> w h c b", {}),
    ("rearrange", "b c h w -> (b c h w)", {}),
    ("reduce", "b c (h p) w -> b c h", {"p": 2, "reduction": "mean"}),
    ("reduce", "b c h w -> b () h ()", {"reduction": "max"}),
    ("reduce", "b c h w -> c", {"reduction": "prod"}),
    ("repeat", "b c h w -> b (c k) h (w m)", {"k": 3, "m": 2}),
    ("repeat", "b c h w -> new b c h w", {"new": 2}),
]


@pytest.mark.parametrize(("function", "pattern", "options"), PATTERNS)
def test_patterns_give_what_the_cpu_gives(function, pattern, options, same):
    values = torch.randn(2, 3, 4, 8)
    given, copied = values.clone().requires_grad_(), values.to(DEVICE).requires_grad_()
    wanted, found = (getattr(einops, function)(v, pattern, **options) for v in (given, copied))
    same(found, wanted)
    assert found.stride() == wanted.stride()
    wanted.square().sum().backward()
    found.square().sum().backward()
    same(copied.grad, given.grad)


def test_a_rearranged_view_shares_its_memory():
    values = torch.zeros(2, 3, device=DEVICE)
    einops.rearrange(values, "a b -> b a")[2, 1] = 7
    assert values[1, 2].item() == 7


def test_sums_by_name_give_what_the_cpu_gives(same):
    a, b = torch.randn(2, 3, 5), torch.randn(2, 5, 4)
    wanted = einops.einsum(a, b, "batch i k, batch k j -> batch i j")
    same(einops.einsum(a.to(DEVICE), b.to(DEVICE), "batch i k, batch k j -> batch i j"), wanted)


def test_packing_and_unpacking_give_what_the_cpu_gives(same):
    parts = [torch.randn(2, 3, 4), torch.randn(2, 5)]
    wanted, shapes = einops.pack(parts, "b *")
    found, found_shapes = einops.pack([part.to(DEVICE) for part in parts], "b *")
    same(found, wanted)
    assert found_shapes == shapes
    same(einops.unpack(found * 2, shapes, "b *"), einops.unpack(wanted * 2, shapes, "b *"))


def test_layers_train_as_on_the_cpu(same):
    model, copied = twins(
        nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=2, q=2),
            EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=12, d=6),
            Reduce("b t d -> b d", "mean"),
        )
    )
    images = torch.randn(2, 3, 8, 8)
    for each in (model, copied):
        each(images.to(next(each.parameters()).device)).square().sum().backward()
    same([p.grad for p in copied.parameters()], [p.grad for p in model.parameters()])
