"""scaled_dot_product_attention: a composite operator with a route and a rule of its own."""

RULE = "scaled_dot_product_attention = flaggems[ndim=4, size.-1=32, attn_mask=none, dropout_p=0, scale=none], none\n"

PRELUDE = """
import torch
from torch.nn.functional import scaled_dot_product_attention as attention
from torch_fl import _C

def served():
    return _C.dispatch_counts().get(("scaled_dot_product_attention", "flaggems"), 0)

def operands(device, dtype=torch.float32):
    values = torch.linspace(-1, 1, 3 * 2 * 32 * 32).view(3, 1, 2, 32, 32)
    return [part.to(device, dtype, copy=True).requires_grad_() for part in values]

def gradients(device, run):
    parts = operands(device)
    run(*parts).square().sum().backward()
    return [part.grad.cpu() for part in parts]
"""


def test_the_kernel_serves_what_the_rule_admits(python):
    python(
        PRELUDE
        + """
import torch_fl_triton_host
with torch.no_grad():
    for causal in (False, True):
        found, wanted = attention(*operands("flagos"), is_causal=causal), attention(*operands("cpu"), is_causal=causal)
        torch.testing.assert_close(found.cpu(), wanted)
    assert served() == 2 and torch_fl_triton_host.launches()["_attn_fwd"] >= 2
    query, key, value = operands("flagos")
    attention(query, key, value, attn_mask=torch.ones(32, 32, dtype=torch.bool, device="flagos"))
    attention(query, key, value, scale=0.5)
    attention(query[..., :16], key[..., :16], value)
    assert served() == 2, "the rule leaves these to PyTorch"
""",
        routes=RULE,
    )


def test_gradients_are_those_of_the_composition(python):
    python(
        PRELUDE
        + """
for found, wanted in zip(gradients("flagos", attention), gradients("cpu", attention)):
    torch.testing.assert_close(found, wanted)
assert served() == 0
""",
        routes=RULE,
    )


def test_autocast_lowers_it_first(python):
    python(
        PRELUDE
        + """
with torch.no_grad(), torch.autocast("flagos", dtype=torch.bfloat16):
    found = attention(*operands("flagos"))
assert found.dtype == torch.bfloat16 and served() == 1
with torch.no_grad():
    wanted = attention(*operands("cpu", torch.bfloat16))
torch.testing.assert_close(found.cpu(), wanted, rtol=2e-2, atol=2e-2)
""",
        routes=RULE,
    )


def test_what_is_traced_or_transformed_is_taken_apart(python):
    python(
        PRELUDE
        + """
from torch.func import grad, vmap
traced = torch.compile(attention, backend="aot_eager")
for found, wanted in zip(gradients("flagos", traced), gradients("cpu", attention)):
    torch.testing.assert_close(found, wanted)
assert served() == 0
on_device, on_cpu = operands("flagos"), operands("cpu")
mapped = [vmap(attention)(*parts) for parts in (on_device, on_cpu)]
slopes = [grad(lambda q, k, v: attention(q, k, v).sum())(*parts) for parts in (on_device, on_cpu)]
for found, wanted in (mapped, slopes):
    torch.testing.assert_close(found.cpu(), wanted)
""",
        routes=RULE,
    )
