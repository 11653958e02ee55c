"""Products of FP8 and packed FP4 matrices: decoded to BF16 on the device, multiplied by the kernel that serves BF16."""

import itertools

import pytest
import torch

from .low_precision_numbers import BF16, DEVICE, FP4, LOW, equal, every_code, expected, name, some

pytestmark = pytest.mark.capability("low_precision")


@pytest.fixture
def decoded(served):
    """``decoded("mm")``: since the counts were reset, the slot served the operator, and one kernel the BF16 product."""
    from torch_fl import _C
    from torch_fl.evidence import capabilities

    own = set(capabilities.platform()["kernels"]["slots"]) & set(_C.known_slots()) - {"host"}

    def check(operator, inner=None):
        backends = served.backends(operator) | served.backends(inner or operator)
        assert "low_precision" in served.backends(operator) and backends - {"low_precision"}, backends
        assert served.calls(operator) + (served.calls(inner) if inner else 0) == 2
        if own:
            assert not [op for op, backend in _C.dispatch_counts() if backend == "cpu"], "a copy to the host"
        served.clear()

    return check


@pytest.mark.parametrize("dtype", LOW, ids=name)
@pytest.mark.parametrize("result", [BF16, torch.float32], ids=name)
def test_every_code_stands_for_its_number(dtype, result):
    codes, wanted = every_code(dtype)
    one = torch.ones(1, 1, dtype=BF16, device=DEVICE)
    column = codes.to(DEVICE).view(dtype).view(1, -1)
    found = torch.mm(one, column) if result == BF16 else torch.mm(one, column, out_dtype=result)
    assert found.dtype == result
    torch.testing.assert_close(found.flatten().cpu().double(), wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", LOW, ids=name)
def test_zeros_keep_their_sign(dtype):
    """A sum of no products is what it is added to."""
    codes, wanted = every_code(dtype)
    nothing = [torch.empty(shape, device=DEVICE).to(torch.float8_e5m2) for shape in ((1, 0), (0, wanted.numel()))]
    found = torch.addmm(codes.to(DEVICE).view(dtype).view(1, -1), *nothing).flatten().cpu()
    zeros = wanted == 0
    assert torch.equal(found[zeros].signbit(), wanted[zeros].signbit())
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=0, equal_nan=True)


PAIRS = [pair for pair in itertools.product([*LOW, BF16], repeat=2) if pair != (BF16, BF16)]


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=name)
def test_all_pairs_of_types(left, right, decoded):
    (a, a16), (b, b16) = some(left, 6, 8), some(right, 8, 4)
    torch.flagos.reset_dispatch_counts()
    product = torch.mm(a, b)
    decoded("mm")
    assert product.dtype == BF16
    equal(product, expected(torch.mm, a16, b16))
    exact = a16.double() @ b16.double()
    torch.testing.assert_close(product.cpu().double(), exact, rtol=2**-7, atol=2**-7 * exact.abs().max().item())


PRODUCTS = {
    "mm": lambda s, a, b, **options: torch.mm(a, b, **options),
    "bmm": lambda s, a, b, **options: torch.bmm(a[None], b[None], **options),
    "addmm": lambda s, a, b, **options: torch.addmm(s, a, b, **options, beta=2, alpha=0.5),
    "baddbmm": lambda s, a, b, **options: torch.baddbmm(s[None], a[None], b[None], **options, beta=2, alpha=0.5),
}


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, FP4], ids=name)
@pytest.mark.parametrize("operator", PRODUCTS)
def test_each_form_of_each_operator(operator, dtype, decoded):
    """Plain, out=, out_dtype=, both: BF16 where nothing else is asked for, and rounded once where it is."""
    (s, s16), (a, a16), (b, b16) = some(dtype, 6, 4), some(dtype, 6, 8), some(dtype, 8, 4)
    f = PRODUCTS[operator]
    wanted = expected(f, s16, a16, b16)
    torch.flagos.reset_dispatch_counts()
    equal(f(s, a, b), wanted)
    decoded(operator)
    out = torch.empty(wanted.shape, dtype=BF16, device=DEVICE)
    torch.flagos.reset_dispatch_counts()
    assert f(s, a, b, out=out) is out
    decoded(f"{operator}.out", operator)
    equal(out, wanted)
    exact = f(s16.double(), a16.double(), b16.double())
    for result in (torch.float32, torch.float16, BF16):
        found = f(s, a, b, out_dtype=result)
        assert found.dtype == result
        precision = {"rtol": torch.finfo(result).eps, "atol": 1e-2 if result == BF16 else 1e-3}
        torch.testing.assert_close(found.cpu().double(), exact, **precision)
        out = torch.empty(wanted.shape, dtype=result, device=DEVICE)
        assert f(s, a, b, out_dtype=result, out=out) is out
        equal(out, found)


@pytest.mark.parametrize("operator", ["addmm", "baddbmm"])
@pytest.mark.parametrize("dtype", [BF16, torch.float32, torch.float16, torch.float8_e5m2], ids=name)
def test_in_place_the_type_stays(operator, dtype, served):
    (a, a16), (b, b16) = some(torch.float8_e4m3fn, 6, 8), some(torch.float8_e5m2, 8, 4)
    start = torch.randn(6, 4).to(dtype)
    batch = (lambda x: x[None]) if operator == "baddbmm" else (lambda x: x)
    x = batch(start.to(DEVICE))
    served.clear()
    assert getattr(x, f"{operator}_")(batch(a), batch(b), beta=0.5) is x
    assert served.backends(f"{operator}_") == {"low_precision"}
    assert x.dtype == dtype
    exact = 0.5 * start.double() + a16.double() @ b16.double()
    precision = 0.25 if dtype == torch.float8_e5m2 else 2**-7
    torch.testing.assert_close(x.cpu().double().view(6, 4), exact, rtol=precision, atol=precision)


COMPOSED = {
    "matmul of two dimensions": ("mm", lambda a, w, c: a @ w.t()),
    "matmul of batches": ("bmm", lambda a, w, c: torch.matmul(a[None], w.t()[None])),
    "linear": ("mm", lambda a, w, c: torch.nn.functional.linear(a, w)),
    "linear with a bias": ("addmm", lambda a, w, c: torch.nn.functional.linear(a, w, c)),
    "einsum": ("bmm", lambda a, w, c: torch.einsum("ij,kj->ik", a, w)),
}


@pytest.mark.parametrize("composed", COMPOSED)
def test_what_pytorch_takes_apart_reaches_the_kernels(composed, decoded):
    operator, f = COMPOSED[composed]
    (a, a16), (w, w16), (c, c16) = (some(torch.float8_e4m3fn, *shape) for shape in ((6, 8), (4, 8), (4,)))
    torch.flagos.reset_dispatch_counts()
    found = f(a, w, c)
    decoded(operator)
    equal(found, expected(f, a16, w16, c16))


@pytest.mark.parametrize("operator", PRODUCTS)
def test_other_types_pass_by(operator, served):
    s, a, b = (torch.randn(shape, device=DEVICE) for shape in ((6, 4), (6, 8), (8, 4)))
    served.clear()
    for dtype in (torch.float32, BF16, torch.float64):
        PRODUCTS[operator](s.to(dtype), a.to(dtype), b.to(dtype))
    assert served.calls(operator) == 3 and "low_precision" not in served.backends(operator)


def test_the_routes_command_shows_what_stands_in_front():
    from torch_fl.routing import explain

    steps = explain.reasons("mm")["steps"]
    assert steps[0]["backend"] == "low_precision" and "in front of every route" in steps[0]["verdict"]
    assert explain.reasons("mm")["backend"] != "low_precision"
    assert all(step["backend"] != "low_precision" for step in explain.reasons("exp")["steps"])


def test_a_route_of_a_file_stays_behind(python):
    """mm = none is about the product of what has been decoded."""
    done = python(
        """
        import torch
        x = torch.ones(4, 4, device="flagos").to(torch.float8_e5m2)
        torch.flagos.reset_dispatch_counts()
        assert torch.mm(x, x).tolist() == [[4.0] * 4] * 4
        print(sorted(key for key in torch.flagos.dispatch_counts() if key[0] == "mm"))
        """,
        FLAGOS_OP_mm="none",
    )
    assert done.stdout.strip() == "[('mm', 'cpu'), ('mm', 'low_precision')]"
