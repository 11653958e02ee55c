"""Rows: matrix products, convolutions, pooling, attention."""

import torch
from torch.nn import functional as F

from .matrix import BF16, F16, F32, Row, of

_MATRICES = of((33, 40), (40, 17))
_ATTENTION = of((1, 2, 16, 32), (1, 2, 16, 32), (1, 2, 16, 32))


def _depthwise(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    if x.device.type == "cpu":  # the operator itself exists for devices only
        return F.conv2d(x, weight, padding=1, groups=4)
    return torch.ops.aten._conv_depthwise2d(x, weight, (3, 3), None, (1, 1), (1, 1), (1, 1))


def _attention(causal: bool):
    def call(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if q.device.type == "cpu":
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        import flag_gems  # no operator of PyTorch reaches it: SDPA is composite

        return flag_gems.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return call


ROWS = [
    Row("mm", ("mm",), torch.mm, _MATRICES),
    Row("addmm", ("addmm",), torch.addmm, of((17,), (33, 40), (40, 17))),
    Row("bmm", ("bmm",), torch.bmm, of((2, 9, 20), (2, 20, 5))),
    Row("baddbmm", ("baddbmm",), torch.baddbmm, of((2, 9, 5), (2, 9, 20), (2, 20, 5)), (F32,)),
    Row("mv", ("mv",), torch.mv, of((9, 20), (20,))),
    Row("dot", ("dot",), torch.dot, of((20,), (20,)), (F32,)),
    Row("linear", ("addmm", "mm"), F.linear, of((4, 16), (8, 16), (8,))),
    Row("kron", ("kron",), torch.kron, of((3, 4), (2, 5)), (F32,)),
    Row("conv1d", ("conv1d",), F.conv1d, of((1, 3, 12), (4, 3, 3)), (F32,)),
    Row("conv2d", ("conv2d",), lambda x, w, b: F.conv2d(x, w, b, padding=1), of((1, 3, 8, 8), (4, 3, 3, 3), (4,))),
    Row("conv_depthwise2d", ("_conv_depthwise2d",), _depthwise, of((1, 4, 8, 8), (4, 1, 3, 3)), (F32,)),
    Row("max_pool2d", ("max_pool2d_with_indices",), lambda x: F.max_pool2d(x, 2), of((1, 3, 8, 8)), (F32,)),
    Row("avg_pool2d", ("avg_pool2d",), lambda x: F.avg_pool2d(x, 2), of((1, 3, 8, 8)), (F32,)),
    Row("upsample", ("upsample_nearest2d",), lambda x: F.interpolate(x, scale_factor=2), of((1, 3, 4, 4)), (F32,)),
    Row("attention", (), _attention(False), _ATTENTION, (F32, F16)),
    Row("attention causal", (), _attention(True), _ATTENTION, (F32, BF16)),
]
