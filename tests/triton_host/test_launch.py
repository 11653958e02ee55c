"""Launching: which argument reaches which parameter, and what is said of those that cannot."""

import threading

import pytest
import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from . import kernels

DEVICE = "flagos"


def scalar(dtype=torch.int64):
    return torch.zeros(1, dtype=dtype, device=DEVICE)


def test_a_kernel_computes_on_device_memory(launches):
    a, b = torch.randn(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
    out = torch.empty_like(a)
    kernels.add[(triton.cdiv(1000, 128),)](a, b, out, 1000, BLOCK=128)
    assert torch.equal(out.cpu(), a.cpu() + b.cpu())
    assert launches() == {"add": 1}


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64]
)
def test_a_kernel_is_compiled_for_each_dtype(dtype):
    a, b = (torch.randint(-9, 9, (50,)).to(dtype) for _ in range(2))
    out = torch.empty(50, dtype=dtype, device=DEVICE)
    kernels.add[(4,)](a.to(DEVICE), b.to(DEVICE), out, 50, BLOCK=16)
    assert torch.equal(out.cpu(), a + b)


@pytest.mark.parametrize("value", [0, 1, -1, 16, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), True, False])
def test_integers_arrive_whatever_type_they_are_specialized_to(value):
    out = scalar()
    kernels.put[(1,)](out, value)
    assert out.item() == value


def test_an_unsigned_integer_of_64_bits_arrives():
    out = scalar(torch.uint64)
    kernels.put[(1,)](out, 2**64 - 3)
    assert out.cpu().numpy()[0] == 2**64 - 3


@pytest.mark.parametrize(
    "kernel, dtype",
    [
        (kernels.put, torch.float32),
        (kernels.put_half, torch.float16),
        (kernels.put_bf16, torch.bfloat16),
        (kernels.put_double, torch.float64),
    ],
)
@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.0, 0.1, -2.7182818284, 1e300, -1e300, float("inf"), float("nan"), 1 + 3 * 2**-8]
)
def test_floats_are_rounded_as_pytorch_rounds_them(kernel, dtype, value):
    out = scalar(dtype)
    kernel[(1,)](out, value)
    wanted = torch.tensor([value], dtype=torch.float64).to(dtype)
    torch.testing.assert_close(out.cpu(), wanted, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(out.cpu().signbit(), wanted.signbit())


@pytest.mark.parametrize("factor, offset, start", [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (16, 1, 0)])
def test_an_integer_1_that_triton_compiles_in_shifts_no_argument(factor, offset, start):
    out, wanted = scalar(), factor * 1000 + offset * 10 + start + 100
    kernels.scale[(1,)](out, factor, offset, False, start)
    assert out.item() == wanted
    kernels.scale[(1,)](out, factor, offset, TWICE=True, start=start)
    assert out.item() == 2 * wanted


@pytest.mark.parametrize("start", [1, 5])
def test_a_compiled_kernel_takes_all_arguments_or_those_not_declared_constexpr(start):
    out = scalar()
    compiled = kernels.scale[(1,)](out, 3, 1, True, start, 100)
    for arguments in ((out, 3, 1, True, start, 100), (out, 3, 1, start)):
        out.zero_()
        compiled[(1, 1, 1)](*arguments)
        assert out.item() == 2 * (3000 + 10 + start + 100)


def test_a_compiled_kernel_refuses_another_number_of_arguments():
    out = scalar()
    compiled = kernels.scale[(1,)](out, 3, 1, True, 5, 100)
    with pytest.raises(TypeError, match=r"kernel scale takes 6 arguments, or the 4 .* constexpr, but 5 were given"):
        compiled[(1, 1, 1)](out, 3, 1, True, 5)


def test_an_argument_of_the_wrong_type_is_named_with_its_kernel():
    out = scalar()
    compiled = kernels.put[(1,)](out, 3)
    with pytest.raises(TypeError, match="kernel put: an argument is not of the type it was compiled for"):
        compiled[(1, 1, 1)](out, "three")


def test_none_is_a_constant_and_a_tensor_a_pointer():
    out, other = scalar(), torch.full((1,), 3, device=DEVICE)
    kernels.first_or_seven[(1,)](out, None)
    assert out.item() == 7
    kernels.first_or_seven[(1,)](out, other)
    assert out.item() == 3


def test_tuples_are_taken_apart():
    out, a, b = scalar(), torch.full((1,), 1000, device=DEVICE), torch.full((1,), 200, device=DEVICE)
    kernels.of_tuples[(1,)](out, (a, 30), (4, (1, b)))
    assert out.item() == 1235


def test_a_tensor_descriptor_is_taken_apart():
    source = torch.arange(12 * 8, dtype=torch.float32).reshape(12, 8).to(DEVICE)
    out = torch.empty(4, 8, device=DEVICE)
    kernels.copy_tile[(1,)](TensorDescriptor.from_tensor(source, [4, 8]), out, 4, 8)
    assert torch.equal(out.cpu(), source.cpu()[4:8])


def test_a_tensor_on_the_cpu_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"argument 'maybe' of kernel first_or_seven is a tensor on 'cpu', .*\.to\('flagos'\)"
    ):
        kernels.first_or_seven[(1,)](scalar(), torch.ones(1, dtype=torch.int64))


def test_every_program_of_a_grid_of_three_axes_runs_once():
    out = torch.zeros(4, 3, 2, dtype=torch.int32, device=DEVICE)
    kernels.where_am_i[(2, 3, 4)](out)
    z, y, x = torch.meshgrid(torch.arange(4), torch.arange(3), torch.arange(2), indexing="ij")
    assert torch.equal(out.cpu(), (x + 10 * y + 100 * z + 432000).to(torch.int32))


def test_a_grid_may_be_computed_from_the_arguments():
    out = torch.zeros(40, device=DEVICE)
    kernels.add[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](out, out, out, 40, BLOCK=16)


def test_an_empty_grid_runs_nothing_and_does_not_count(launches):
    out = torch.full((4,), 5.0, device=DEVICE)
    kernels.add[(0,)](out, out, out, 4, BLOCK=16)
    assert out.tolist() == [5.0] * 4 and launches() == {}


def test_concurrent_launches_count_and_add_up(launches):
    counter = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    # Both forms are compiled here: threads that parse at once can meet CPython's "AST constructor recursion depth mismatch".
    kernels.count_up[(1,)](counter, 16, BLOCK=16)
    kernels.count_up[(4,)](counter, 60, BLOCK=16)

    def work():
        for _ in range(25):
            kernels.count_up[(4,)](counter, 60, BLOCK=16)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    torch.flagos.synchronize()
    assert counter.item() == 16 + 60 + 4 * 25 * 60
    assert launches() == {"count_up": 102}


def test_hooks_see_each_launch():
    from triton import knobs

    seen, out = [], scalar()
    enter, leave = (
        (lambda data: seen.append(("enter", data.get()["name"]))),
        (lambda data: seen.append(("exit", data.get()["name"]))),
    )
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        kernels.put[(1,)](out, 3)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    assert seen == [("enter", "put"), ("exit", "put")]


def test_work_on_a_stream_keeps_its_order():
    stream = torch.flagos.Stream()
    a = torch.ones(1 << 16, device=DEVICE)
    torch.flagos.synchronize()
    with torch.flagos.stream(stream):
        for _ in range(10):
            kernels.add[(64,)](a, a, a, 1 << 16, BLOCK=1024)
            a -= 1
    stream.synchronize()
    assert torch.equal(a.cpu(), torch.ones(1 << 16))


@pytest.mark.devices(2)
def test_a_kernel_runs_on_the_device_of_its_thread():
    with torch.flagos.device(1):
        out = torch.zeros(1, dtype=torch.int64, device="flagos:1")
        kernels.put[(1,)](out, 3)
    assert out.item() == 3


def test_a_failed_assertion_names_its_kernel():
    good, bad = torch.ones(1, dtype=torch.int32, device=DEVICE), torch.zeros(1, dtype=torch.int32, device=DEVICE)
    kernels.must_be_positive[(1,)](good, debug=True)
    assert good.item() == 2
    with pytest.raises(RuntimeError, match="kernel must_be_positive: device assertion failed: .*not positive"):
        kernels.must_be_positive[(1,)](bad, debug=True)
    kernels.must_be_positive[(1,)](good, debug=True)  # a failure does not stay


def test_inline_assembly_is_refused_in_one_sentence():
    with pytest.raises(RuntimeError, match=r"kernel assembly cannot run on the host: .*inline") as refused:
        kernels.assembly[(1,)](torch.ones(1, dtype=torch.int32, device=DEVICE))
    assert "\n" not in str(refused.value)


def test_an_autotuned_kernel_takes_its_first_configuration(launches):
    out = torch.zeros(100, dtype=torch.int32, device=DEVICE)
    kernels.tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](out, 100)
    assert set(out.tolist()) == {16} and launches() == {"tuned": 1}
