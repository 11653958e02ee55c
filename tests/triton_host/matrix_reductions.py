"""Rows: reductions, scans, sorting, normalisation and losses."""

import torch
from torch.nn import functional as F

from .matrix import BOOL, F32, FLOATS, I64, NUMBERS, Row, of, one, two, values


def _truths(dtype: torch.dtype) -> tuple:
    return (values(17, 33, dtype=BOOL),)


def _distinct(*shape: int):
    """No two alike, so that the order of equal elements does not matter."""
    return lambda dtype: (torch.randperm(torch.Size(shape).numel()).reshape(shape).to(dtype),)


def _softmax_backward(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten._softmax_backward_data(gradient, torch.softmax(x, -1), -1, gradient.dtype)


def _batch_norm(x: torch.Tensor) -> torch.Tensor:
    return F.batch_norm(x, torch.zeros(4, device=x.device), torch.ones(4, device=x.device), training=True)


def _classes(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(17, dtype=I64, device=x.device)


ROWS = [
    Row("sum", ("sum",), torch.sum, one, NUMBERS),
    Row("sum dim", ("sum_dim",), lambda a: a.sum(1), one, NUMBERS),
    Row("mean", ("mean",), torch.mean, one),
    Row("mean dim", ("mean_dim",), lambda a: a.mean(0), one),
    Row("amax", ("amax",), lambda a: torch.amax(a, 1), one),
    Row("max dim", ("max_dim",), lambda a: torch.max(a, 1), _distinct(9, 28), NUMBERS),
    Row("min", ("min",), torch.min, one, NUMBERS),
    Row("argmax", ("argmax",), lambda a: torch.argmax(a, 1), _distinct(9, 28)),
    Row("prod dim", ("prod_dim",), lambda a: torch.prod(a, 1), of((9, 7))),
    Row("all", ("all",), torch.all, _truths, (F32,)),
    Row("any dim", ("any_dim",), lambda a: torch.any(a, 1), _truths, (F32,)),
    Row("var_mean", ("var_mean",), lambda a: torch.var_mean(a, 1), one),
    Row("std", ("std",), lambda a: torch.std(a, 1), one, (F32,)),
    Row("vector_norm", ("vector_norm",), torch.linalg.vector_norm, one),
    Row("cumsum", ("cumsum",), lambda a: torch.cumsum(a, 1), one, NUMBERS),
    Row("cummax", ("cummax",), lambda a: torch.cummax(a, 1), one, (F32,)),
    Row("sort", ("sort", "sort_stable"), lambda a: torch.sort(a, 1), _distinct(17, 33), (F32, I64)),
    Row("argsort", ("sort", "sort_stable"), lambda a: torch.argsort(a, 1), _distinct(4, 16), (F32,)),
    Row("topk", ("topk",), lambda a: torch.topk(a, 5, 1), _distinct(17, 33), (F32, I64)),
    Row("unique", ("_unique2",), torch.unique, lambda dtype: (torch.randint(0, 9, (40,)),), (F32,)),
    Row("isin", ("isin",), torch.isin, lambda dtype: (torch.randint(0, 9, (40,)), torch.tensor([1, 2])), (F32,)),
    Row("softmax", ("softmax",), lambda a: torch.softmax(a, -1), one),
    Row("softmax dim 0", ("softmax",), lambda a: torch.softmax(a, 0), one, (F32,)),
    Row("log_softmax", ("log_softmax",), lambda a: torch.log_softmax(a, -1), one),
    Row("softmax_backward", ("softmax_backward",), _softmax_backward, two, (F32,)),
    Row("layer_norm", ("layer_norm",), lambda a, w, b: F.layer_norm(a, (33,), w, b), of((17, 33), (33,), (33,))),
    Row("rms_norm", ("rms_norm",), lambda a, w: F.rms_norm(a, (33,), w), of((17, 33), (33,)), (F32,)),
    Row("group_norm", ("group_norm",), lambda a: F.group_norm(a, 2), of((2, 4, 5)), FLOATS),
    Row("batch_norm", ("batch_norm",), _batch_norm, of((8, 4)), (F32,)),
    Row("nll_loss", ("nll_loss_forward",), lambda a: F.nll_loss(a, _classes(a)), one, (F32,)),
    Row("cross_entropy", ("log_softmax", "nll_loss_forward"), lambda a: F.cross_entropy(a, _classes(a)), one, (F32,)),
    Row("mse_loss", ("mse_loss",), F.mse_loss, two, (F32,)),
]
