"""Mathematical functions of the numpy executor: MLIR's by name, and CUDA's device functions, against PyTorch's."""

import math

import numpy as np
import pytest
import torch

from .programs import operate

special = torch.special
ANY = np.array([0.0, -0.0, 0.3, -0.7, 1.5, -2.5, 3.2, -4.0, 10.0, math.inf, -math.inf, math.nan])
POSITIVE = np.array([0.1, 0.5, 1.0, 2.0, 3.7, 100.0])
INSIDE = np.array([-0.9, -0.5, 0.0, 0.1, 0.7, 0.95])  # of -1 to 1
MLIR = {
    **{name: getattr(torch, name) for name in "exp exp2 expm1 sin cos tan sinh cosh tanh floor ceil trunc erf atan asinh".split()},
    **{name: getattr(torch, name) for name in "log log2 log10 log1p sqrt rsqrt acosh".split()},
    **{name: getattr(torch, name) for name in "asin acos atanh".split()},
    "absf": torch.abs, "roundeven": torch.round, "erfc": special.erfc, "cbrt": lambda x: x.abs().pow(1 / 3).copysign(x),
}  # fmt: skip
DEVICE = {
    "lgamma": (torch.lgamma, POSITIVE), "tgamma": (lambda x: torch.lgamma(x).exp(), POSITIVE[:5]), "erfinv": (torch.erfinv, INSIDE),
    "erfcinv": (lambda x: torch.erfinv(1 - x), POSITIVE[:3]), "normcdf": (special.ndtr, ANY), "normcdfinv": (special.ndtri, POSITIVE[:2]),
    "j0": (special.bessel_j0, POSITIVE), "j1": (special.bessel_j1, POSITIVE), "y0": (special.bessel_y0, POSITIVE),
    "cyl_bessel_i0": (torch.i0, POSITIVE[:5]), "exp10": (lambda x: torch.pow(10.0, x), INSIDE), "rcbrt": (lambda x: x.pow(-1 / 3), POSITIVE),
    "sinpi": (lambda x: torch.sin(x * math.pi), INSIDE), "cospi": (lambda x: torch.cos(x * math.pi), INSIDE),
    "erfcx": (special.erfcx, INSIDE), "rint": (torch.round, ANY), "nearbyint": (torch.round, ANY), "fabs": (torch.abs, ANY),
    "round": (lambda x: (x.abs() + 0.5).floor().copysign(x), ANY[:9]), "logb": (lambda x: x.log2().floor(), POSITIVE),
}  # fmt: skip
TWO = {
    "pow": torch.pow, "atan2": torch.atan2, "hypot": torch.hypot, "copysign": torch.copysign, "fmod": torch.fmod,
    "nextafter": torch.nextafter, "fdim": lambda a, b: (a - b).clamp(min=0), "rhypot": lambda a, b: 1 / torch.hypot(a, b),
}  # fmt: skip
ATTRIBUTES = '{libname = "", libpath = "", pure = true, symbol = "__nv_%s"}'


def close(found, wanted, single):
    tolerance = 2e-6 if single else 1e-13
    torch.testing.assert_close(torch.tensor(found), wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("element, kind", [("f32", torch.float32), ("f64", torch.float64)])
@pytest.mark.parametrize("name", sorted(MLIR))
def test_functions_of_mlir(name, element, kind):
    found = operate(f"math.{name} %0 : T", ANY, element=element)
    close(found, MLIR[name](torch.tensor(ANY)).to(kind), element == "f32")


@pytest.mark.parametrize("name", sorted(DEVICE))
def test_device_functions_of_one_argument_in_both_precisions(name):
    function, values = DEVICE[name]
    wanted = function(torch.tensor(values))
    for symbol, element, kind in ((name, "f64", torch.float64), (f"{name}f", "f32", torch.float32)):
        found = operate(f"tt.extern_elementwise %0 {ATTRIBUTES % symbol} : ( T ) -> T", values, element=element)
        torch.testing.assert_close(torch.tensor(found), wanted.to(kind), rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", sorted(TWO))
def test_device_functions_of_two_arguments(name):
    a, b = (torch.tensor(v) for v in ([1.5, 2.0, 0.3, 7.0], [0.5, -1.0, 3.0, 2.0]))
    found = operate(
        f"tt.extern_elementwise %0, %1 {ATTRIBUTES % name} : ( T , T ) -> T", a.numpy(), b.numpy(), element="f64"
    )
    close(found, TWO[name](a.double(), b.double()), True)


@pytest.mark.parametrize("mode, rounded", [("rn", np.rint), ("rz", np.trunc), ("rd", np.floor), ("ru", np.ceil)])
def test_conversions_to_integers_round_as_their_name_says(mode, rounded):
    values = np.array([0.5, 1.5, -1.5, 2.4, -2.6, 100.0])
    line = f"tt.extern_elementwise %0 {ATTRIBUTES % f'float2int_{mode}'} : ( T ) -> R"
    assert operate(line, values, element="f32", result="i32").tolist() == rounded(values).tolist()


def test_division_toward_zero_is_not_the_nearest():
    a, b = np.full(50, 1.0), np.arange(1.0, 51.0)
    line = "tt.extern_elementwise %0, %1 {} : ( T , T ) -> T"
    near = operate(line.format(ATTRIBUTES % "fdiv_rn"), a, b, element="f32")
    down = operate(line.format(ATTRIBUTES % "fdiv_rz"), a, b, element="f32")
    assert np.array_equal(near, (1 / b).astype(np.float32))
    assert (down.astype(np.float64) <= 1 / b).all() and (down != near).any()


def test_an_unknown_device_function_is_named():
    with pytest.raises(
        NotImplementedError,
        match="the device function '__nv_nothing' .line [0-9]+ of its Triton IR. has no counterpart",
    ):
        operate(f"tt.extern_elementwise %0 {ATTRIBUTES % 'nothing'} : ( T ) -> T", ANY, element="f32")
