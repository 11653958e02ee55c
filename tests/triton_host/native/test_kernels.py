"""Whole kernels: addresses, masks, loops, reductions, threads, against numpy."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from torch_fl_triton_host.native import Unsupported, source
from torch_fl_triton_host.ttir import parse

from .support import module, run

COPY = """
    %pid = tt.get_program_id x : i32
    %size = arith.constant 64 : i32
    %start = arith.muli %pid, %size : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %spread = tt.splat %start : i32 -> tensor<64xi32>
    %offset = arith.addi %spread, %range : tensor<64xi32>
    %limit = tt.splat %n : i32 -> tensor<64xi32>
    %mask = arith.cmpi slt, %offset, %limit : tensor<64xi32>
    %step = tt.splat %s : i32 -> tensor<64xi32>
    %place = arith.muli %offset, %step : tensor<64xi32>
    %from = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %source = tt.addptr %from, %place : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %other = arith.constant dense<-1.0> : tensor<64xf32>
    %value = tt.load %source, %mask, %other : tensor<64x!tt.ptr<f32>>
    %to = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %target = tt.addptr %to, %offset : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
"""
ARGUMENTS = "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %s: i32"


@pytest.fixture(scope="module")
def masked_copy(build):
    return build(module(COPY + "tt.store %target, %value, %mask : tensor<64x!tt.ptr<f32>>", ARGUMENTS))


@pytest.mark.parametrize("step", [1, 2, 0])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_a_masked_copy_touches_what_the_mask_says_whatever_the_step(masked_copy, n, step):
    x, y = np.arange(600, dtype=np.float32), np.full(256, -7, np.float32)
    run(masked_copy, x, y, np.int32(n), np.int32(step), grid=(4, 1, 1))
    assert (y[:n] == np.arange(n) * step).all() and (y[n:] == -7).all()


def test_what_a_mask_leaves_out_is_read_as_the_other_value(build):
    kernel = build(module(COPY + "tt.store %target, %value : tensor<64x!tt.ptr<f32>>", ARGUMENTS))
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel, x, y, np.int32(10), np.int32(1))
    assert (y[:10] == x[:10]).all() and (y[10:] == -1).all()


@pytest.mark.parametrize("n", [0, 1, 40, 64, 65])
def test_a_reduction_over_one_element_behind_a_mask(build, n):
    """No loop is reduced, and the loop over the rest is cut at the mask's limit: both parts have their partial result."""
    column = COPY.replace("%value = tt.load %source, %mask, %other : tensor<64x!tt.ptr<f32>>", """
    %column = tt.expand_dims %source {axis = 1 : i32} : tensor<64x!tt.ptr<f32>> -> tensor<64x1x!tt.ptr<f32>>
    %wanted = tt.expand_dims %mask {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %others = tt.expand_dims %other {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %single = tt.load %column, %wanted, %others : tensor<64x1x!tt.ptr<f32>>
    %value = "tt.reduce"(%single) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tt.reduce.return %sum : f32
    }) : (tensor<64x1xf32>) -> tensor<64xf32>
""")  # fmt: skip
    kernel = build(module(column + "tt.store %target, %value : tensor<64x!tt.ptr<f32>>", ARGUMENTS))
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel, x, y, np.int32(n), np.int32(1))
    assert (y[:n] == x[:n]).all() and (y[n:] == -1).all()


def test_the_address_offset_is_added_to_every_address(masked_copy):
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    distance = 1 << 40
    masked_copy(b"".join(int(v).to_bytes(8, "little", signed=True) for v in (x.ctypes.data - distance, y.ctypes.data - distance, 64, 1)),
                distance, (1, 1, 1))  # fmt: skip
    assert (y == x).all()


def test_the_payload_form_does_the_same(masked_copy):
    import ctypes
    import struct

    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    payload = struct.pack("<qiiii4q", 0, 1, 1, 1, 1, x.ctypes.data, y.ctypes.data, 64, 1)
    ctypes.CFUNCTYPE(None, ctypes.c_char_p)(masked_copy.entry)(payload)
    assert (y == x).all()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_program_of_the_grid_runs_once(build, threads):
    body = """
    %one = arith.constant 1 : i32
    %i = tt.get_program_id x : i32
    %j = tt.get_program_id y : i32
    %k = tt.get_program_id z : i32
    %nx = tt.get_num_programs x : i32
    %ny = tt.get_num_programs y : i32
    %a = arith.muli %k, %ny : i32
    %b = arith.addi %a, %j : i32
    %c = arith.muli %b, %nx : i32
    %d = arith.addi %c, %i : i32
    %p = tt.addptr %x, %d : !tt.ptr<i32>, i32
    %old = tt.atomic_rmw add, relaxed, gpu, %p, %one : (!tt.ptr<i32>, i32) -> i32"""
    kernel = build(module(body, "%x: !tt.ptr<i32>"))
    x = np.zeros(31 * 17 * 13, np.int32)
    run(kernel, x, grid=(31, 17, 13), threads=threads)
    assert (x == 1).all()


def test_float_atomics_give_the_same_bits_with_any_number_of_threads(build):
    body = """
    %i = tt.get_program_id x : i32
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %y, %v : (!tt.ptr<f32>, f32) -> f32"""
    parsed = module(body, "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>")
    assert source.is_serial(parsed)
    kernel = build(parsed)
    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    found = set()
    for threads in (1, 4, 8):
        y = np.zeros(1, np.float32)
        run(kernel, x, y, grid=(5000, 1, 1), threads=threads)
        found.add(y.tobytes())
    assert len(found) == 1


def test_programs_that_wait_for_each_other_run_in_order(build):
    """Each adds to what the program before it wrote, which it waits for with a volatile load (a look-back)."""
    body = """
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %i = tt.get_program_id x : i32
    %mine = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %start = arith.cmpi eq, %i, %zero : i32
    %before = arith.subi %i, %one : i32
    %his = tt.addptr %x, %before : !tt.ptr<i32>, i32
    %v = scf.if %start -> (i32) {
      scf.yield %zero : i32
    } else {
      %w = scf.while (%seen = %zero) : (i32) -> i32 {
        %wait = arith.cmpi eq, %seen, %zero : i32
        scf.condition(%wait) %seen : i32
      } do {
      ^bb0(%s: i32):
        %next = tt.load %his {isVolatile = true} : !tt.ptr<i32>
        scf.yield %next : i32
      }
      %last = tt.load %his {isVolatile = true} : !tt.ptr<i32>
      scf.yield %last : i32
    }
    %sum = arith.addi %v, %one : i32
    tt.store %mine, %sum : !tt.ptr<i32>"""
    kernel = build(module(body, "%x: !tt.ptr<i32>"))
    x = np.zeros(3000, np.int32)
    run(kernel, x, grid=(3000, 1, 1), threads=4)
    assert (x == np.arange(1, 3001)).all()


REDUCE = """
    %r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
    %c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
    %r1 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
    %width = arith.constant dense<{columns}> : tensor<{rows}x1xi32>
    %r2 = arith.muli %r1, %width : tensor<{rows}x1xi32>
    %r3 = tt.broadcast %r2 : tensor<{rows}x1xi32> -> tensor<{rows}x{columns}xi32>
    %c1 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
    %c2 = tt.broadcast %c1 : tensor<1x{columns}xi32> -> tensor<{rows}x{columns}xi32>
    %o = arith.addi %r3, %c2 : tensor<{rows}x{columns}xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<{rows}x{columns}x!tt.ptr<f32>>
    %q = tt.addptr %p, %o : tensor<{rows}x{columns}x!tt.ptr<f32>>, tensor<{rows}x{columns}xi32>
    %v = tt.load %q : tensor<{rows}x{columns}x!tt.ptr<f32>>
"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 256), (64, 8), (2, 1)])
def test_a_sum_and_the_place_of_the_largest(build, axis, rows, columns):
    left = columns if axis == 0 else rows
    numbers = "%r3" if axis == 0 else "%c2"
    body = (
        REDUCE.format(rows=rows, columns=columns)
        + f"""
    %s = "tt.reduce"(%v) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }}) : (tensor<{rows}x{columns}xf32>) -> tensor<{left}xf32>
    %m:2 = "tt.reduce"(%v, {numbers}) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %same = arith.cmpf oeq, %a, %b : f32
      %lower = arith.cmpi slt, %i, %j : i32
      %tie = arith.andi %same, %lower : i1
      %more = arith.cmpf ogt, %a, %b : f32
      %take = arith.ori %more, %tie : i1
      %w = arith.select %take, %a, %b : f32
      %k = arith.select %take, %i, %j : i32
      tt.reduce.return %w, %k : f32, i32
    }}) : (tensor<{rows}x{columns}xf32>, tensor<{rows}x{columns}xi32>) -> (tensor<{left}xf32>, tensor<{left}xi32>)
    %l = tt.make_range {{end = {left} : i32, start = 0 : i32}} : tensor<{left}xi32>
    %y1 = tt.splat %y : !tt.ptr<f32> -> tensor<{left}x!tt.ptr<f32>>
    %y2 = tt.addptr %y1, %l : tensor<{left}x!tt.ptr<f32>>, tensor<{left}xi32>
    tt.store %y2, %s : tensor<{left}x!tt.ptr<f32>>
    %z1 = tt.splat %z : !tt.ptr<i32> -> tensor<{left}x!tt.ptr<i32>>
    %z2 = tt.addptr %z1, %l : tensor<{left}x!tt.ptr<i32>>, tensor<{left}xi32>
    tt.store %z2, %m#1 : tensor<{left}x!tt.ptr<i32>>"""
    )
    kernel = build(module(body, "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<i32>"))
    x = np.random.default_rng(1).integers(-3, 3, (rows, columns)).astype(np.float32)
    y, z = np.zeros(left, np.float32), np.zeros(left, np.int32)
    run(kernel, x, y, z)
    np.testing.assert_array_equal(y, x.sum(axis))
    np.testing.assert_array_equal(z, x.argmax(axis) * (columns if axis == 0 else 1))


@pytest.mark.parametrize("reverse", ["false", "true"])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_scan_in_both_directions(build, axis, reverse):
    body = (
        REDUCE.format(rows=8, columns=16)
        + f"""
    %s = "tt.scan"(%v) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.scan.return %t : f32
    }}) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %y1 = tt.splat %y : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %y2 = tt.addptr %y1, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    tt.store %y2, %s : tensor<8x16x!tt.ptr<f32>>"""
    )
    kernel = build(module(body, "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>"))
    x, y = np.arange(128, dtype=np.float32).reshape(8, 16), np.zeros((8, 16), np.float32)
    run(kernel, x, y)
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse == "true" else np.cumsum(x, axis)
    np.testing.assert_array_equal(y, expected)


def test_carried_tensors_may_change_places(build):
    """Fibonacci: both carried values are read before either is written, and one result is used after the loop twice."""
    body = """
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %start = arith.constant dense<0> : tensor<16xi32>
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %start, %b = %range) -> (tensor<16xi32>, tensor<16xi32>)  : i32 {
      %next = arith.addi %a, %b : tensor<16xi32>
      %odd = arith.divsi %next, %range : tensor<16xi32>
      %keep = arith.muli %odd, %range : tensor<16xi32>
      scf.yield %b, %keep : tensor<16xi32>, tensor<16xi32>
    }
    %p = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %q = tt.addptr %p, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %t = arith.subi %r#1, %r#0 : tensor<16xi32>
    tt.store %q, %t : tensor<16x!tt.ptr<i32>>"""
    kernel = build(module(body, "%y: !tt.ptr<i32>, %n: i32"))
    y = np.zeros(16, np.int32)
    run(kernel, y, np.int32(9))
    a, b = 0, 1
    for _ in range(9):
        a, b = b, a + b
    assert y.tolist() == [k * (b - a) for k in range(16)]


@pytest.mark.parametrize(("rows", "columns", "inner"), [(16, 32, 64), (8, 16, 16), (1, 4, 2), (2, 64, 1)])
@pytest.mark.parametrize("kind", ["f32", "f16", "f64"])
def test_a_product_of_matrices(build, rows, columns, inner, kind):
    total = "f64" if kind == "f64" else "f32"

    def tile(name, pointer, r, c, element):
        return textwrap.dedent(f"""
        %{name}r = tt.make_range {{end = {r} : i32, start = 0 : i32}} : tensor<{r}xi32>
        %{name}c = tt.make_range {{end = {c} : i32, start = 0 : i32}} : tensor<{c}xi32>
        %{name}e = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{r}xi32> -> tensor<{r}x1xi32>
        %{name}w = arith.constant dense<{c}> : tensor<{r}x1xi32>
        %{name}m = arith.muli %{name}e, %{name}w : tensor<{r}x1xi32>
        %{name}b = tt.broadcast %{name}m : tensor<{r}x1xi32> -> tensor<{r}x{c}xi32>
        %{name}f = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{c}xi32> -> tensor<1x{c}xi32>
        %{name}g = tt.broadcast %{name}f : tensor<1x{c}xi32> -> tensor<{r}x{c}xi32>
        %{name}o = arith.addi %{name}b, %{name}g : tensor<{r}x{c}xi32>
        %{name}s = tt.splat %{pointer} : !tt.ptr<{element}> -> tensor<{r}x{c}x!tt.ptr<{element}>>
        %{name}p = tt.addptr %{name}s, %{name}o : tensor<{r}x{c}x!tt.ptr<{element}>>, tensor<{r}x{c}xi32>""")

    body = (
        tile("a", "x", rows, inner, kind)
        + tile("b", "y", inner, columns, kind)
        + tile("d", "z", rows, columns, total)
        + f"""
    %a = tt.load %ap : tensor<{rows}x{inner}x!tt.ptr<{kind}>>
    %b = tt.load %bp : tensor<{inner}x{columns}x!tt.ptr<{kind}>>
    %zero = arith.constant dense<0.0> : tensor<{rows}x{columns}x{total}>
    %n = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %c = scf.for %i = %n to %two step %one iter_args(%sum = %zero) -> (tensor<{rows}x{columns}x{total}>)  : i32 {{
      %next = tt.dot %a, %b, %sum : tensor<{rows}x{inner}x{kind}> * tensor<{inner}x{columns}x{kind}> -> tensor<{rows}x{columns}x{total}>
      scf.yield %next : tensor<{rows}x{columns}x{total}>
    }}
    tt.store %dp, %c : tensor<{rows}x{columns}x!tt.ptr<{total}>>"""
    )
    kernel = build(module(body, f"%x: !tt.ptr<{kind}>, %y: !tt.ptr<{kind}>, %z: !tt.ptr<{total}>"))
    dtype = {"f32": np.float32, "f16": np.float16, "f64": np.float64}[kind]
    random = np.random.default_rng(2)
    x, y = (random.integers(-4, 4, shape).astype(dtype) for shape in ((rows, inner), (inner, columns)))
    z = np.zeros((rows, columns), np.float64 if kind == "f64" else np.float32)
    run(kernel, x, y, z)
    np.testing.assert_array_equal(z, 2 * (x.astype(np.float64) @ y.astype(np.float64)))


def test_values_loaded_before_a_store_are_the_old_ones(build):
    """Two arrays are exchanged; the second load must not see what the first store wrote."""
    body = """
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %px = tt.addptr %p, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %q = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %qy = tt.addptr %q, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %a = tt.load %px : tensor<16x!tt.ptr<i32>>
    %b = tt.load %qy : tensor<16x!tt.ptr<i32>>
    %first = tt.load %x : !tt.ptr<i32>
    tt.store %px, %b : tensor<16x!tt.ptr<i32>>
    %seven = arith.constant 7 : i32
    tt.store %x, %seven : !tt.ptr<i32>
    tt.store %qy, %a : tensor<16x!tt.ptr<i32>>
    tt.store %z, %first : !tt.ptr<i32>"""
    kernel = build(module(body, "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %z: !tt.ptr<i32>"))
    x, y, z = np.arange(16, dtype=np.int32), np.arange(100, 116, dtype=np.int32), np.zeros(1, np.int32)
    run(kernel, x, y, z)
    assert x.tolist() == [7, *range(101, 116)] and y.tolist() == list(range(16)) and z[0] == 0


def test_a_program_may_return_early(build):
    body = """
    %pid = tt.get_program_id x : i32
    %c = arith.cmpi sge, %pid, %n : i32
    cf.cond_br %c, ^bb1, ^bb2(%pid : i32)
  ^bb1:
    tt.return
  ^bb2(%i: i32):
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    tt.store %p, %i : !tt.ptr<i32>"""
    kernel = build(module(body, "%x: !tt.ptr<i32>, %n: i32"))
    x = np.full(8, -1, np.int32)
    run(kernel, x, np.int32(3), grid=(8, 1, 1))
    assert x.tolist() == [0, 1, 2, -1, -1, -1, -1, -1]


def test_a_failed_assertion_is_told_once_with_its_program(build):
    body = """
    %pid = tt.get_program_id x : i32
    %c = arith.cmpi slt, %pid, %n : i32
    tt.assert %c, "too \\22far\\22" : i1
    %p = tt.addptr %x, %pid : !tt.ptr<i32>, i32
    tt.store %p, %pid : !tt.ptr<i32>"""
    kernel = build(module(body, "%x: !tt.ptr<i32>, %n: i32"))
    x = np.full(4, -1, np.int32)
    run(kernel, x, np.int32(2), grid=(4, 1, 1))
    assert x.tolist() == [0, 1, -1, -1]
    assert kernel.failed() == 'too "far" (program 2, 0, 0)'
    assert kernel.failed() is None


def test_printing_goes_to_standard_output(build, tmp_path):
    code = f"""
        from pathlib import Path
        from torch_fl_triton_host import native
        from torch_fl_triton_host.ttir import parse
        text = 'module {{ tt.func public @k(%n: i32) {{ %r = tt.make_range {{end = 2 : i32, start = 0 : i32}} : tensor<2xi32> ' \\
               'tt.print " x: " {{hex = false, isSigned = array<i32: 1>}} : %r : tensor<2xi32> tt.return }} }}'
        native.build(parse(text), "k", Path({str(tmp_path)!r}))((5).to_bytes(8, "little"), 0, (1, 1, 1))
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "pid (0, 0, 0) idx (0) x: 0\npid (0, 0, 0) idx (1) x: 1\n"


def test_inline_assembly_is_refused_with_its_line():
    body = '%r = tt.elementwise_inline_asm "mov.u32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32'
    with pytest.raises(Unsupported, match="line 3: inline assembly .*runs on the GPU that it was written for"):
        source.emit(module(body, "%n: i32"))


def test_a_device_function_that_is_not_known_is_named():
    body = '%r = tt.extern_elementwise %f {libname = "", libpath = "", pure = true, symbol = "__nv_nonsense"} : (f32) -> f32'
    with pytest.raises(Unsupported, match="line 3: the device function '__nv_nonsense'"):
        source.emit(module(body, "%f: f32"))


def test_functions_that_call_each_other_are_refused():
    text = """module {
      tt.func public @k(%x: f32) { %r = tt.call @f(%x) : (f32) -> f32 tt.return }
      tt.func private @f(%x: f32) -> f32 { %r = tt.call @f(%x) : (f32) -> f32 tt.return %r : f32 }
    }"""
    with pytest.raises(Unsupported, match="function f calls itself"):
        source.emit(parse(text))
