"""Rows: indexing, joining, factories and random numbers."""

import torch
from torch.nn import functional as F

from .matrix import F32, FLOATS, I64, NUMBERS, Row, of, one, two, values

_ROWS_AT = torch.tensor([3, 0, 5, 3])


def _table(*more: tuple[int, ...]):
    """A table of 8 rows, an index into them, then arguments of the shapes `more`."""
    return lambda dtype: (values(8, 6, dtype=dtype), _ROWS_AT, *(values(*shape, dtype=dtype) for shape in more))


def _columns(dtype: torch.dtype) -> tuple:
    """A table, three distinct columns for each row, and a source of that shape."""
    columns = torch.argsort(torch.rand(8, 6), 1)[:, :3].contiguous()
    return values(8, 6, dtype=dtype), columns, values(8, 3, dtype=dtype)


def _put(dtype: torch.dtype) -> tuple:
    return values(8, 6, dtype=dtype), torch.tensor([3, 0, 5]), values(3, 6, dtype=dtype)


ROWS = [
    Row("embedding", ("embedding",), lambda w, i: F.embedding(i, w), _table()),
    Row("index_select", ("index_select",), lambda x, i: torch.index_select(x, 0, i), _table(), NUMBERS),
    Row("index", ("index",), lambda x, i: x[i], _table(), NUMBERS),
    Row("index_put", ("index_put",), lambda x, i, v: torch.index_put(x, (i,), v), _put, (F32,)),
    Row("index_add", ("index_add",), lambda x, i, s: x.index_add(0, i, s), _table((4, 6)), (F32,)),
    Row("gather", ("gather",), lambda x, i, s: torch.gather(x, 1, i), _columns, NUMBERS),
    Row("scatter", ("scatter",), lambda x, i, s: x.scatter(1, i, s), _columns, (F32, I64)),
    Row("scatter_add_", ("scatter_add_",), lambda x, i, s: x.scatter_add_(1, i, s), _columns, (F32,)),
    Row("cat", ("cat",), lambda a, b: torch.cat([a, b], 1), two, NUMBERS),
    Row("stack", ("stack",), lambda a, b: torch.stack([a, b], 1), two, (F32,)),
    Row("flip", ("flip",), lambda a: torch.flip(a, (0,)), one, (F32,)),
    Row("tile", ("tile",), lambda a: a.tile(2, 3), one, (F32,)),
    Row("repeat", ("repeat",), lambda a: a.repeat(2, 1), one, (F32,)),
    Row("triu", ("triu",), torch.triu, one, (F32,)),
    Row("diag", ("diag",), torch.diag, of((6,)), (F32,)),
    Row("masked_select", ("masked_select",), lambda a: torch.masked_select(a, a > 0), one, (F32,)),
    Row("nonzero", ("nonzero",), lambda a: torch.nonzero(a > 0), one, (F32,)),
    Row("pad", ("pad", "constant_pad_nd"), lambda a: F.pad(a, (1, 2)), one, (F32,)),
    Row("zeros", ("zeros",), lambda a: torch.zeros(5, 7, device=a.device), one, (F32,)),
    Row("full", ("full",), lambda a: torch.full((5, 7), 2.5, device=a.device), one, (F32,)),
    Row("ones_like", ("ones_like",), torch.ones_like, one, NUMBERS),
    Row("arange", ("arange", "arange_start"), lambda a: torch.arange(3, 40, 2, device=a.device), one, (F32,)),
    Row("linspace", ("linspace",), lambda a: torch.linspace(0, 1, 11, device=a.device), one, (F32,)),
    Row("eye", ("eye", "eye_m"), lambda a: torch.eye(5, device=a.device), one, (F32,)),
    Row("randn", ("randn",), lambda a: torch.randn(50, 60, device=a.device), one, (F32,), random=True),
    Row("rand", ("rand",), lambda a: torch.rand(50, 60, device=a.device), one, (F32,), random=True),
    Row("normal_", ("normal_",), lambda a: a.normal_(), one, (F32,), random=True),
    Row("uniform_", ("uniform_",), lambda a: a.uniform_(), one, (F32,), random=True),
    Row("exponential_", ("exponential_",), lambda a: a.exponential_(), one, (F32,), random=True),
    Row("dropout", ("dropout",), lambda a: F.dropout(a, 0.4, True), of((50, 60)), FLOATS, random=True),
    Row("multinomial", ("multinomial",), lambda a: torch.multinomial(a.abs(), 3, True), one, (F32,), random=True),
    Row("randperm", ("randperm",), lambda a: torch.randperm(40, device=a.device).sort()[0], one, (F32,)),
]
