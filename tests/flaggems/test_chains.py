"""Chains with FlagGems in them: conditions, declining, calling the own operator again, gradients, kernels that are missing."""

import pytest

from .test_calls import PRELUDE, stubbed


def test_a_function_that_calls_its_own_operator_gets_the_next_step_once(stub, python):
    """L2: `mul` and `mul_` helpers that are written with PyTorch's own; in place keeps identity."""
    functions = """
def product(a, b):
    calls.append("mul")
    return torch.mul(a, b) + 100

def product_(a, b):
    calls.append("mul_")
    a *= b
    return a.add_(100)
"""
    routes = stubbed(stub, {"mul.Tensor": "product", "mul_.Tensor": "product_"}, functions)
    python(
        PRELUDE
        + """
q = torch.ones(4, device=D)
same = q
q *= 0.5
assert q is same and q.tolist() == [100.5] * 4, q
assert q.mul_(torch.tensor(2.0)) is same and q.tolist() == [301.0] * 4, q
assert (torch.ones(4, device=D) * 3).tolist() == [103.0] * 4
from flag_gems.ops import calls
assert calls == ["mul_", "mul_", "mul"], calls
assert served("mul.Tensor") == {"flaggems": 1, "cpu": 1} and served("mul_.Tensor") == {"flaggems": 2, "cpu": 2}
""",
        routes=routes,
    )


def test_two_functions_that_call_each_others_operator_end(stub, python):
    functions = """
def through_neg(x):
    return torch.neg(x)

def through_abs(x):
    return torch.abs(x)
"""
    routes = stubbed(stub, {"abs": "through_neg", "neg": "through_abs"}, functions)
    python(
        PRELUDE
        + """
x = torch.tensor([1.0, -2.0], device=D)
assert torch.abs(x).tolist() == [1, 2]  # abs -> neg -> abs, which is the CPU's now
assert torch.neg(x).tolist() == [-1, 2]
""",
        routes=routes,
    )


def test_not_implemented_declines_and_the_log_says_why(stub, python):
    """L1: a function that cannot take the tensor leaves the call to another route."""
    functions = """
def insists(x):
    if not x.is_cuda:
        raise NotImplementedError("only CUDA tensors")

def writes_first(x):
    raise NotImplementedError("not in place")
"""
    seven = "anything(lambda x: torch.full_like(x, 7))"
    routes = stubbed(stub, {"i0": "insists", "abs_": "writes_first", "exp": seven}, functions)
    done = python(
        PRELUDE
        + """
x = torch.tensor([0.0, 1.0], device=D)
assert torch.equal(torch.special.i0(x).cpu(), torch.special.i0(x.cpu()))
assert served("i0") == {"cpu": 1}
y = torch.tensor([-1.0], device=D)
assert y.abs_() is y and y.item() == 1
assert torch.exp(x).tolist() == [7, 7] and torch.exp(x[:0]).shape == (0,), "a kernel has nothing to do on nothing"
assert served("exp") == {"flaggems": 1, "cpu": 1}
""",
        routes=routes,
        FLAGOS_LOG="dispatch",
    )
    assert "[flagos declined] i0: flaggems (only CUDA tensors)" in done.stderr.splitlines()


def test_conditions_choose_the_step(stub, python):
    seven, row = "anything(lambda x: torch.full_like(x, 7))", "anything(lambda x, *rest, **named: x[0])"
    stubbed(stub, {"abs": seven, "exp": seven, "sum.dim_IntList": row})
    python(
        PRELUDE
        + """
def abs_of(*shape, dtype=torch.float32):
    return torch.full(shape, -1.0, device=D).to(dtype).abs().flatten()[0].item()
assert abs_of(4, 4) == 7 and abs_of(16, 4) == 7
assert abs_of(4, 4, dtype=torch.float64) == 1, "the dtype"
assert abs_of(4) == 1 and abs_of(2, 2, 2) == 1, "the number of dimensions"
assert abs_of(1, 4) == 1, "the number of elements"
exp = lambda x: x.exp().flatten()[0].item()
assert exp(torch.zeros(2, 3, device=D)) == 7 and exp(torch.zeros(2, 3, device=D).t()) == 1, "the layout"
x = torch.ones(3, 2, device=D)
assert x.sum(0, keepdim=True).tolist() == [[3, 3]] and served("sum.dim_IntList") == {"cpu": 1}
assert x.sum(0).tolist() == [1, 1] and served("sum.dim_IntList") == {"cpu": 1, "flaggems": 1}
""",
        routes="""
            abs = flaggems[dtype!=float64, ndim=2, numel>=16], none
            exp = flaggems[contiguous=true], none
            sum.dim_IntList = flaggems[keepdim=false], none
        """,
    )


def test_gradients_follow_pytorchs_formulas_through_flaggems_kernels(stub, python):
    routes = stubbed(
        stub,
        {
            "mul.Tensor": "anything(lambda a, b: torch.ops.aten.mul.Tensor(a, b))",
            "exp": "anything(lambda x: torch.exp(x))",
        },
    )
    python(
        PRELUDE
        + """
x = torch.tensor([1.0, 2.0], device=D, requires_grad=True)
(x * x).exp().sum().backward()
assert served("mul.Tensor")["flaggems"] >= 1 and served("exp")["flaggems"] == 1
expected = torch.tensor([1.0, 2.0], requires_grad=True)
(expected * expected).exp().sum().backward()
assert torch.equal(x.grad.cpu(), expected.grad)
from flag_gems.ops import calls
""",
        routes=routes,
    )


def test_composites_without_a_formula_are_served_where_no_gradient_is_lost(stub, python):
    """A plain function would cut the graph; one that records its own gradient serves with gradients too."""
    functions = """
class Thrice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        assert grad.is_contiguous()  # as FlagGems' own does; that of sum() is expanded
        return grad * 5

def rms_norm(x, shape, weight=None, eps=None):
    calls.append([x.is_contiguous()])
    return Thrice.apply(x)

def scaled_dot_product_attention(query, key, value, **named):
    return torch.full_like(query, 7)
"""
    stubbed(stub, {"square": "anything(lambda x: torch.full_like(x, 7))", "rms_norm": "rms_norm"}, functions)
    python(
        PRELUDE
        + """
x = torch.tensor([3.0], device=D, requires_grad=True)
torch.square(x).sum().backward()
assert x.grad.item() == 6 and served("square") == {}, "the composition has the gradient"
with torch.no_grad():
    assert torch.square(x).item() == 7 and served("square") == {"flaggems": 1}
x = torch.ones(4, 2, device=D).mT.requires_grad_()
torch.rms_norm(x, (4,)).sum().backward()
assert served("rms_norm") == {"flaggems": 1} and last() == [True]
assert x.grad.flatten()[0].item() == 5
q, k, v = (torch.ones(1, 1, 2, 4, device=D, requires_grad=True) for _ in range(3))
torch.nn.functional.scaled_dot_product_attention(q, k, v).sum().backward()
assert served("scaled_dot_product_attention") == {} and torch.allclose(v.grad.cpu(), torch.ones(1, 1, 2, 4))
with torch.no_grad():
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(out.cpu(), torch.ones(1, 1, 2, 4)), "the rule leaves causal attention to PyTorch"
    assert served("scaled_dot_product_attention") == {}
    assert torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0, 0, 0].item() == 7
assert served("scaled_dot_product_attention") == {"flaggems": 1}
""",
        routes="""
            square = flaggems, none
            rms_norm = flaggems, none
            scaled_dot_product_attention = flaggems[ndim=4, attn_mask=none, is_causal=false, scale=none], none
        """,
    )


def test_nothing_goes_to_flaggems_that_no_line_names(stub, python):
    stub('    ("abs", abs),', "def abs(x):\n    raise ValueError\n")
    python(PRELUDE + "assert torch.ones(1, device=D).abs().item() == 1 and 'flaggems' not in served('abs')")


def test_forced_the_whole_table_goes_to_flaggems(stub, python):
    stubbed(stub, {"abs": "anything(lambda x: torch.full_like(x, 7))"})
    done = python(
        PRELUDE + "assert torch.ones(1, device=D).abs().item() == 7",
        routes="neg = none\nexp = none\n",
        FLAGOS_FORCE_BACKEND="flaggems",
    )
    assert done.stderr.splitlines() == [
        "[flagos routes] no kernel in the forced backend, so they keep their route: exp, neg"
    ]


def test_missing_functions_are_said_at_import_and_the_next_step_serves(stub, python):
    """L3: one warning with number, names and remedy; an error where routes are strict."""
    stub('    ("abs", abs),', "def abs(x):\n    return x\n")
    routes = "abs = flaggems, none\n" + "".join(
        f"{op} = flaggems, none\n" for op in ("exp", "sin", "cos", "tan", "log", "neg")
    )
    code = "import torch, torch_fl\nprint(torch.ones(2, device='flagos').neg().tolist())"
    done = python(code, routes=routes, warn=True)
    assert done.stdout.strip() == "[-1.0, -1.0]"
    (said,) = [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert "6 routes name kernels that are missing here (flaggems: exp, sin, cos, tan, log and 1 more)" in said
    assert "torch-fl routes --missing" in said
    done = python("import torch_fl", routes=routes, check=False, FLAGOS_STRICT_ROUTES="1")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "ImportError: FLAGOS_STRICT_ROUTES: 6 routes name kernels that are missing"
    )


def test_another_version_is_said_at_import_and_the_device_works(stub, python):
    """K2"""
    stub('    ("abs", abs),', version="4.2.1")
    done = python(
        "import torch, torch_fl\nprint(torch.ones(2, device='flagos').abs().tolist())",
        routes="abs = flaggems",
        warn=True,
    )
    assert done.stdout.strip() == "[1.0, 1.0]"
    (said,) = [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert "FlagGems 4.2.1 is installed" in said and "works with FlagGems >=5.0,<5.1" in said


@pytest.mark.parametrize("ending", ["(x * x).sum().backward()", "torch.ones(2, device='flagos').abs()"])
def test_a_program_that_ends_right_after_its_last_kernel_exits_cleanly(stub, python, ending):
    routes = stubbed(stub, {"mul.Tensor": "anything(lambda a, b: torch.mul(a, b))", "abs": "first"})
    for _ in range(3):
        python(f"import torch\nx = torch.ones(3, device='flagos', requires_grad=True)\n{ending}", routes=routes)


def test_what_a_kernel_in_place_of_a_composition_would_lose(stub, python):
    """Tangents, and negation and conjugation that PyTorch has put off, are for the parts."""
    functions = """
def wrong(x):
    calls.append("square")
    return torch.full_like(x, 7)
"""
    routes = stubbed(stub, {"square": "wrong"}, functions)
    python(
        PRELUDE
        + """
import torch.autograd.forward_ad as forward
x = torch.tensor([1.0, 2.0], device=D)
assert torch.square(x).tolist() == [7, 7]
assert torch.square(torch._neg_view(x)).tolist() == [1, 4]
assert torch.square(torch.tensor([1j], device=D).conj()).tolist() == [-1]
with forward.dual_level():
    for mode in (torch.enable_grad, torch.no_grad):
        with mode():
            value, tangent = forward.unpack_dual(torch.square(forward.make_dual(x, torch.ones_like(x))))
        assert value.tolist() == [1, 4] and tangent.tolist() == [2, 4]
assert served("square") == {"flaggems": 1}
""",
        routes=routes,
        warn=True,  # PyTorch scripts its formulas of tangents, which it calls deprecated
    )


def test_copies_of_what_is_negated_or_conjugated_lazily_are_not_for_kernels_that_see_memory(stub, python):
    functions = """
def nothing(to, source, non_blocking=False):
    calls.append("copy_")
    return to
"""
    routes = stubbed(stub, {"copy_": "nothing"}, functions)
    python(
        PRELUDE
        + """
x, y = torch.tensor([1.0, 2.0], device=D), torch.zeros(2, device=D)
assert y.copy_(x).tolist() == [0, 0] and served("copy_").get("flaggems") == 1
assert y.copy_(torch._neg_view(x)).tolist() == [-1, -2]
z = torch.zeros(1, dtype=torch.complex64, device=D)
assert z.copy_(torch.tensor([1 + 1j], device=D).conj()).tolist() == [1 - 1j]
negated = torch._neg_view(y)
negated.copy_(x)
assert y.tolist() == [-1, -2] and served("copy_").get("flaggems") == 1
""",
        routes=routes,
    )
