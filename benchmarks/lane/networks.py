"""The networks that are measured, in plain PyTorch: a small transformer, and a decoder of Qwen3-0.6B's shape."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder; those of Qwen3-0.6B unless something else is said."""

    layers: int = 28
    hidden: int = 1024
    heads: int = 16
    groups: int = 8  # heads of keys and values
    head: int = 128
    inner: int = 3072
    words: int = 151936


SMALL = Shape(layers=2, hidden=32, heads=4, groups=2, head=8, inner=64, words=100)


class Layer(nn.Module):
    """Attention and two products, each after a normalisation."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Transformer(nn.Module):
    """Words (batch, length) to logits (batch, length, words)."""

    def __init__(self, layers: int = 4, width: int = 1024, heads: int = 16, words: int = 8192) -> None:
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(words, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.layers(self.embed(tokens))))


class Cache:
    """Keys and values of a decoder's layers, with room for `length` words; `place` (1,) is where the next one goes."""

    def __init__(self, shape: Shape, batch: int, length: int, like: torch.Tensor) -> None:
        self.keys, self.values = (
            [like.new_zeros(batch, shape.groups, length, shape.head) for _ in range(shape.layers)] for _ in range(2)
        )
        self.place = torch.zeros(1, dtype=torch.int64, device=like.device)
        self.every = torch.arange(length, device=like.device)


class Attention(nn.Module):
    """Rotated, normalised heads, of which several share keys and values."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.q = nn.Linear(shape.hidden, shape.heads * shape.head, bias=False)
        self.k, self.v = (nn.Linear(shape.hidden, shape.groups * shape.head, bias=False) for _ in range(2))
        self.o = nn.Linear(shape.heads * shape.head, shape.hidden, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(shape.head, eps=1e-6), nn.RMSNorm(shape.head, eps=1e-6)

    def forward(self, x: torch.Tensor, turn: tuple, cache: Cache | None, layer: int) -> torch.Tensor:
        q, k, v = (
            product(x).unflatten(-1, (-1, self.shape.head)).transpose(1, 2) for product in (self.q, self.k, self.v)
        )
        q, k = rotated(self.q_norm(q), *turn), rotated(self.k_norm(k), *turn)
        mask = None
        if cache is not None:
            k = cache.keys[layer].index_copy_(2, cache.place, k)
            v = cache.values[layer].index_copy_(2, cache.place, v)
            mask = (cache.every <= cache.place)[None, None, None]
        k, v = (part.repeat_interleave(self.shape.heads // self.shape.groups, 1) for part in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.o(mixed.transpose(1, 2).flatten(2))


def rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat([-second, first], -1) * sine


class DecoderLayer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.before, self.between = nn.RMSNorm(shape.hidden, eps=1e-6), nn.RMSNorm(shape.hidden, eps=1e-6)
        self.attention = Attention(shape)
        self.gate, self.up = (nn.Linear(shape.hidden, shape.inner, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.inner, shape.hidden, bias=False)

    def forward(self, x: torch.Tensor, turn: tuple, cache: Cache | None, layer: int) -> torch.Tensor:
        x = x + self.attention(self.before(x), turn, cache, layer)
        inner = self.between(x)
        return x + self.down(F.silu(self.gate(inner)) * self.up(inner))


class Decoder(nn.Module):
    """Words (batch, length) to logits (batch, length, words); with a cache one word at a time, which is added to it."""

    def __init__(self, shape: Shape, length: int) -> None:
        super().__init__()
        self.shape, self.words = shape, shape.words
        self.embed = nn.Embedding(shape.words, shape.hidden)
        self.layers = nn.ModuleList(DecoderLayer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.hidden, eps=1e-6)
        rates = 1e6 ** -(torch.arange(0, shape.head, 2) / shape.head)
        angles = torch.outer(torch.arange(length), rates).repeat(1, 2)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens: torch.Tensor, cache: Cache | None = None) -> torch.Tensor:
        length = tokens.shape[1]
        turn = [table[:length] if cache is None else table[cache.place] for table in (self.cosine, self.sine)]
        x = self.embed(tokens)
        for number, layer in enumerate(self.layers):
            x = layer(x, turn, cache, number)
        return F.linear(self.norm(x), self.embed.weight)  # tied


def filled(make: Callable[[], nn.Module], device: torch.device, dtype: torch.dtype) -> nn.Module:
    """The network on a device with random weights, which follow from the device's kind of generator alone."""
    with device:
        network = make().to(dtype)
    generator = torch.Generator(device).manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.02, generator=generator)
    return network
