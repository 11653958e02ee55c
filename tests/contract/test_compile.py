"""torch.compile on flagos: its default back end, its modes, and what it costs who does not use it."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_fl.evidence import capabilities

DEVICE = "flagos"
compiles = pytest.mark.capability("compile")


@pytest.fixture(autouse=True)
def _nothing_compiled_before():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def generated(monkeypatch, tmp_path):
    """The wrappers that Inductor generates from now on, as source; none comes from a cache."""
    from torch._inductor import config
    from torch._inductor.utils import run_and_get_code

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    with config.patch(fx_graph_cache=False):
        yield lambda function, *arguments: run_and_get_code(function, *arguments)


def test_importing_the_device_loads_no_compiler(python):
    loaded = python("""
        import sys, torch, torch_fl
        torch.flagos.is_available()
        compilers = ("torch._inductor", "torch._dynamo", "triton", "torch_fl.compile")
        print([name for name in sys.modules if name.startswith(compilers)])
    """)
    assert loaded.stdout.strip() == "[]"


def test_dynamo_lists_the_back_end_flagos():
    assert DEVICE in torch._dynamo.list_backends()


@pytest.mark.parametrize("backend", ["inductor", DEVICE])
def test_a_platform_without_compilation_says_so(backend):
    reason = capabilities.missing("compile")
    if reason is None:
        pytest.skip("this platform can be compiled for")
    with pytest.raises(Exception, match="aot_eager") as error:
        torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.ones(4, device=DEVICE))
    assert reason in str(error.value)


@compiles
@pytest.mark.parametrize("backend", ["inductor", DEVICE])
def test_pointwise_work_and_a_reduction_become_one_kernel_of_triton(generated, backend):
    f = lambda x: torch.sin(x) * 2 + x.sum(-1, keepdim=True)  # noqa: E731
    x = torch.randn(64, 256, device=DEVICE)
    found, (code,) = generated(torch.compile(f, backend=backend, fullgraph=True), x)
    torch.testing.assert_close(found, f(x))
    assert found.device == x.device
    assert (
        code.count("@triton.jit") == 1
        and "extern_kernels." not in code
        and "torch.ops" not in code.split("def call")[-1]
    )


@compiles
def test_a_product_and_its_gradients_are_those_of_eager():
    def f(x, w):
        return F.gelu(x @ w).softmax(-1).square().sum()

    made = [torch.randn(64, 256, device=DEVICE), torch.randn(256, 128, device=DEVICE)]
    eager, compiled = ([t.clone().requires_grad_() for t in made] for _ in range(2))
    f(*eager).backward()
    torch.compile(f, fullgraph=True)(*compiled).backward()
    for one, other in zip(compiled, eager, strict=True):
        assert one.grad.device.type == DEVICE
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-4)


def _layer():
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
    return layer.to(DEVICE)


def _train(step, layer, x, steps=3):
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = step(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@compiles
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_transformer_layer_trains_as_in_eager(dtype):
    x = torch.randn(2, 16, 64, device=DEVICE, dtype=dtype)
    eager, compiled = _layer().to(dtype), _layer().to(dtype)
    wanted = _train(eager, eager, x)
    found = _train(torch.compile(compiled, fullgraph=True), compiled, x)
    rtol = 1e-4 if dtype == torch.float32 else 3e-2
    assert found == pytest.approx(wanted, rel=rtol)
    for one, other in zip(compiled.parameters(), eager.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=rtol, atol=rtol / 10)


@compiles
def test_flash_attention_has_the_shapes_that_its_description_says():
    attention = lambda q, k, v: F.scaled_dot_product_attention(q * 2, k, v, is_causal=True) + 1  # noqa: E731
    made = [torch.randn(2, 4, 32, 64, device=DEVICE, dtype=torch.bfloat16) for _ in range(3)]
    eager, compiled = ([t.clone().requires_grad_() for t in made] for _ in range(2))
    wanted, found = attention(*eager), torch.compile(attention, fullgraph=True)(*compiled)
    torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
    for out in (wanted, found):
        out.float().square().sum().backward()
    for one, other in zip(compiled, eager, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=5e-2, atol=5e-2)


@compiles
def test_one_code_serves_several_sizes_when_shapes_are_dynamic():
    f = torch.compile(lambda x: (x.relu() + x.mean(0)).sum(-1), dynamic=True, fullgraph=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for rows in (8, 13, 64):
            x = torch.randn(rows, 32, device=DEVICE)
            torch.testing.assert_close(f(x), (x.relu() + x.mean(0)).sum(-1))


@compiles
def test_code_for_the_cpu_and_for_the_device_are_two():
    f = torch.compile(lambda x: x.cos() + 2, fullgraph=True)
    for device in ("cpu", DEVICE, "cpu"):
        x = torch.randn(16, device=device)
        found = f(x)
        assert found.device.type == device
        torch.testing.assert_close(found, x.cos() + 2)


@compiles
@pytest.mark.devices(2)
def test_code_for_another_card_runs_there():
    f = torch.compile(lambda x: x.cos() + 2, fullgraph=True)
    for index in (0, 1):
        x = torch.randn(16, device=f"{DEVICE}:{index}")
        found = f(x)
        assert found.device.index == index
        torch.testing.assert_close(found, x.cos() + 2)


@compiles
def test_scalars_of_the_cpu_mix_with_tensors_of_the_device():
    f = lambda x, s, n: x * s + n  # noqa: E731
    x, s = torch.randn(8, device=DEVICE), torch.tensor(2.5)
    torch.testing.assert_close(torch.compile(f, fullgraph=True)(x, s, 3), f(x, s, 3))


@compiles
def test_an_input_that_is_not_aligned_is_read_as_well():
    whole = torch.randn(1025, device=DEVICE)
    f = torch.compile(lambda x: x * 2 + 1, fullgraph=True)
    for x in (whole[:1024], whole[1:]):
        torch.testing.assert_close(f(x), x * 2 + 1)


@compiles
def test_writes_to_inputs_and_views_of_them_arrive():
    def f(x, y):
        x.add_(1)
        y[1:].mul_(2)
        return x.view(-1)[::2]

    eager, compiled = ([torch.ones(4, 4, device=DEVICE), torch.arange(4.0, device=DEVICE)] for _ in range(2))
    wanted, found = f(*eager), torch.compile(f, fullgraph=True)(*compiled)
    for one, other in zip([found, *compiled], [wanted, *eager], strict=True):
        torch.testing.assert_close(one, other)
    assert found.untyped_storage().data_ptr() == compiled[0].untyped_storage().data_ptr()


@compiles
def test_dropout_in_compiled_code_follows_the_seed():
    f = torch.compile(lambda x: F.dropout(x, 0.4), fullgraph=True)
    x = torch.ones(10000, device=DEVICE)

    def drawn(seed):
        torch.manual_seed(seed)
        return f(x), f(x)

    (first, second), (again, _), (other, _) = drawn(1), drawn(1), drawn(2)
    assert torch.equal(first, again) and not torch.equal(first, second) and not torch.equal(first, other)
    assert first.unique().tolist() == pytest.approx([0, 1 / 0.6])
    assert first.mean().item() == pytest.approx(1, abs=0.05)


@compiles
def test_random_numbers_are_eagers_where_inductor_falls_back_to_it():
    from torch._inductor import config

    f = lambda x: F.dropout(x, 0.4) + torch.rand_like(x)  # noqa: E731
    x = torch.ones(1000, device=DEVICE)
    with config.patch(fallback_random=True):
        torch.manual_seed(5)
        found = torch.compile(f, fullgraph=True)(x)
    torch.manual_seed(5)
    torch.testing.assert_close(found, f(x))


@compiles
def test_a_graph_break_leaves_parts_that_work_together():
    def f(x):
        y = x.sin() * 2
        torch._dynamo.graph_break()
        return y.cos() + x

    x = torch.randn(32, device=DEVICE)
    torch.testing.assert_close(torch.compile(f)(x), f(x))


@compiles
def test_autocast_is_compiled():
    def f(x, w):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            return (x @ w).relu()

    x, w = torch.randn(16, 32, device=DEVICE), torch.randn(32, 8, device=DEVICE)
    found = torch.compile(f, fullgraph=True)(x, w)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, f(x, w), rtol=2e-2, atol=2e-2)


@compiles
def test_max_autotune_compares_kernels_of_triton_with_the_library(generated):
    from torch._inductor import config, select_algorithm

    compared = []
    select_algorithm.add_feedback_saver(lambda timings, *unused: compared.append([str(choice) for choice in timings]))
    f = lambda x, w: F.relu(x @ w)  # noqa: E731
    x, w = (torch.randn(256, 256, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    try:
        with config.patch(max_autotune_gemm_search_space="DEFAULT", max_autotune_gemm_backends="ATEN,TRITON"):
            found, _ = generated(torch.compile(f, mode="max-autotune-no-cudagraphs", fullgraph=True), x, w)
    finally:
        select_algorithm.clear_feedback_savers()
    torch.testing.assert_close(found, f(x, w), rtol=2e-2, atol=2e-1)
    kinds = {"triton" if "triton" in choice.lower() else "library" for choice in compared[0]}
    assert kinds == {"triton", "library"}


@compiles
def test_max_autotune_runs_the_kernel_of_triton_that_it_chose(generated):
    from torch._inductor import config

    f = lambda x, w: F.relu(x @ w)  # noqa: E731
    x, w = (torch.randn(256, 256, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    with config.patch(max_autotune_gemm_backends="TRITON"):
        found, (code,) = generated(torch.compile(f, mode="max-autotune-no-cudagraphs", fullgraph=True), x, w)
    torch.testing.assert_close(found, f(x, w), rtol=2e-2, atol=2e-1)
    assert "tl.dot" in code and "extern_kernels.mm" not in code


@compiles
def test_an_exported_program_compiles():
    layer = _layer().eval()
    x = torch.randn(2, 16, 64, device=DEVICE)
    program = torch.export.export(layer, (x,)).module()
    torch.testing.assert_close(torch.compile(program)(x), layer(x), rtol=1e-3, atol=1e-4)


def test_tensors_of_the_target_show_the_same_memory_and_come_back():
    from torch_fl import _C

    try:
        _C.as_target([])
    except RuntimeError as error:
        pytest.skip(str(error))
    x = torch.arange(6.0, device=DEVICE)
    y = x.view(2, 3)[1]
    one, number, part = _C.as_target([x, 7, y])
    assert number == 7 and one.device.type == part.device.type != DEVICE
    assert (one.data_ptr(), part.data_ptr(), part.shape) == (x.data_ptr(), y.data_ptr(), y.shape)
    back, part = _C.as_flagos([one, part])
    assert back.device == part.device == x.device
    assert back.untyped_storage()._cdata == part.untyped_storage()._cdata
    back.add_(1)
    assert x.tolist() == [1, 2, 3, 4, 5, 6]
    del x, y, one, back
    assert part.tolist() == [4, 5, 6]


@pytest.fixture
def captured():
    """How many graphs of the device have been captured since the test began."""
    from torch._inductor.cudagraph_trees import get_manager, reset_cudagraph_trees

    reset_cudagraph_trees()

    def graphs():
        manager = get_manager(torch.flagos.current_device(), create_if_none_exists=False)
        return manager.new_graph_id().id if manager else 0

    yield graphs
    reset_cudagraph_trees()


@compiles
@pytest.mark.parametrize("backend", ["inductor", DEVICE])
def test_reduce_overhead_replays_a_graph_on_new_inputs(captured, backend):
    weight = nn.Parameter(torch.randn(32, 32, device=DEVICE))
    eager = lambda x: (x @ weight).relu() * 2  # noqa: E731
    f = torch.compile(eager, mode="reduce-overhead", backend=backend, fullgraph=True)
    with torch.no_grad():
        for _ in range(5):
            torch.compiler.cudagraph_mark_step_begin()
            x = torch.randn(8, 32, device=DEVICE)
            found = f(x)
            assert found.device.type == DEVICE
            torch.testing.assert_close(found, eager(x))
        weight.mul_(2)
        torch.compiler.cudagraph_mark_step_begin()
        torch.testing.assert_close(f(x), eager(x))
    assert captured() == 1


@compiles
def test_reduce_overhead_trains_as_in_eager(captured):
    x = torch.randn(2, 16, 64, device=DEVICE)
    eager, compiled = _layer(), _layer()
    wanted = _train(eager, eager, x, steps=6)
    found = _train(torch.compile(compiled, mode="reduce-overhead", fullgraph=True), compiled, x, steps=6)
    assert found == pytest.approx(wanted, rel=1e-3)
    assert captured() == 2  # forward and backward


@compiles
def test_results_of_a_graph_stay_as_long_as_they_are_held(captured):
    f = torch.compile(lambda x: x.sin() + 1, mode="reduce-overhead", fullgraph=True)
    held = []
    for _ in range(4):
        x = torch.randn(1000, device=DEVICE)
        held.append((x, f(x).clone()))
    for x, found in held:
        torch.testing.assert_close(found, x.sin() + 1)
    assert captured() == 1


@compiles
def test_a_result_that_a_later_replay_has_overwritten_is_reported(captured):
    f = torch.compile(lambda x: x.sin() + 1, mode="reduce-overhead", fullgraph=True)
    results = []
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        results.append(f(torch.randn(1000, device=DEVICE)))
    with pytest.raises(RuntimeError, match="overwritten by a subsequent run"):
        results[1] + 1


@compiles
def test_graphs_draw_other_numbers_at_each_replay(captured):
    f = torch.compile(lambda x: F.dropout(x, 0.5), mode="reduce-overhead", fullgraph=True)
    x = torch.ones(4096, device=DEVICE)
    drawn = []
    for _ in range(5):
        torch.compiler.cudagraph_mark_step_begin()
        drawn.append(f(x).clone())
    assert captured() == 1
    assert all(not torch.equal(one, other) for one, other in zip(drawn, drawn[1:], strict=False))


@compiles
def test_reduce_overhead_leaves_work_of_the_cpu_out_of_the_graph(captured):
    def f(x, y):
        return (x.sin() * 2).relu(), y.cos() + 1

    compiled = torch.compile(f, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        x, y = torch.randn(64, device=DEVICE), torch.randn(8)
        for found, wanted in zip(compiled(x, y), f(x, y), strict=True):
            torch.testing.assert_close(found, wanted)
    assert captured() == 1


@compiles
def test_the_shape_decides_which_graph_is_replayed(captured):
    f = torch.compile(lambda x: x.cos() * 3, mode="reduce-overhead", dynamic=True, fullgraph=True)
    for _ in range(3):
        for rows in (4, 9):
            torch.compiler.cudagraph_mark_step_begin()
            x = torch.randn(rows, 16, device=DEVICE)
            torch.testing.assert_close(f(x), x.cos() * 3)
    assert captured() == 2
