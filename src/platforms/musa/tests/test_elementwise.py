"""Element-wise operators: types, broadcasting, strides, numbers, out= and in-place forms."""

import pytest
import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
UNARY = "abs acos atan ceil cos erf exp expm1 floor log log10 log1p log2 neg relu rsqrt sigmoid sign silu sin sqrt tan tanh trunc"
COMPARISONS = "eq ne lt le gt ge"


def values(dtype, shape=(4, 5)):
    """In (0, 1], where all of these operators are defined; integers from 1."""
    if dtype.is_floating_point:
        return (torch.rand(shape, dtype=torch.float64) * 0.9 + 0.1).to(dtype)
    return torch.randint(1, 7, shape, dtype=dtype)


def function(name):
    return getattr(torch, name, None) or getattr(torch.nn.functional, name)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY.split())
def test_unary_equals_the_cpu(native, name, dtype):
    native(name, function(name), values(dtype) - (0.5 if name in ("floor", "ceil", "trunc", "sign", "relu", "abs") else 0))


@pytest.mark.parametrize("name", "abs neg sign floor ceil trunc relu".split())
def test_integers_stay_integers(native, name):
    native(name, function(name), torch.tensor([-(2**62), -3, 0, 5, 2**53 + 1]))


@pytest.mark.parametrize("name", "sqrt exp log sin tanh".split())
def test_integers_become_float(native, name):
    native(name, function(name), values(torch.int64))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_expm1_keeps_small_numbers_and_the_ends(native, dtype):
    tiny = torch.tensor([1e-7, -1e-6, 3e-5, -0.0], dtype=torch.float64)
    x = torch.cat([tiny, torch.tensor([float("inf"), float("-inf"), float("nan"), 11.0])]).to(dtype)
    native("expm1", torch.expm1, x, rtol=torch.finfo(dtype).eps * 4, atol=0)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_has_both_forms(native, approximate):
    native("gelu", torch.nn.functional.gelu, torch.randn(33), approximate=approximate)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize("name", "add sub mul maximum minimum".split())
def test_binary_broadcasts(native, name, dtype):
    operator = f"{name}.Tensor" if name in ("add", "sub", "mul") else name
    native(operator, getattr(torch, name), values(dtype, (3, 1, 5)), values(dtype, (4, 1)))


def test_binary_reads_strides_in_place(native):
    wide = torch.randn(6, 8)
    native("add.Tensor", torch.add, wide.t()[::2], torch.randn(6).expand(4, 6))
    native("mul.Tensor", torch.mul, wide[:, ::3], wide[:, 1:7:2])


def test_types_are_promoted(native):
    native("add.Tensor", torch.add, values(torch.int64), values(torch.float32))
    native("mul.Tensor", torch.mul, values(torch.float16), values(torch.float32))
    native("div.Tensor", torch.div, values(torch.int64), values(torch.int64))


@pytest.mark.parametrize("alpha", [1, -1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_add_and_sub_take_a_factor(native, alpha, dtype):
    native("add.Tensor", torch.add, values(dtype), values(dtype), alpha=alpha)
    native("sub.Tensor", torch.sub, values(dtype), values(dtype), alpha=alpha)
    native("add.Tensor", torch.add, values(dtype), 2, alpha=alpha)
    native("sub.Tensor", torch.sub, values(dtype), 2, alpha=alpha)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
def test_numbers_on_either_side(native, dtype):
    x = values(dtype)
    native("mul.Tensor", lambda t: t * 3, x)
    native("sub.Tensor", lambda t: 3 - t, x)
    native("add.Tensor", lambda t: 2 + t, x)
    native("div.Tensor", lambda t: t / 2, x)
    native("pow.Tensor_Scalar", lambda t: t**2, x)


def test_large_integers_are_exact(native):
    x = torch.tensor([2**62, -(2**62) - 1, 2**53 + 1])
    native("add.Tensor", torch.add, x, 2**53 + 3)
    native("add.Tensor", torch.add, x, torch.tensor([1, 2, 3]))
    native("mul.Tensor", torch.mul, torch.tensor([2**53 + 1]), 3)


def test_a_number_divides_a_tensor_and_is_its_base(native):
    x = values(torch.float32)
    native("div.Tensor", lambda t: torch.div(torch.tensor(3.0), t), x)
    native("pow.Tensor_Tensor", torch.pow, x, values(torch.float32))


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounded_division(native, mode):
    native("div.Tensor_mode", torch.div, torch.randn(50) * 9, torch.tensor(0.7), rounding_mode=mode)
    native("div.Tensor_mode", torch.div, torch.randn(50) * 9, torch.randn(50), rounding_mode=mode)


def test_integer_remainders_by_a_number(native):
    x = torch.arange(-9, 10)
    native("remainder.Tensor", lambda t: torch.remainder(t, 4), x)
    native("fmod.Tensor", lambda t: torch.fmod(t, 4), x)


def test_an_integer_divisor_of_zero_is_the_cpus_to_refuse():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.remainder(torch.arange(3, device="flagos"), torch.zeros(3, dtype=torch.int64, device="flagos"))


@pytest.mark.parametrize("name", COMPARISONS.split())
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
def test_comparisons_give_bool(native, name, dtype):
    a, b = torch.randint(0, 2, (3, 4)).to(dtype), torch.randint(0, 2, (4,)).to(dtype)
    native(f"{name}.Tensor", getattr(torch, name), a, b)
    native(f"{name}.Scalar", getattr(torch, name), a, 1)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
def test_logic_takes_any_number(native, name, dtype):
    a, b = torch.randint(0, 2, (5,)).to(dtype), torch.randint(0, 2, (3, 5)).to(dtype)
    native(name, getattr(torch, name), a, b)


def test_nan_passes_through_extrema_and_comparisons(native):
    a, b = torch.tensor([float("nan"), 1.0, -0.0]), torch.tensor([1.0, float("nan"), 0.0])
    for name in ("maximum", "minimum"):
        native(name, getattr(torch, name), a, b)
    native("eq.Tensor", torch.eq, a, b)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rank_0_and_empty(native, dtype):
    native("exp", torch.exp, values(dtype, ()))
    native("add.Tensor", torch.add, values(dtype, ()), values(dtype, ()))
    native("exp", torch.exp, values(dtype, (0, 3)))


def test_out_is_resized_converted_and_strided(native):
    def out_of(name, dtype, strided):
        def run(a, b):
            out = torch.empty(5, 4, dtype=dtype, device=a.device).t() if strided else torch.empty(0, dtype=dtype, device=a.device)
            return getattr(torch, name)(a, b, out=out)

        return run

    a, b = torch.randn(4, 5), torch.randn(4, 5)
    native("add.out", out_of("add", torch.float32, False), a, b)
    native("add.out", out_of("add", torch.float64, True), a, b)
    native("lt.Tensor_out", out_of("lt", torch.float32, True), a, b)


def test_in_place_forms(native):
    def twice(a, b):
        a = a.clone()
        return a.add_(b, alpha=2).mul_(b).sub_(1).div_(2).neg_()

    for operator in ("add_.Tensor", "mul_.Tensor", "sub_.Tensor", "div_.Tensor", "neg_"):
        native(operator, twice, torch.randn(3, 4), torch.randn(4))


def test_errors_are_pytorchs_own():
    a, b = torch.ones(3, device="flagos"), torch.ones(4, device="flagos")
    with pytest.raises(RuntimeError, match="must match the size"):
        torch.add(a, b)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(3, device="flagos", dtype=torch.int64).add_(1.5)
    with pytest.raises(RuntimeError, match="same device"):
        torch.add(a, torch.ones(3))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_types_that_mudnn_lacks_go_to_the_cpu(backends, dtype):
    x = torch.tensor([1, 2, 3], dtype=dtype)
    assert torch.equal((x.to("flagos") + x.to("flagos")).cpu(), x + x)
    assert "cpu" in backends("add.Tensor")


GRADIENTS = {
    "gelu": "gelu_backward",
    "leaky_relu": "leaky_relu_backward",
    "relu": "threshold_backward",
    "sigmoid": "sigmoid_backward",
    "silu": "silu_backward",
    "tanh": "tanh_backward",
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_activations(native, name):
    def gradient(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(function(name)(x).sum(), x)[0]

    native(GRADIENTS[name], gradient, torch.randn(4, 7))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_gelu_refuses_an_unknown_approximation(dtype):
    x = torch.ones(3, dtype=dtype, device="flagos")
    for call in (torch.nn.functional.gelu, lambda x, approximate: torch.ops.aten.gelu_backward(x, x, approximate=approximate)):
        with pytest.raises(RuntimeError, match="approximate argument must be either none or tanh"):
            call(x, approximate="erf")


def test_the_magnitude_of_complex_numbers_has_another_type():
    z = torch.tensor([3 + 4j, 1j], device="flagos")
    out = torch.empty(2, device="flagos")
    assert torch.abs(z, out=out) is out and out.tolist() == [5, 1] and z.abs().tolist() == [5, 1]


def test_fused_multiplications(native):
    a, b, c = torch.randn(3, 4), torch.randn(4), torch.rand(3, 1) + 0.5
    native("addcmul", torch.addcmul, a, b, c, value=0.3)
    native("addcdiv", torch.addcdiv, a, b, c, value=0.3)


def test_where_chooses_and_promotes(native):
    condition = torch.rand(3, 1) > 0.5
    native("where.self", torch.where, condition, torch.randn(3, 4), torch.randn(4))
    native("where.self", torch.where, condition, torch.randn(3, 4), 2.0)
    native("where.self", torch.where, condition, torch.arange(4), torch.randn(3, 4))
