"""The operators that random programs are made of.

Each entry takes the operands and two whole numbers and must mean something for any of them: numbers choose dimensions,
sizes and scalars by their remainder, so that every list of numbers is a program, and shortening one leaves a program.
What an operator refuses (a data type, a shape) is part of the comparison: the device has to refuse it, too.
"""

import torch
import torch.nn.functional as F

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
DTYPES = (*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64)


def dim(x, p):
    return p % max(x.dim(), 1)


def size(x, p):
    return x.shape[dim(x, p)] if x.dim() else 1


def _index(x, p, q):
    """Valid indices of dimension `p` of `x`, on its device."""
    count = size(x, p)
    if not count:
        raise IndexError("an empty dimension has no index")
    return (torch.arange(3, device=x.device) * (q + 9)) % count


def _mask(x, p):
    return (torch.arange(x.numel(), device=x.device).view(x.shape) + p) % 3 == 0


def _chunk(x, p):
    pieces = x.chunk(2, dim(x, p))
    return pieces[p % len(pieces)]


def _cast(x, p):
    wanted = DTYPES[p % len(DTYPES)]
    if x.is_floating_point() and not (wanted.is_floating_point or wanted.is_complex):
        x = x.nan_to_num(0, 50, -50).clamp(-100, 100)  # outside its range a conversion is undefined
        x = x.abs() if wanted == torch.uint8 else x
    return x.to(wanted)


def _set(x, where, value):
    x[where] = value
    return x


def _padded(x, p, q):
    return F.pad(x, (abs(p) % 3, abs(q) % 3), value=float(q))


UNARY = {
    "neg": lambda x, p, q: -x,
    "abs": lambda x, p, q: x.abs(),
    "exp": lambda x, p, q: x.exp(),
    "sin": lambda x, p, q: x.sin(),
    "sqrt": lambda x, p, q: x.abs().sqrt(),
    "sigmoid": lambda x, p, q: x.sigmoid(),
    "tanh": lambda x, p, q: x.tanh(),
    "floor": lambda x, p, q: x.floor(),
    "sign": lambda x, p, q: x.sign(),
    "relu": lambda x, p, q: x.relu(),
    "gelu": lambda x, p, q: F.gelu(x),
    "erf": lambda x, p, q: x.erf(),
    "reciprocal": lambda x, p, q: x.reciprocal(),
    "square": lambda x, p, q: x.square(),
    "clamp": lambda x, p, q: x.clamp(min(p, q), max(p, q)),
    "logical_not": lambda x, p, q: x.logical_not(),
    "isnan": lambda x, p, q: x.isnan(),
    "conj": lambda x, p, q: x.conj(),
    "add scalar": lambda x, p, q: x + p,
    "subtract from scalar": lambda x, p, q: p - x,
    "times half": lambda x, p, q: x * (p / 2),
    "nan_to_num": lambda x, p, q: x.nan_to_num(1.0, 2.0, 3.0),
    # reductions and scans
    "sum": lambda x, p, q: x.sum(dim(x, p), keepdim=q % 2 == 0),
    "sum all": lambda x, p, q: x.sum(),
    "mean": lambda x, p, q: x.mean(dim(x, p)),
    "prod": lambda x, p, q: x.prod(dim(x, p)),
    "amax": lambda x, p, q: x.amax(dim(x, p)),
    "argmin": lambda x, p, q: x.argmin(dim(x, p)),
    "any": lambda x, p, q: x.any(dim(x, p)),
    "all": lambda x, p, q: x.all(),
    "var": lambda x, p, q: x.var(dim(x, p), correction=q % 2),
    "norm": lambda x, p, q: torch.linalg.vector_norm(x, abs(q) % 3, dim(x, p)),
    "cumsum": lambda x, p, q: x.cumsum(dim(x, p)),
    "logsumexp": lambda x, p, q: x.logsumexp(dim(x, p)),
    "softmax": lambda x, p, q: x.softmax(dim(x, p)),
    "max values": lambda x, p, q: x.max(dim(x, p)).values,
    "median": lambda x, p, q: x.median(),
    "sort": lambda x, p, q: x.sort(dim=dim(x, p), stable=True).values,
    "topk": lambda x, p, q: x.topk(abs(q) % (size(x, p) + 1), dim(x, p)).values,
    "count_nonzero": lambda x, p, q: x.count_nonzero(dim(x, p)),
    "nonzero": lambda x, p, q: x.nonzero(),
    "unique": lambda x, p, q: x.unique(),
    # views
    "view flat": lambda x, p, q: x.view(-1),
    "reshape": lambda x, p, q: x.reshape(-1, 2) if x.numel() % 2 == 0 else x.reshape(-1, 1),
    "transpose": lambda x, p, q: x.transpose(dim(x, p), dim(x, q)),
    "unsqueeze": lambda x, p, q: x.unsqueeze(p % (x.dim() + 1)),
    "squeeze": lambda x, p, q: x.squeeze(),
    "select": lambda x, p, q: x.select(dim(x, p), q % max(size(x, p), 1)),
    "narrow": lambda x, p, q: x.narrow(dim(x, p), q % (size(x, p) + 1), 0 if size(x, p) == q % (size(x, p) + 1) else 1),
    "every second": lambda x, p, q: x[..., abs(p) % 2 :: 2],
    "expand": lambda x, p, q: x.unsqueeze(0).expand(abs(p) % 3 + 1, *x.shape),
    "diagonal": lambda x, p, q: x.diagonal(p % 2),
    "unfold": lambda x, p, q: x.unfold(dim(x, p), 2, abs(q) % 2 + 1),
    "movedim": lambda x, p, q: x.movedim(dim(x, p), dim(x, q)),
    "flatten": lambda x, p, q: x.flatten(),
    "chunk": lambda x, p, q: _chunk(x, p),
    "unbind": lambda x, p, q: x.unbind(dim(x, p))[0],
    "as_strided": lambda x, p, q: x.as_strided((2, 2), (abs(p) % 2, 1), x.storage_offset()),
    "view_as_real": lambda x, p, q: torch.view_as_real(x.resolve_conj()),
    "imag": lambda x, p, q: x.imag,
    "bits": lambda x, p, q: x.view(torch.int32),
    "detach": lambda x, p, q: x.detach(),
    # copies
    "flip": lambda x, p, q: x.flip(dim(x, p)),
    "roll": lambda x, p, q: x.roll(q, dim(x, p)),
    "repeat": lambda x, p, q: x.repeat(abs(p) % 3, *[1] * x.dim()),
    "tril": lambda x, p, q: x.tril(p),
    "pad": _padded,
    "clone": lambda x, p, q: x.clone(),
    "contiguous": lambda x, p, q: x.contiguous(),
    "cast": lambda x, p, q: _cast(x, p),
    "mask": lambda x, p, q: x[_mask(x, p)],
    "index_select": lambda x, p, q: x.index_select(dim(x, p), _index(x, p, q)),
    "index": lambda x, p, q: x[_index(x, 0, q)],
    "take": lambda x, p, q: x.take(_index(x.flatten(), 0, q)),
    "layer_norm": lambda x, p, q: F.layer_norm(x, x.shape[-1:]),
    "full_like": lambda x, p, q: torch.full_like(x, abs(p)),
    "arange": lambda x, p, q: torch.arange(abs(p) + 1, device=x.device),
    "tri": lambda x, p, q: torch.eye(abs(p) % 4 + 1, abs(q) % 4 + 1, device=x.device),
    "out": lambda x, p, q: torch.neg(x, out=torch.zeros_like(x)),
    # in place
    "fill_": lambda x, p, q: x.fill_(abs(p)),
    "zero_": lambda x, p, q: x.zero_(),
    "add_ scalar": lambda x, p, q: x.add_(abs(p)),
    "clamp_": lambda x, p, q: x.clamp_(min=abs(p)),
    "neg_": lambda x, p, q: x.neg_(),
    "sigmoid_": lambda x, p, q: x.sigmoid_(),
    "unsqueeze_": lambda x, p, q: x.unsqueeze_(p % (x.dim() + 1)),
    "transpose_": lambda x, p, q: x.transpose_(dim(x, p), dim(x, q)),
    "masked_fill_": lambda x, p, q: x.masked_fill_(_mask(x, p), abs(q)),
    "index_fill_": lambda x, p, q: x.index_fill_(dim(x, p), _index(x, p, q), abs(q)),
    "set slice": lambda x, p, q: _set(x, (..., slice(abs(p) % 2, None, 2)), abs(q)),
    "set index": lambda x, p, q: _set(x, _index(x, 0, q), abs(q)),
    "set mask": lambda x, p, q: _set(x, _mask(x, p), abs(q)),
}

BINARY = {
    "add": lambda x, y, p, q: x + y,
    "subtract": lambda x, y, p, q: torch.sub(x, y, alpha=p),
    "multiply": lambda x, y, p, q: x * y,
    "divide": lambda x, y, p, q: x / y,
    "floor_divide": lambda x, y, p, q: x // (y.abs() + 1),
    "maximum": lambda x, y, p, q: torch.maximum(x, y),
    "atan2": lambda x, y, p, q: torch.atan2(x, y),
    "equal to": lambda x, y, p, q: x == y,
    "less": lambda x, y, p, q: x < y,
    "xor": lambda x, y, p, q: x ^ y,
    "logical_and": lambda x, y, p, q: x.logical_and(y),
    "where": lambda x, y, p, q: torch.where(_mask(x, p), x, y),
    "lerp": lambda x, y, p, q: torch.lerp(x, y, p / 8),
    "addcmul": lambda x, y, p, q: torch.addcmul(x, x, y, value=p),
    "matmul": lambda x, y, p, q: x @ y,
    "matmul transposed": lambda x, y, p, q: x @ y.mT,
    "outer": lambda x, y, p, q: torch.outer(x.flatten()[:8], y.flatten()[:8]),
    "einsum": lambda x, y, p, q: torch.einsum("...i,...i->...", x, y),
    "cat": lambda x, y, p, q: torch.cat([x, y], dim(x, p)),
    "stack": lambda x, y, p, q: torch.stack([x, y], dim(x, p)),
    "linear": lambda x, y, p, q: F.linear(x, y),
    "mse": lambda x, y, p, q: F.mse_loss(x, y),
    "gather": lambda x, y, p, q: x.gather(dim(x, p), _index(x, p, q).view(-1, *[1] * (x.dim() - 1)).transpose(0, dim(x, p))),
    "add_": lambda x, y, p, q: x.add_(y, alpha=p),
    "mul_": lambda x, y, p, q: x.mul_(y),
    "copy_": lambda x, y, p, q: x.copy_(y.nan_to_num(0, 9, -9).clamp(0, 100) if y.is_floating_point() else y),
    # Python writes a CPU scalar with fill_ and another device's with copy_, which differ in what needs a gradient.
    "set from": lambda x, y, p, q: _set(x, (..., slice(abs(p) % 2, None)), y.detach().sum().nan_to_num(0, 9, -9).clamp(0, 100)),
    "index_add_": lambda x, y, p, q: x.index_add_(dim(x, p), _index(x, p, q), x.index_select(dim(x, p), _index(x, p, q)) * 2),
    "masked_scatter": lambda x, y, p, q: x.masked_scatter(_mask(x, p), y.expand_as(x)),
    "add out": lambda x, y, p, q: torch.add(x, y, out=torch.zeros(torch.broadcast_shapes(x.shape, y.shape), dtype=torch.result_type(x, y), device=x.device)),
}  # fmt: skip
