"""Triton's language on both executors, against PyTorch on the CPU."""

import numpy as np
import pytest
import torch
from torch_fl_triton_host import executable, native
from torch_fl_triton_host.launcher import Launcher

from . import language_kernels as kernels

EXECUTORS = [
    "numpy",
    pytest.param("native", marks=pytest.mark.skipif(native.compiler() is None, reason="no C compiler is installed")),
]
DEVICE = "flagos"


@pytest.fixture(params=EXECUTORS)
def launch(request):
    """``launch(kernel, grid, *arguments)`` on one of the executors."""

    def run(kernel, grid, *arguments, **constants):
        compiled = kernel.warmup(*arguments, grid=grid, **constants)
        loaded = executable.load(compiled.name, compiled.kernel, request.param)
        values = [
            constants.get(p.name, a) for p, a in zip(kernel.params, [*arguments, *[None] * len(constants)], strict=True)
        ]
        grid = (*grid, 1, 1)[:3]
        Launcher(compiled.src, compiled.metadata)(*grid, 0, loaded, (), None, None, None, *values)
        torch.flagos.synchronize()

    return run


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def device(tensor):
    return tensor.to(DEVICE)


def check(found, wanted, rtol=1e-5, atol=1e-5):
    torch.testing.assert_close(found.cpu(), wanted, rtol=rtol, atol=atol, equal_nan=True)


def test_elementwise_functions(launch):
    a, b, out = torch.randn(64), torch.randn(64), torch.zeros(64, device=DEVICE)
    launch(kernels.elementwise, (1,), device(a), device(b), out, N=64)
    wanted = a.exp() + (b.abs() + 1).log() * a.sin() - b.cos() + a.abs().sqrt() + b.sigmoid()
    wanted += torch.where(a > b, a.clamp(min=0.5), b.clamp(max=-0.5)) + a.floor() - b.ceil() + a.erf()
    wanted += b.exp2() + (a.abs() + 1).log2() + (b.abs() + 1).rsqrt() + a * b + a + a.clamp(-1, 1)
    check(out, wanted)


def test_device_functions(launch):
    a, b, out = torch.randn(64), torch.randn(64), torch.zeros(64, device=DEVICE)
    a[:3] = torch.tensor([float("inf"), float("nan"), 0.0])
    launch(kernels.device_functions, (1,), device(a), device(b), out, N=64)
    wanted = a.tanh() + a.abs().pow(b) + torch.atan2(a, b) + torch.fmod(a, b) + b.round() + a.trunc() + a / b + b.erf()
    wanted += a.abs().log1p() + b.expm1() + a.isnan().float() + b.isfinite().float() + a / b
    check(out, wanted, 2e-5, 2e-5)


@pytest.mark.parametrize("n, total, steps", [(100, 100.0, 7), (3, 3.0, 2), (70, 0.5, 0)])
def test_loops_and_branches(launch, n, total, steps):
    out = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    launch(kernels.loops, (1,), device(torch.full((n,), total / n)), out, n, N=32)
    assert out.item() == 32 + steps + (100 if steps > 3 else 200)


def test_a_program_may_return_early(launch):
    out = torch.zeros(4, device=DEVICE)
    launch(kernels.early_return, (4,), device(torch.tensor([1.0, -1.0, 2.0, -2.0])), out)
    assert out.tolist() == [2.0, 0.0, 4.0, 0.0]


def test_functions_that_are_not_inlined(launch):
    x, out = torch.randn(16), torch.zeros(16, device=DEVICE)
    launch(kernels.calls, (16,), device(x), out, 3)
    check(out, (x + 1) * x + 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bfloat16])
def test_reductions(launch, dtype):
    x = torch.randperm(8 * 16).reshape(8, 16).sub(60).to(dtype)
    out, indices = torch.zeros(4, 8, dtype=dtype, device=DEVICE), torch.zeros(4, 8, dtype=torch.int32, device=DEVICE)
    launch(kernels.reductions, (1,), device(x), out, indices, M=8, N=16)
    assert torch.equal(out[1].cpu(), x.amax(1)) and torch.equal(out[2].cpu(), x.amin(1))
    check(out[0], x.float().sum(1).to(dtype) if dtype.is_floating_point else x.sum(1).to(dtype), 2e-2, 1)
    largest = (x.float().abs() + (15 - torch.arange(16)) * 1e-3).argmax(1)  # the first of those alike
    assert torch.equal(indices[0].cpu(), largest.int())
    assert torch.equal(out[3].cpu(), x.gather(1, largest[:, None])[:, 0])
    assert torch.equal(x.gather(1, indices[1].cpu().long()[:, None])[:, 0], x.amax(1))
    assert torch.equal(x.gather(1, indices[2].cpu().long()[:, None])[:, 0], x.amin(1))
    folded = np.bitwise_xor.reduce((largest * 7 + torch.arange(8)).numpy())
    assert (indices[3].cpu() == int(folded)).all()


def test_scans(launch):
    x, out = torch.rand(4, 8) + 0.5, torch.zeros(4, 4, 8, device=DEVICE)
    launch(kernels.scans, (1,), device(x), out, M=4, N=8)
    check(out, torch.stack([x.cumsum(1), x.flip(0).cumsum(0).flip(0), x.cumprod(1), x.cummax(1).values]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8])
def test_matrix_products(launch, dtype):
    kind = torch.int32 if dtype is torch.int8 else torch.float32
    a, b, c = ((torch.randn(*shape) * 3).to(dtype) for shape in ((16, 32), (32, 16), (16, 16)))
    c, out = c.to(kind), torch.zeros(16, 16, dtype=kind, device=DEVICE)
    launch(kernels.matrices, (1,), device(a), device(b), device(c), out, M=16, N=16, K=32)
    check(out, (a.double() @ b.double() + c.double().t()).to(kind), 1e-5, 1e-3)


def test_placing_elements(launch):
    x, out = torch.randn(16), torch.zeros(7 * 16, device=DEVICE)
    launch(kernels.placing, (1,), device(x), out, N=16)
    out = out.cpu()
    assert torch.equal(out[:32], torch.stack([x + 1, -x - 1], 1).flatten())
    assert torch.equal(out[32:64].sort().values, torch.cat([x, x * 2]).sort().values)
    assert torch.equal(out[64:80], x.flip(0)) and torch.equal(out[80:96], x.reshape(4, 4).t().flatten())
    assert torch.equal(out[96:], x.sort().values)


def test_gathering_and_counting(launch):
    x, index = torch.randn(32), torch.randint(0, 8, (32,), dtype=torch.int32)
    out, counts = torch.zeros(32, device=DEVICE), torch.zeros(8, dtype=torch.int32, device=DEVICE)
    launch(kernels.picking, (1,), device(x), device(index), out, counts, N=32)
    assert torch.equal(out.cpu(), x[index]) and torch.equal(counts.cpu(), index.bincount(minlength=8).int())


def test_atomic_operations(launch):
    numbers = torch.tensor([0, 0, 0, 0, -1, 0, 5, 0], dtype=torch.int32, device=DEVICE)
    floats, halves = torch.zeros(6, device=DEVICE), torch.zeros(4, dtype=torch.float16, device=DEVICE)
    launch(kernels.atomics, (7,), numbers, floats, halves, 100, N=16)
    every = range(100)
    folded = [np.bitwise_or.reduce(every), np.bitwise_and.reduce([i | 1 for i in every]), np.bitwise_xor.reduce(every)]
    assert numbers.tolist() == [100, 99, -99, *map(int, folded), 42, 9]
    assert floats.tolist() == [12.5] * 4 + [99.0, -99.0] and halves.tolist() == [6.25] * 4


def test_tables_of_pointers(launch):
    tensors = [torch.full((1,), float(i), device=DEVICE) for i in range(4)]
    table, out = device(torch.tensor([t.data_ptr() for t in tensors])), torch.zeros(4, device=DEVICE)
    launch(kernels.pointers, (1,), table, out, N=4)
    assert out.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr")
def test_block_pointers(launch):
    x, out = torch.randn(5, 21), torch.zeros(5, 21, device=DEVICE)
    launch(kernels.blocks, (1,), device(x), out, 5, 21, M=8, N=8)
    assert torch.equal(out.cpu(), x * 2)


def test_random_numbers_are_philoxs(launch):
    out = torch.zeros(2, 1024, device=DEVICE)
    launch(kernels.random_numbers, (1,), out, 12345, N=1024)
    uniform, normal = out.cpu()
    assert (
        0 <= uniform.min()
        and uniform.max() < 1
        and abs(uniform.mean() - 0.5) < 0.03
        and uniform.unique().numel() > 1000
    )
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1


def test_both_executors_draw_the_same_random_numbers():
    drawn = []
    for kind in ("numpy", "native"):
        out = torch.zeros(2, 256, device=DEVICE)
        compiled = kernels.random_numbers.warmup(out, 7, N=256, grid=(1,))
        loaded = executable.load(compiled.name, compiled.kernel, kind)
        Launcher(compiled.src, compiled.metadata)(1, 1, 1, 0, loaded, (), None, None, None, out, 7, 256)
        torch.flagos.synchronize()
        drawn.append(out.cpu())
    assert torch.equal(drawn[0][0], drawn[1][0])
    check(drawn[0][1], drawn[1][1], 1e-5, 1e-6)


def test_conversions(launch):
    x = torch.cat([torch.randn(60), torch.tensor([0.0, 1e-9, 300.0, -70000.0])])
    out, whole = torch.zeros(4, 64, device=DEVICE), torch.zeros(3, 64, dtype=torch.int32, device=DEVICE)
    launch(kernels.casts, (1,), device(x), out, whole, N=64)
    out, whole = out.cpu(), whole.cpu()
    assert torch.equal(out[0], x.half().float()) and torch.equal(out[1], x.bfloat16().float())
    assert torch.equal(out[2], x.clamp(-448, 448).to(torch.float8_e4m3fn).float())
    assert torch.equal(out[3], x.clamp(-57344, 57344).to(torch.float8_e5m2).float())
    assert torch.equal(whole[0], x.int()) and torch.equal(whole[1], x.view(torch.int32))
    assert torch.equal(whole[2], (x * 1000).clamp(-128, 127).int())


def test_prints_reach_standard_output(launch, capfd):
    launch(kernels.says, (1,), device(torch.tensor([42], dtype=torch.int32)))
    assert "value: " in (said := capfd.readouterr().out) and "42" in said
