"""Kernels that between them use what FlagGems uses of Triton's language; Triton reads their source from this file."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def elementwise(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    r = tl.exp(a) + tl.log(tl.abs(b) + 1) * tl.sin(a) - tl.cos(b) + tl.sqrt(tl.abs(a)) + tl.sigmoid(b)
    r += tl.where(a > b, tl.maximum(a, 0.5), tl.minimum(b, -0.5)) + tl.floor(a) - tl.ceil(b) + tl.erf(a)
    r += tl.exp2(b) + tl.log2(tl.abs(a) + 1) + tl.rsqrt(tl.abs(b) + 1) + tl.fma(a, b, a) + tl.clamp(a, -1.0, 1.0)
    tl.store(out + at, r)


@triton.jit
def device_functions(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    r = (
        libdevice.tanh(a)
        + libdevice.pow(tl.abs(a), b)
        + libdevice.atan2(a, b)
        + libdevice.fmod(a, b)
        + libdevice.rint(b)
    )
    r += (
        libdevice.trunc(a) + libdevice.div_rn(a, b) + libdevice.erf(b) + libdevice.log1p(tl.abs(a)) + libdevice.expm1(b)
    )
    r += (
        tl.where(libdevice.isnan(a) != 0, 1.0, 0.0)
        + tl.where(libdevice.finitef(b) != 0, 1.0, 0.0)
        + libdevice.div_rz(a, b)
    )
    tl.store(out + at, r)


@triton.jit
def loops(x, out, n, N: tl.constexpr):
    """Sum of the first n numbers, one block at a time; then halved until at most 1, counting."""
    total = tl.zeros((N,), tl.float32)
    for start in range(0, n, N):
        at = start + tl.arange(0, N)
        total += tl.load(x + at, mask=at < n, other=0.0)
    value = tl.sum(total)
    steps = 0
    while value > 1:
        value = value / 2
        steps += 1
    if steps > 3:
        steps += 100
    else:
        steps += 200
    tl.store(out, total.shape[0] + steps)


@triton.jit
def early_return(x, out):
    value = tl.load(x + tl.program_id(0))
    if value < 0:
        return
    tl.store(out + tl.program_id(0), value * 2)


@triton.jit(noinline=True)
def polynomial(x, degree):
    result = x * 0
    for _ in range(degree):
        result = result * x + 1
    return result


@triton.jit
def calls(x, out, degree):
    at = tl.program_id(0)
    tl.store(out + at, polynomial(tl.load(x + at), degree))


@triton.jit
def larger_magnitude(value_a, index_a, value_b, index_b):
    first = (tl.abs(value_a) > tl.abs(value_b)) or ((tl.abs(value_a) == tl.abs(value_b)) and (index_a < index_b))
    return tl.where(first, value_a, value_b), tl.where(first, index_a, index_b)


@triton.jit
def reductions(x, out, indices, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    a = tl.load(x + rows * N + columns)
    at = tl.arange(0, M)
    tl.store(out + at, tl.sum(a, 1))
    tl.store(out + M + at, tl.max(a, 1))
    tl.store(out + 2 * M + at, tl.min(a, 1))
    value, index = tl.reduce((a, tl.broadcast_to(columns, (M, N))), 1, larger_magnitude)
    tl.store(out + 3 * M + at, value)
    tl.store(indices + at, index)
    tl.store(indices + M + at, tl.argmax(a, 1))
    tl.store(indices + 2 * M + at, tl.argmin(a, 1))
    tl.store(indices + 3 * M + at, tl.xor_sum(index * 7 + at, 0) + at * 0)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def branching(a, b):
    result = a
    if b > a:
        result = b
    return result


@triton.jit
def scans(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + at)
    tl.store(out + at, tl.cumsum(a, 1))
    tl.store(out + M * N + at, tl.cumsum(a, 0, reverse=True))
    tl.store(out + 2 * M * N + at, tl.associative_scan(a, 1, product))
    tl.store(out + 3 * M * N + at, tl.associative_scan(a, 1, branching))


@triton.jit
def matrices(x, y, z, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a, b = tl.load(x + m[:, None] * K + k[None, :]), tl.load(y + k[:, None] * N + n[None, :])
    c = tl.load(z + n[:, None] * M + m[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(a, b, acc=tl.trans(c), out_dtype=out.dtype.element_ty))


@triton.jit
def placing(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    both = tl.join(a, -a)
    left, right = tl.split(both)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(left + 1, right - 1))
    tl.store(out + 2 * N + tl.arange(0, 2 * N), tl.cat(a, a * 2, can_reorder=True))
    tl.store(out + 4 * N + at, tl.flip(a, 0))
    square = tl.reshape(a, (4, N // 4))
    tl.store(out + 5 * N + at, tl.reshape(tl.permute(square, (1, 0)), (N,)))
    tl.store(out + 6 * N + at, tl.sort(a))


@triton.jit
def picking(x, index, out, counts, N: tl.constexpr):
    at = tl.arange(0, N)
    a, i = tl.load(x + at), tl.load(index + at)
    tl.store(out + at, tl.gather(a, i, 0))
    tl.store(counts + tl.arange(0, 8), tl.histogram(i, 8))


@triton.jit
def atomics(numbers, floats, halves, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    inside = at < n
    tl.atomic_add(numbers + at * 0, 1, mask=inside)
    tl.atomic_max(numbers + 1 + at * 0, at, mask=inside)
    tl.atomic_min(numbers + 2 + at * 0, -at, mask=inside)
    tl.atomic_or(numbers + 3 + at * 0, at, mask=inside)
    tl.atomic_and(numbers + 4 + at * 0, at | 1, mask=inside)
    tl.atomic_xor(numbers + 5 + at * 0, at, mask=inside)
    tl.atomic_xchg(numbers + 6, 42)
    tl.atomic_cas(numbers + 7, 0, 9)
    tl.atomic_add(floats + at % 4, 0.5, mask=inside)
    tl.atomic_add(halves + at % 4, tl.full((N,), 0.25, tl.float16), mask=inside)
    tl.atomic_max(floats + 4 + at * 0, at.to(tl.float32), mask=inside)
    tl.atomic_min(floats + 5 + at * 0, -at.to(tl.float32), mask=inside)


@triton.jit
def pointers(table, out, N: tl.constexpr):
    """`table` holds addresses of float32 numbers."""
    for i in range(N):
        address = tl.load(table + i).to(tl.pointer_type(tl.float32))
        tl.store(out + i, tl.load(address) + 1)


@triton.jit
def blocks(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (rows, columns), (columns, 1), (0, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out, (rows, columns), (columns, 1), (0, 0), (M, N), (1, 0))
    for _ in range(0, columns, N):
        tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, tile * 2, boundary_check=(0, 1))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (0, N))


@triton.jit
def random_numbers(out, seed, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.rand(seed, at))
    tl.store(out + N + at, tl.randn(seed, at))


@triton.jit
def casts(x, out, whole, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    tl.store(out + at, a.to(tl.float16).to(tl.float32))
    tl.store(out + N + at, a.to(tl.bfloat16).to(tl.float32))
    tl.store(out + 2 * N + at, a.to(tl.float8e4nv).to(tl.float32))
    tl.store(out + 3 * N + at, a.to(tl.float8e5).to(tl.float32))
    tl.store(whole + at, a.to(tl.int32))
    tl.store(whole + N + at, a.to(tl.int32, bitcast=True))
    tl.store(whole + 2 * N + at, (a * 1000).to(tl.int8).to(tl.int32))


@triton.jit
def says(x):
    tl.device_print("value: ", tl.load(x))
