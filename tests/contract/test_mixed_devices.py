"""Tensors of two devices in one call: CUDA's error, CUDA's exceptions to it, and never a wrong result."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_fl.evidence import capabilities

from .conftest import needing

DEVICE = "flagos"


def a():
    return torch.ones(4, 4, device=DEVICE)


def b():
    return torch.ones(4, 4)


MIXED = {
    "add": lambda: a() + b(),
    "add, cpu first": lambda: b() + a(),
    "add in place": lambda: a().add_(b()),
    "add in place on the cpu": lambda: b().add_(a()),
    "out on the cpu": lambda: torch.add(a(), 1, out=b()),
    "out on the device": lambda: torch.add(b(), 1, out=a()),
    "mul": lambda: torch.mul(a(), b()),
    "compare": lambda: a() == b(),
    "atan2": lambda: torch.atan2(b(), a()),
    "lerp": lambda: torch.lerp(a(), a(), b()),
    "addcmul": lambda: torch.addcmul(a(), b(), a()),
    "where": lambda: torch.where(a() > 0, b(), b()),
    "where, condition on the cpu": lambda: torch.where(b() > 0, a(), a()),
    "masked_fill": lambda: a().masked_fill(b() > 0, 1.0),
    "mm": lambda: torch.mm(a(), b()),
    "mm, cpu first": lambda: torch.mm(b(), a()),
    "matmul": lambda: a() @ b()[0],
    "bmm": lambda: torch.bmm(a()[None], b()[None]),
    "addmm": lambda: torch.addmm(b(), a(), a()),
    "baddbmm": lambda: torch.baddbmm(a()[None], a()[None], b()[None]),
    "dot": lambda: torch.dot(a()[0], b()[0]),
    "mv": lambda: torch.mv(a(), b()[0]),
    "einsum": lambda: torch.einsum("ij,jk->ik", a(), b()),
    "linear": lambda: F.linear(a(), b()),
    "linear, bias on the cpu": lambda: F.linear(a(), a(), b()[0]),
    "a module left behind": lambda: nn.Linear(4, 4)(a()),
    "an input left behind": lambda: nn.Linear(4, 4).to(DEVICE)(b()),
    "conv1d": lambda: F.conv1d(a()[None], b()[:, :, None]),
    "conv2d": lambda: F.conv2d(a()[None, None], b()[None, None]),
    "batch norm": lambda: nn.BatchNorm1d(4)(a()),
    "layer norm": lambda: nn.LayerNorm(4)(a()),
    "group norm": lambda: nn.GroupNorm(2, 4)(a()),
    "embedding": lambda: F.embedding(torch.tensor([1]), a()),
    "embedding, weight on the cpu": lambda: F.embedding(torch.tensor([1], device=DEVICE), b()),
    "embedding bag": lambda: F.embedding_bag(torch.tensor([[1, 2]]), a()),
    "cross entropy": lambda: F.cross_entropy(a(), torch.zeros(4, dtype=torch.int64)),
    "nll": lambda: F.nll_loss(a(), torch.zeros(4, dtype=torch.int64)),
    "mse": lambda: F.mse_loss(a(), b()),
    "bce": lambda: F.binary_cross_entropy(a(), b()),
    "kl": lambda: F.kl_div(a(), b()),
    "attention": lambda: F.scaled_dot_product_attention(a()[None], b()[None], b()[None]),
    "attention mask": lambda: F.scaled_dot_product_attention(a()[None], a()[None], a()[None], attn_mask=b()),
    "cat": lambda: torch.cat([a(), b()]),
    "cat, cpu first": lambda: torch.cat([b(), a()]),
    "stack": lambda: torch.stack([a(), b()]),
    "index_select": lambda: a().index_select(0, torch.tensor([0])),
    "gather": lambda: a().gather(0, torch.zeros(4, 4, dtype=torch.int64)),
    "scatter": lambda: a().scatter(0, torch.zeros(4, 4, dtype=torch.int64, device=DEVICE), b()),
    "scatter_add": lambda: a().scatter_add(0, torch.zeros(4, 4, dtype=torch.int64), a()),
    "index_add": lambda: a().index_add(0, torch.arange(4, device=DEVICE), b()),
    "index_copy": lambda: a().index_copy(0, torch.arange(4, device=DEVICE), b()),
    "take": lambda: a().take(torch.tensor([0])),
    "searchsorted": lambda: torch.searchsorted(a()[0], b()[0]),
    "bucketize": lambda: torch.bucketize(a(), b()[0]),
    "isin": lambda: torch.isin(a(), b()),
    "cdist": lambda: torch.cdist(a(), b()),
    "grid_sample": lambda: F.grid_sample(a()[None, None], torch.zeros(1, 2, 2, 2), align_corners=False),
    "cross": lambda: torch.linalg.cross(a()[:, :3], b()[:, :3]),
    "solve": lambda: torch.linalg.solve(torch.eye(4, device=DEVICE), b()),
    "lstsq": lambda: torch.linalg.lstsq(a(), b()),
    "complex": lambda: torch.complex(a(), b()),
    "polar": lambda: torch.polar(a(), b()),
    "normal": lambda: torch.normal(a(), b()),
    "foreach": lambda: torch._foreach_mul([a()], [b()]),
    "amp": lambda: torch._amp_foreach_non_finite_check_and_unscale_([a()], b()[0, 0].clone()[None], a()[0, 0]),
    "cumulative with out": lambda: torch.cumsum(a(), 0, out=b()),
    "sort with out": lambda: torch.sort(a(), out=(b(), torch.zeros(4, 4, dtype=torch.int64))),
    "max with out": lambda: torch.max(a(), 0, out=(a(), torch.zeros(4, dtype=torch.int64))),
    "meta": lambda: a() + torch.ones(4, 4, device="meta"),
}

# A check of PyTorch's own Python or composite layer speaks first here, on CUDA as well.
OTHER_WORDS = {
    "attention": "device",
    "attention mask": "device",
    "isin": "device",
    "searchsorted": "device",
    "bucketize": "device",
    "meta": "meta",
    "solve": "device",
    "lstsq": "device",
}


# A check of the kernel's own speaks first where it is not the CPU's, which on an emulated card it is.
KERNELS_WORDS = {
    "masked_fill": "to be on the same device",
    "conv1d": "should be the same",
    "conv2d": "should be the same",
    "cumulative with out": "to have device flagos:0",
    "max with out": "to have device flagos:0",
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_calls_are_refused_in_the_words_of_cuda(name):
    """RuntimeError, the well-known sentence, both devices named, and no operand changed."""
    with pytest.raises(RuntimeError) as caught:
        MIXED[name]()
        torch.flagos.synchronize()
    text = str(caught.value)
    own_words = capabilities.missing("cpu_rules") and not capabilities.build()["emulated_sdk"]
    others = OTHER_WORDS | (KERNELS_WORDS if own_words else {})
    if name in others:
        assert others[name] in text
    else:
        assert text.startswith("Expected all tensors to be on the same device, but "), text
        assert "flagos:0" in text and "cpu" in text
    assert "INTERNAL ASSERT" not in text and len(text.splitlines()) < 4


def test_recurrent_layers_say_where_they_are():
    with pytest.raises(RuntimeError, match="Input and parameter tensors are not at the same device"):
        nn.LSTM(4, 4)(a())
    with pytest.raises(RuntimeError, match="Input and hidden tensors are not at the same device"):
        nn.LSTM(4, 4).to(DEVICE)(a(), (torch.ones(1, 4), torch.ones(1, 4)))


@pytest.mark.devices(2)
@pytest.mark.parametrize("work", [torch.add, torch.mm, lambda x, y: torch.cat([x, y]), F.linear, torch.cdist])
def test_two_devices_are_named(work):
    with pytest.raises(RuntimeError, match="^Expected all tensors to be on the same device, but ") as caught:
        work(torch.ones(2, 2, device="flagos:0"), torch.ones(2, 2, device="flagos:1"))
    text = str(caught.value)
    # A kernel of another device than the CPU says which argument is where.
    assert "found at least two devices, flagos:0 and flagos:1" in text or (
        capabilities.missing("cpu_rules") and "is on flagos:1, different from other tensors on flagos:0" in text
    )


SCALAR = torch.tensor(2.0)

ALLOWED = {
    "scalar of the cpu": lambda x: x * SCALAR,
    "scalar first": lambda x: SCALAR - x,
    "in place": lambda x: x.clone().add_(SCALAR),
    "where": lambda x: torch.where(x > 0, x, SCALAR),
    "clamp": lambda x: torch.clamp(x, min=SCALAR),
    "index by the cpu": lambda x: x[torch.tensor([0, 1])],
    "mask by the cpu": lambda x: x[torch.tensor([True, False, True, False])],
    "fill": lambda x: x.clone().fill_(SCALAR),
    "masked_fill": lambda x: x.masked_fill(x > 0, SCALAR),
    "index_put": lambda x: x.clone().index_put_((torch.tensor([0]),), SCALAR),
    "foreach by a scalar": lambda x: torch._foreach_mul([x], SCALAR)[0],
    "copy_": lambda x: torch.empty_like(x).copy_(torch.arange(16.0).view(4, 4)),
    "slice assignment": lambda x: (lambda t: (t.__setitem__(0, torch.arange(4.0)), t)[1])(x.clone()),
    "pow": lambda x: SCALAR**x,
    "lerp": lambda x: torch.lerp(x, x + 1, 0.5),
    "addcmul": lambda x: torch.addcmul(x, x, SCALAR),
    "floor_divide": lambda x: x // SCALAR,
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
    "tensor_split": lambda x: torch.cat(x.tensor_split(torch.tensor([1, 3]))),
    "pad_sequence": lambda x: nn.utils.rnn.pad_sequence([x, x[:2]]),
    "packed lengths": lambda x: nn.utils.rnn.pack_padded_sequence(x[:, :, None], torch.tensor([4, 3, 2, 1])).data,
    "bool of a comparison": lambda x: torch.tensor(bool((x.sum() == SCALAR).item())),
}


@pytest.mark.parametrize("name", needing("cpu_rules", {"clamp"}, ALLOWED))
def test_what_cuda_allows_works(name):
    """0-d tensors, indices and lengths may come from the CPU; the result is on the device."""
    x = torch.arange(16.0).view(4, 4)
    found, wanted = ALLOWED[name](x.to(DEVICE)), ALLOWED[name](x)
    torch.testing.assert_close(found.cpu(), wanted)
    assert found.device.type == DEVICE or name == "bool of a comparison"


def test_a_scalar_of_the_device_is_no_operand_of_a_cpu_tensor():
    """As CUDA: a 0-d device tensor does not mix with a CPU vector."""
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(3) * torch.tensor(2.0, device=DEVICE)


def test_generators_must_be_of_the_device():
    with pytest.raises(RuntimeError, match="Expected a 'flagos' device type for generator but found 'cpu'"):
        torch.rand(2, device=DEVICE, generator=torch.Generator())
    with pytest.raises(RuntimeError, match="same device|Expected a 'cpu' device type for generator but found 'flagos'"):
        torch.rand(2, generator=torch.Generator(DEVICE))
