"""Rows: elementwise operators."""

import torch
from torch.nn import functional as F

from .matrix import BF16, F16, F32, FLOATS, I32, I64, NUMBERS, Row, broadcast, one, one_positive, two

# libdevice, which FlagGems takes fmod from, has no such function of half types.
_NO_HALF_FMOD = "remainder = fmod(x, y)"
_UNARY = {
    **{name: getattr(torch, name) for name in ["abs", "exp", "exp2", "sin", "cos", "tanh", "sigmoid", "relu", "erf", "neg", "reciprocal", "isnan", "isinf", "isfinite", "tan", "atan", "square", "ceil", "round"]},
    "silu": F.silu, "gelu": F.gelu, "elu": F.elu, "log_sigmoid": F.logsigmoid,
}  # fmt: skip

ROWS = [
    *(Row(name, (name,), call, one, NUMBERS if name in ("abs", "neg", "isnan") else FLOATS) for name, call in _UNARY.items()),
    *(Row(name, (name,), getattr(torch, name), one_positive) for name in ("sqrt", "rsqrt", "log")),
    *(Row(name, (name,), getattr(torch, name), two, NUMBERS) for name in ("eq", "ne", "lt", "le", "gt", "ge", "sub")),
    Row("abs_", ("abs_",), lambda a: a.abs_(), one),
    Row("add alpha", ("add",), lambda a, b: torch.add(a, b, alpha=2), two, NUMBERS),
    Row("add broadcast", ("add",), torch.add, broadcast, NUMBERS),
    Row("add scalar", ("add",), lambda a: a + 3, one, NUMBERS),
    Row("add_", ("add_",), lambda a, b: a.add_(b), two, NUMBERS),
    Row("mul broadcast", ("mul",), torch.mul, broadcast, NUMBERS),
    Row("div", ("true_divide",), torch.div, two, NUMBERS),
    Row("floor_divide", ("floor_divide",), torch.floor_divide, two, NUMBERS,
        errors={F16: _NO_HALF_FMOD, BF16: _NO_HALF_FMOD}),
    Row("remainder", ("remainder",), torch.remainder, two, (F32, I64)),
    Row("pow scalar", ("pow_tensor_scalar",), lambda a: torch.pow(a, 2), one),
    Row("pow tensor", ("pow_tensor_tensor",), lambda a, b: torch.pow(b, a), two),
    Row("maximum", ("maximum",), torch.maximum, two),
    Row("clamp", ("clamp",), lambda a: torch.clamp(a, -0.5, 0.5), one),
    Row("bitwise_and", ("bitwise_and_tensor",), torch.bitwise_and, two, (I64, I32)),
    Row("logical_and", ("logical_and",), torch.logical_and, two, (F32, I64)),
    Row("logical_not", ("logical_not",), torch.logical_not, one, (F32, I64)),
    Row("lerp", ("lerp_scalar",), lambda a, b: torch.lerp(a, b, 0.3), two),
    Row("addcmul", ("addcmul",), lambda a, b: torch.addcmul(a, a, b, value=0.5), two),
    Row("where", ("where_self",), lambda a, b: torch.where(a > 0, a, b), two, NUMBERS),
    Row("masked_fill", ("masked_fill",), lambda a: a.masked_fill(a > 0, 1.5), one),
    Row("threshold_backward", ("threshold_backward",), lambda a: torch.ops.aten.threshold_backward(a, a, 0), one),
    Row("glu", ("glu",), lambda a: F.glu(a[:, :32], 1), one, (F32,)),
    Row("copy_ transposed", ("copy_",), lambda a, b: a.t().contiguous().copy_(b.t()), two, (F32, I64)),
    Row("to float16", ("to_copy",), lambda a: a.to(F16), one, (F32,)),
    Row("fill_", ("fill_scalar_",), lambda a: a.fill_(2), one, NUMBERS),
]  # fmt: skip
