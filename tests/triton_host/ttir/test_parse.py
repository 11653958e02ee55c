"""Triton IR text becomes the model, form by form."""

import math

import pytest
from torch_fl_triton_host.ttir import ParseError, parse


def operations(
    body, arguments="%x: i32, %y: i32, %f: f32, %p: !tt.ptr<f32>, %t: tensor<4xf32>, %u: tensor<4x8xi32>, %b: i1"
):
    text = f"module {{\n  tt.func public @k({arguments}) attributes {{noinline = false}} {{\n{body}\n    tt.return\n  }}\n}}\n"
    return parse(text).kernel.body.blocks[0].operations


FORMS = [
    ("%0 = arith.addi %x, %y overflow<nsw> : i32", 2, "i32", {"overflow": ["nsw"]}),
    ("%0 = arith.addf %t, %t fastmath<fast> : tensor<4xf32>", 2, "tensor<4xf32>", {"fastmath": ["fast"]}),
    ("%0 = arith.cmpi slt, %u, %u : tensor<4x8xi32>", 2, "tensor<4x8xi1>", {"predicate": "slt"}),
    ("%0 = arith.cmpf oeq, %f, %f : f32", 2, "i1", {"predicate": "oeq"}),
    ("%0 = arith.select %b, %t, %t : tensor<4xf32>", 3, "tensor<4xf32>", {}),
    ("%c = arith.cmpf ogt, %t, %t : tensor<4xf32>\n%0 = arith.select %c, %t, %t : tensor<4xi1>, tensor<4xf32>", 3, "tensor<4xf32>", {}),
    ("%0 = arith.sitofp %u : tensor<4x8xi32> to tensor<4x8xf32>", 1, "tensor<4x8xf32>", {}),
    ("%0 = math.exp2 %t : tensor<4xf32>", 1, "tensor<4xf32>", {}),
    ("%0 = math.fma %f, %f, %f : f32", 3, "f32", {}),
    ("%0 = tt.get_program_id z : i32", 0, "i32", {"axis": "z"}),
    ("%0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>", 0, "tensor<8xi32>", {"end": 8, "start": 0}),
    ("%0 = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>", 1, "tensor<4x!tt.ptr<f32>>", {}),
    ("%0 = tt.expand_dims %t {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>", 1, "tensor<4x1xf32>", {"axis": 1}),
    ("%0 = tt.trans %u {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>", 1, "tensor<8x4xi32>", {"order": [1, 0]}),
    ("%0 = tt.reshape %u allow_reorder : tensor<4x8xi32> -> tensor<32xi32>", 1, "tensor<32xi32>", {"allow_reorder": True}),
    ("%0 = tt.addptr %p, %x : !tt.ptr<f32>, i32", 2, "!tt.ptr<f32>", {}),
    ("%0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>", 1, "f32", {"isVolatile": True}),
    ("%0 = tt.load %p, %b, %f cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>", 3, "f32",
     {"cacheModifier": "cg", "evictionPolicy": "evict_last"}),
    ("%0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %f, %b : (!tt.ptr<f32>, f32, i1) -> f32", 3, "f32",
     {"operation": "fadd", "order": "acq_rel", "scope": "gpu"}),
    ("%0 = tt.atomic_cas relaxed, cta, %p, %f, %f : (!tt.ptr<f32>, f32, f32) -> f32", 3, "f32", {"order": "relaxed", "scope": "cta"}),
    ("%0 = tt.extern_elementwise %f {libname = \"\", pure = true, symbol = \"__nv_tanhf\"} : (f32) -> f32", 1, "f32",
     {"libname": "", "pure": True, "symbol": "__nv_tanhf"}),
    ("%0 = tt.clampf %f, %f, %f, propagateNan = none : f32", 3, "f32", {"propagateNan": "none"}),
    ("%0 = tt.fp_to_fp %t, rounding = rtz : tensor<4xf32> -> tensor<4xbf16>", 1, "tensor<4xbf16>", {"rounding": "rtz"}),
    ("%0 = tt.gather %t[%t] {axis = 0 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>", 2, "tensor<4xf32>", {"axis": 0}),
    ("%0 = tt.histogram %t : tensor<4xf32> -> tensor<16xi32>", 1, "tensor<16xi32>", {}),
    ("%0 = ub.poison : tensor<4xf32>", 0, "tensor<4xf32>", {}),
    ("%0 = tt.elementwise_inline_asm \"mov $0, $1;\" {constraints = \"=r,r\", pure = true} %x : i32 -> i32", 1, "i32",
     {"assembly": "mov $0, $1;", "constraints": "=r,r", "pure": True}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "operands", "kind", "attributes"), FORMS, ids=[form[0][:40] for form in FORMS])
def test_a_form_gives_operands_result_type_and_attributes(text, operands, kind, attributes):
    op = operations(text)[-2]
    assert op.name in text
    assert len(op.operands) == operands
    assert [str(value.type) for value in op.results] == [kind]
    assert op.attributes == attributes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("arith.constant 7 : i32", 7),
        ("arith.constant -1 : i64", -1),
        ("arith.constant true", True),
        ("arith.constant 1.500000e+00 : f32", 1.5),
        ("arith.constant 0x7F800000 : f32", math.inf),
        ("arith.constant 0xFFF0000000000000 : f64", -math.inf),
        ("arith.constant 0x7C00 : f16", math.inf),
        ("arith.constant 0x3F80 : bf16", 1.0),
    ],
)
def test_a_scalar_constant_is_a_python_number(text, value):
    found = operations(f"%0 = {text}")[0].attributes["value"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "values", "splat"),
    [
        ("dense<0> : tensor<8xi32>", (0,), True),
        ("dense<true> : tensor<4x2xi1>", (True,), True),
        ("dense<0xFF800000> : tensor<8xf32>", (-math.inf,), True),
        ("dense<[1, -2, 3, 4]> : tensor<4xi16>", (1, -2, 3, 4), False),
        ("dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>", (1.0, 2.0, 3.0, 4.0), False),
        ("dense<[true, false]> : tensor<2xi1>", (True, False), False),
        ('dense<"0x0100FFFF"> : tensor<2xi16>', (1, -1), False),
        ('dense<"0x05"> : tensor<4xi1>', (True, False, True, False), False),
        ("dense<0x7E> : tensor<2xf8E4M3FN>", (448.0,), True),
        ("dense<0x7C> : tensor<2xf8E5M2>", (math.inf,), True),
    ],
)
def test_a_dense_constant_holds_its_elements(text, values, splat):
    dense = operations(f"%0 = arith.constant {text}")[0].attributes["value"]
    assert (dense.values, dense.splat) == (values, splat)


def test_results_are_numbered_and_regions_nest():
    body = """
    %r:2 = scf.for %i = %x to %y step %x iter_args(%a = %f, %n = %y) -> (f32, i32)  : i32 {
      %s = scf.if %b -> (f32) {
        %q = arith.addf %a, %f : f32
        scf.yield %q : f32
      } else {
        scf.yield %a : f32
      }
      scf.if %b {
        tt.store %p, %s : !tt.ptr<f32>
      }
      scf.yield %s, %i : f32, i32
    }
    tt.store %p, %r#0 : !tt.ptr<f32>"""
    loop, store, _ = operations(body)
    block = loop.regions[0].blocks[0]
    assert [str(value.type) for value in block.arguments] == ["i32", "f32", "i32"]
    assert store.operands[1] is loop.results[0]
    first, second, _ = block.operations
    assert [region.blocks[0].terminator.name for region in first.regions] == ["scf.yield"] * 2
    assert second.regions[0].blocks[0].terminator.operands == [] and second.regions[1].blocks == []


def test_a_while_loop_has_two_regions():
    body = """
    %r = scf.while (%a = %x) : (i32) -> i32 {
      %c = arith.cmpi slt, %a, %y : i32
      scf.condition(%c) %a : i32
    } do {
    ^bb0(%n: i32):
      %m = arith.addi %n, %x : i32
      scf.yield %m : i32
    }"""
    loop = operations(body)[0]
    before, after = (region.blocks[0] for region in loop.regions)
    assert before.terminator.name == "scf.condition" and len(before.terminator.operands) == 2
    assert [str(value.type) for value in after.arguments] == ["i32"]


def test_a_reduction_in_the_generic_form_has_its_region():
    body = """
    %r:2 = "tt.reduce"(%t, %t) <{axis = 0 : i32}> ({
    ^bb0(%a: f32 loc("a"), %c: f32, %d: f32, %e: f32):
      %m = arith.maxnumf %a, %d : f32
      tt.reduce.return %m, %c : f32, f32
    }) : (tensor<4xf32>, tensor<4xf32>) -> (f32, f32) loc(#loc1)"""
    op = operations(body)[0]
    assert op.attributes == {"axis": 0} and len(op.results) == 2
    assert [inner.name for inner in op.regions[0].walk()] == ["arith.maxnumf", "tt.reduce.return"]


def test_branches_know_their_blocks_whichever_comes_first():
    text = """
    #loc = loc("k.py":1:0)
    module {
      tt.func public @k(%n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))) attributes {noinline = false} {
        %c = arith.cmpi slt, %n, %n : i32
        cf.cond_br %c, ^bb2(%n : i32), ^bb1 loc(#loc)
      ^bb1:  // pred: ^bb0
        cf.br ^bb2(%n : i32)
      ^bb2(%m: i32):  // 2 preds: ^bb0, ^bb1
        tt.return
      } loc(#loc)
    } loc(#loc)
    """
    function = parse(text).kernel
    first, second, third = function.body.blocks
    assert [target.block for target in first.terminator.successors] == [third, second]
    assert second.terminator.successors[0].block is third and len(third.arguments) == 1
    assert function.argument_attributes == [{"tt.divisibility": 16}]


def test_a_second_function_is_found_by_the_name_of_the_call():
    text = """module {
      tt.func public @k(%x: f32) { %r = tt.call @"mod.f__fp32"(%x) : (f32) -> f32 tt.return }
      tt.func private @mod.f__fp32(%a: f32) -> f32 attributes {noinline = true} { tt.return %a : f32 }
    }"""
    module = parse(text)
    call = module.kernel.body.blocks[0].operations[0]
    assert module.function(call.attributes["callee"]).public is False


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("%0 = arith.addi %x, %nowhere : i32", "line 3: value %nowhere is not defined"),
        ("%0 = foo.bar %x : i32", "line 3: operation 'foo.bar' is not one that the host executes"),
        ("%0:2 = arith.addi %x, %y : i32", "line 3: 'arith.addi' has 1 results, not 2"),
        ("%0 = arith.constant dense<[1, 2]> : tensor<4xi32>", "a constant of tensor<4xi32> has 2 values"),
        ("%0 = arith.addi %x, %y : i31", "type 'i31' is not known"),
        ("cf.br ^bb7", "block ^bb7 is not defined"),
        ("%0 = tt.load %x : i32", "'tt.load' of i32, which is no pointer"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(body, said):
    with pytest.raises(ParseError) as caught:
        operations(body)
    assert said in str(caught.value)


def test_a_text_that_ends_too_early_says_so():
    with pytest.raises(ParseError, match="the end of the text"):
        parse("module {\n  tt.func public @k() {\n    tt.return\n")
