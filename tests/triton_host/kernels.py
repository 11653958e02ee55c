"""Small kernels of our own; Triton reads their source from this file."""

import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def scale(out, factor, offset, TWICE: tl.constexpr, start=5, EXTRA: tl.constexpr = 100):
    """One number: factor * 1000 + offset * 10 + start + EXTRA, doubled if TWICE."""
    value = factor * 1000 + offset * 10 + start + EXTRA
    if TWICE:
        value = value * 2
    tl.store(out, value)


@triton.jit
def put(out, value):
    tl.store(out, value)


@triton.jit
def put_half(out, value: tl.float16):
    tl.store(out, value)


@triton.jit
def put_bf16(out, value: tl.bfloat16):
    tl.store(out, value)


@triton.jit
def put_double(out, value: tl.float64):
    tl.store(out, value)


@triton.jit
def put_unspecialized(out, value: tl.int64):
    tl.store(out, value)


@triton.jit
def first_or_seven(out, maybe):
    if maybe is not None:
        tl.store(out, tl.load(maybe))
    else:
        tl.store(out, 7)


@triton.jit
def of_tuples(out, pair, nested):
    """pair = (tensor, number), nested = (number, (constant, tensor))"""
    tl.store(out, tl.load(pair[0]) + pair[1] + nested[0] + nested[1][0] + tl.load(nested[1][1]))


@triton.jit
def copy_tile(source, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """`source` is a tensor descriptor; tile (1, 0) of it."""
    tile = source.load([ROWS, 0])
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tile)


@triton.jit
def where_am_i(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    wide, high, deep = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + (z * high + y) * wide + x, x + 10 * y + 100 * z + 1000 * wide + 10000 * high + 100000 * deep)


@triton.jit
def count_up(counter, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counter + at * 0, 1, mask=at < n)


@triton.jit
def must_be_positive(a):
    value = tl.load(a)
    tl.device_assert(value > 0, "not positive")
    tl.store(a, value + 1)


@triton.jit
def assembly(out):
    value = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(out)], tl.int32, is_pure=True, pack=1)
    tl.store(out, value)


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit
def tuned(out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, BLOCK, mask=at < n)
