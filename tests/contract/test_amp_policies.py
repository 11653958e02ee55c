"""``torch.autocast("flagos")``: every operator runs in the data type of its policy, with the result of casting by hand."""

import pytest
import torch
from torch.testing._internal.autocast_test_lists import AutocastTestLists
from torch.utils._pytree import tree_map_only

DEVICE = "flagos"
LOW = (torch.float16, torch.bfloat16)
FLOATS = (*LOW, torch.float32)

# PyTorch's own lists, built on the CPU so that collecting the tests uses no device.
LISTS = AutocastTestLists("cpu")


def _matrix(*shape, dtype=torch.float32):
    return torch.rand(shape, dtype=dtype) + 0.1


def _more():
    """Operators with a policy that PyTorch's lists leave out: (policy, name, arguments, keywords)."""
    half = torch.float16
    image = {1: _matrix(1, 2, 6, dtype=half), 2: _matrix(1, 2, 6, 6, dtype=half), 3: _matrix(1, 2, 4, 4, 4, dtype=half)}
    yield "low", "scaled_dot_product_attention", (_matrix(1, 2, 4, 8),) * 3, {}
    yield "fp32", "huber_loss", (_matrix(4, 4, dtype=half), _matrix(4, 4, dtype=half)), {}
    yield "fp32", "frobenius_norm", (_matrix(4, 4, dtype=half), (0, 1)), {}
    yield "fp32", "nuclear_norm", (_matrix(4, 4, dtype=half),), {}
    yield "fp32", "nuclear_norm", (_matrix(4, 4, dtype=half), (0, 1)), {}
    yield "fp32", "native_layer_norm", (_matrix(4, 4, dtype=half), (4,), None, None, 1e-5), {}
    yield "fp32", "pow", (2.0, _matrix(4, dtype=half)), {}
    for name, dims, middle in (
        ("upsample_nearest1d", 1, ()),
        ("_upsample_nearest_exact1d", 1, ()),
        ("upsample_linear1d", 1, (False,)),
        ("upsample_nearest2d", 2, ()),
        ("_upsample_nearest_exact2d", 2, ()),
        ("upsample_bilinear2d", 2, (False,)),
        ("_upsample_bilinear2d_aa", 2, (False,)),
        ("upsample_bicubic2d", 2, (False,)),
        ("_upsample_bicubic2d_aa", 2, (False,)),
        ("upsample_nearest3d", 3, ()),
        ("_upsample_nearest_exact3d", 3, ()),
        ("upsample_trilinear3d", 3, (False,)),
    ):
        yield "fp32 out", name, (image[dims], [8] * dims, *middle), {}
    for p in (2, float("inf")):
        yield "set dtype", "linalg_vector_norm", (_matrix(4, dtype=half), p), {}
    yield "set dtype", "linalg_matrix_norm", (_matrix(4, 4, dtype=half), "fro"), {}
    yield "set dtype", "linalg_matrix_norm", (_matrix(4, 4, dtype=half), 1), {}


def _cases(policy, *lists):
    return list(_each(policy, *lists))


def _each(policy, *lists):
    for entry in (entry for listed in lists for entry in listed):
        name, arguments, *rest = entry
        if name.startswith("cudnn_") or name == "einsum":  # cuDNN's own operators; einsum's entry lacks its tuple
            continue
        keywords = rest[0] if rest and isinstance(rest[0], dict) else {}
        yield pytest.param(name, arguments, keywords, id=f"{policy}-{name}")
    for group, name, arguments, keywords in _more():
        if group == policy:
            yield pytest.param(name, arguments, keywords, id=f"{policy}-{name}")


def _find(name):
    for home in (torch.Tensor,) if name.startswith("__") else (torch, torch._C._nn, torch._C._linalg):
        if hasattr(home, name):
            return getattr(home, name)
    pytest.fail(f"no operator {name}")


def _on_device(arguments):
    return tree_map_only(torch.Tensor, lambda tensor: tensor.to(DEVICE), arguments)


def _cast(arguments, dtype):
    def one(tensor):
        return tensor.to(dtype) if tensor.dtype in FLOATS else tensor

    return tree_map_only(torch.Tensor, one, arguments)


def _tensors(value):
    return [value] if isinstance(value, torch.Tensor) else [item for item in value if isinstance(item, torch.Tensor)]


def _agrees(name, arguments, keywords, fast, computed_in):
    """Run under autocast and by hand; every floating result has the policy's data type and the same bits."""
    arguments, operator = _on_device(arguments), _find(name)
    with torch.autocast(DEVICE, dtype=fast):
        found = _tensors(operator(*arguments, **keywords))
        with torch.autocast(DEVICE, enabled=False):
            wanted = _tensors(operator(*_cast(arguments, computed_in), **keywords))
    assert found and len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.device.type == DEVICE and one.dtype == other.dtype == computed_in
        torch.testing.assert_close(one.cpu(), other.cpu(), rtol=0, atol=0, equal_nan=True)


LOWER = [LISTS.torch_fp16, LISTS.nn_fp16, LISTS.linalg_fp16, LISTS.methods_fp16]
SINGLE = [LISTS.torch_fp32, LISTS.nn_fp32, LISTS.methods_fp32]


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("fast", LOW)
@pytest.mark.parametrize("name, arguments, keywords", _cases("low", *LOWER))
def test_lower_precision_operators(name, arguments, keywords, fast):
    _agrees(name, arguments, keywords, fast, fast)


@pytest.mark.parametrize("fast", LOW)
def test_einsum_runs_in_lower_precision(fast):
    _agrees("einsum", ("bkhd,bqhd->bqkh", _matrix(2, 3, 4, 5), _matrix(2, 6, 4, 5)), {}, fast, fast)


@pytest.mark.parametrize("fast", LOW)
@pytest.mark.parametrize("name, arguments, keywords", [*_cases("fp32", *SINGLE), *_cases("fp32 out")])
def test_single_precision_operators(name, arguments, keywords, fast):
    _agrees(name, _cast(arguments, fast), keywords, fast, torch.float32)


@pytest.mark.parametrize("fast", LOW)
@pytest.mark.parametrize("name, arguments, keywords", _cases("set dtype"))
def test_operators_whose_result_type_is_set(name, arguments, keywords, fast):
    _agrees(name, _cast(arguments, fast), keywords, fast, torch.float32)


@pytest.mark.parametrize("fast", LOW)
def test_a_result_type_that_the_caller_chose_is_kept(fast):
    x = torch.rand(4, 4, device=DEVICE).to(fast)
    with torch.autocast(DEVICE, dtype=fast):
        for result in (
            torch.sum(x, dtype=torch.float64),
            torch.sum(x, 0, dtype=torch.float64),
            torch.prod(x, 0, dtype=torch.float64),
            torch.cumsum(x, 0, dtype=torch.float64),
            torch.softmax(x, 0, dtype=torch.float64),
            torch.linalg.vector_norm(x, dtype=torch.float64),
        ):
            assert result.dtype == torch.float64
        assert torch.norm(x, 2, 0, dtype=fast).dtype == fast
        assert torch.sum(torch.ones(3, dtype=torch.int32, device=DEVICE)).dtype == torch.int64


@pytest.mark.filterwarnings("ignore:Using torch.cross without")
@pytest.mark.parametrize("fast", LOW)
@pytest.mark.parametrize("name, arguments, keywords", _cases("promote", LISTS.torch_need_autocast_promote))
def test_promoting_operators_take_the_widest_type(name, arguments, keywords, fast):
    def low(tensor):
        return tensor.to(fast) if tensor.dtype == torch.float16 else tensor

    arguments = tree_map_only(torch.Tensor, low, arguments)
    _agrees(name, arguments, keywords, fast, torch.float32)


@pytest.mark.parametrize("fast", LOW)
@pytest.mark.parametrize(
    "name, arguments, dtype",
    [
        pytest.param(*entry, id=entry[0])
        for entry in (*LISTS.torch_expect_builtin_promote, *LISTS.methods_expect_builtin_promote)
        if entry[0] not in ("__div__", "equal")  # Python 2's division; a Python bool
    ],
)
def test_operators_with_a_promotion_of_their_own(name, arguments, dtype, fast):
    operator = _find(name)

    def low(tensor):
        return tensor.to(fast) if tensor.dtype == torch.float16 else tensor

    arguments = _on_device(tree_map_only(torch.Tensor, low, arguments))
    with torch.autocast(DEVICE, dtype=fast):
        assert operator(*arguments).dtype == dtype


def test_the_operators_with_a_policy_are_cudas():
    def registered(key):
        return set(torch._C._dispatch_get_registrations_for_dispatch_key(key))

    cuda = {name for name in registered("AutocastCUDA") if "cudnn" not in name}
    assert cuda and registered("AutocastPrivateUse1") == cuda


@pytest.mark.parametrize("fast", LOW)
def test_binary_cross_entropy_is_refused_with_the_remedy(fast):
    p, target = torch.rand(4, device=DEVICE), torch.rand(4, device=DEVICE)
    with torch.autocast(DEVICE, dtype=fast):
        with pytest.raises(RuntimeError, match="unsafe to autocast(.|\n)*binary_cross_entropy_with_logits"):
            torch.nn.functional.binary_cross_entropy(p, target)
        assert torch.nn.functional.binary_cross_entropy_with_logits(p, target).dtype == torch.float32
        with torch.autocast(DEVICE, enabled=False):
            assert torch.nn.functional.binary_cross_entropy(p, target).dtype == torch.float32


def test_only_eligible_tensors_are_cast():
    cpu, double = torch.rand(3, 3), torch.rand(3, 3, dtype=torch.float64, device=DEVICE)
    whole = torch.ones(3, 3, dtype=torch.int64, device=DEVICE)
    with torch.autocast(DEVICE, dtype=torch.float16):
        assert (cpu @ cpu).dtype == torch.float32
        assert torch.exp(cpu.half()).dtype == torch.float16
        assert (double @ double).dtype == torch.float64
        assert whole.cumsum(0).dtype == torch.int64
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = torch.rand(3, 3, device=DEVICE)
        assert (x @ x).dtype == torch.float32 and (cpu @ cpu).dtype == torch.bfloat16


@pytest.mark.capability("cpu_rules")
def test_products_of_whole_numbers_are_not_cast():
    whole = torch.ones(3, 3, dtype=torch.int64, device=DEVICE)
    with torch.autocast(DEVICE, dtype=torch.float16):
        assert (whole @ whole).dtype == torch.int64


def test_in_place_and_out_variants_are_left_alone():
    a, b = torch.rand(3, 3, device=DEVICE), torch.rand(3, 3, device=DEVICE)
    with torch.autocast(DEVICE, dtype=torch.float16):
        assert torch.mm(a, b, out=torch.empty(3, 3, device=DEVICE)).dtype == torch.float32
        assert a.clone().addmm_(a, b).dtype == torch.float32
        assert a.half().exp_().dtype == torch.float16
