"""Autocast regions: nesting, the cache of cast weights, threads, custom functions; as ``torch.autocast("cuda")`` behaves."""

import threading
import warnings

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE = "flagos"
LOW = (torch.float16, torch.bfloat16)


@pytest.fixture
def x():
    return torch.rand(4, 4, device=DEVICE)


class _Casts(TorchDispatchMode):
    """Counts conversions of data type."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten._to_copy.default
        return func(*args, **(kwargs or {}))


def test_the_state_is_visible_and_restored():
    assert torch.amp.is_autocast_available(DEVICE)
    assert not torch.is_autocast_enabled(DEVICE)
    assert torch.get_autocast_dtype(DEVICE) in LOW
    before = torch.get_autocast_dtype(DEVICE)
    with torch.autocast(DEVICE, dtype=torch.float16):
        assert torch.is_autocast_enabled(DEVICE) and torch.get_autocast_dtype(DEVICE) == torch.float16
        assert not torch.is_autocast_enabled("cpu")
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            assert torch.get_autocast_dtype(DEVICE) == torch.bfloat16
        assert torch.get_autocast_dtype(DEVICE) == torch.float16
    assert not torch.is_autocast_enabled(DEVICE) and torch.get_autocast_dtype(DEVICE) == before


def test_the_default_type_is_used(x):
    with torch.autocast(DEVICE):
        assert (x @ x).dtype == torch.get_autocast_dtype(DEVICE)
    previous = torch.get_autocast_dtype(DEVICE)
    torch.set_autocast_dtype(DEVICE, torch.float16)
    try:
        with torch.autocast(DEVICE):
            assert (x @ x).dtype == torch.float16
    finally:
        torch.set_autocast_dtype(DEVICE, previous)


@pytest.mark.parametrize("fast", LOW)
def test_regions_nest(x, fast):
    other = LOW[1 - LOW.index(fast)]
    with torch.autocast(DEVICE, dtype=fast):
        assert (x @ x).dtype == fast
        with torch.autocast(DEVICE, enabled=False):
            assert (x @ x).dtype == torch.float32
            with torch.autocast(DEVICE, dtype=other):
                assert (x @ x).dtype == other
            assert (x @ x).dtype == torch.float32
        assert (x @ x).dtype == fast
    assert (x @ x).dtype == torch.float32


def test_an_exception_ends_the_region(x):
    with pytest.raises(RuntimeError, match="shapes"), torch.autocast(DEVICE, dtype=torch.float16):
        x @ torch.rand(3, 3, device=DEVICE)
    assert not torch.is_autocast_enabled(DEVICE) and (x @ x).dtype == torch.float32


def test_two_device_types_at_once(x):
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast(DEVICE, dtype=torch.float16):
        assert (x @ x).dtype == torch.float16 and (x.cpu() @ x.cpu()).dtype == torch.bfloat16


def test_a_decorated_function(x):
    @torch.autocast(DEVICE, dtype=torch.bfloat16)
    def product(tensor):
        return tensor @ tensor

    assert product(x).dtype == torch.bfloat16
    assert (x @ x).dtype == torch.float32


@pytest.mark.parametrize("cached", [True, False])
def test_a_weight_is_cast_once_in_a_region(x, cached):
    weight = torch.rand(4, 4, device=DEVICE, requires_grad=True)
    half = x.half()
    with _Casts() as casts, torch.autocast(DEVICE, dtype=torch.float16, cache_enabled=cached):
        for _ in range(3):
            half @ weight
        assert casts.count == (1 if cached else 3)
        torch.clear_autocast_cache()
        half @ weight
        assert casts.count == (2 if cached else 4)
    with _Casts() as casts, torch.autocast(DEVICE, dtype=torch.float16):
        half @ weight  # the region before left nothing behind
        assert casts.count == 1


def test_tensors_that_need_no_gradient_are_not_kept(x):
    with _Casts() as casts, torch.autocast(DEVICE, dtype=torch.float16):
        x.half() @ x
        x.half() @ x
        assert casts.count == 4


def test_the_cache_lives_until_the_outermost_region_ends(x):
    weight = torch.rand(4, 4, device=DEVICE, requires_grad=True)
    half = x.half()
    with _Casts() as casts, torch.autocast(DEVICE, dtype=torch.float16):
        with torch.autocast(DEVICE, dtype=torch.float16):
            half @ weight
        half @ weight
        assert casts.count == 1


def test_leaving_a_region_frees_the_cast_weights():
    weight = torch.rand(256, 256, device=DEVICE, requires_grad=True)
    half = torch.rand(256, 256, device=DEVICE).half()
    before = torch.flagos.memory_allocated()
    with torch.autocast(DEVICE, dtype=torch.float16), torch.no_grad():
        half @ weight
    with torch.autocast(DEVICE, dtype=torch.float16):
        (half @ weight).sum()
        assert torch.flagos.memory_allocated() >= before + weight.numel() * 2
    assert torch.flagos.memory_allocated() == before


@pytest.mark.parametrize("fast", LOW)
def test_gradients_reach_single_precision_leaves(fast):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 2)).to(DEVICE)
    x = torch.randn(5, 8, device=DEVICE)
    with torch.autocast(DEVICE, dtype=fast):
        out = model(x)
        loss = nn.functional.mse_loss(out, torch.zeros_like(out))
    assert out.dtype == fast and loss.dtype == torch.float32
    loss.backward()
    wanted = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 2))
    wanted.load_state_dict({name: value.cpu() for name, value in model.state_dict().items()})
    first, _, norm, last = wanted

    def linear(layer, value):
        return nn.functional.linear(value.to(fast), layer.weight.to(fast), layer.bias.to(fast))

    out = linear(last, norm(linear(first, x.cpu()).relu().float()))
    out.float().square().mean().backward()
    for found, by_hand in zip(model.parameters(), wanted.parameters(), strict=True):
        assert found.grad.dtype == torch.float32
        torch.testing.assert_close(found.grad.cpu(), by_hand.grad)


def test_a_region_belongs_to_its_thread(x):
    seen = {}

    def work():
        seen["outside"] = torch.is_autocast_enabled(DEVICE), (x @ x).dtype
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            seen["inside"] = (x @ x).dtype

    with torch.autocast(DEVICE, dtype=torch.float16):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (x @ x).dtype == torch.float16
    assert seen == {"outside": (False, torch.float32), "inside": torch.bfloat16}


def test_backward_runs_without_autocast_where_forward_had_it():
    seen = []
    weight = torch.rand(4, 4, device=DEVICE, requires_grad=True)
    with torch.autocast(DEVICE, dtype=torch.float16):
        loss = (weight @ weight).float().sum()
    loss.register_hook(lambda grad: seen.append(torch.is_autocast_enabled(DEVICE)))
    loss.backward()
    assert seen == [False] and weight.grad.dtype == torch.float32


def _multiplication(**cast):
    """A product as a custom function that notes the data type of its operand and whether autocast is on."""

    class Multiply(torch.autograd.Function):
        seen = []

        @staticmethod
        @torch.amp.custom_fwd(device_type=DEVICE, **cast)
        def forward(ctx, a, b):
            Multiply.seen.append((a.dtype, torch.is_autocast_enabled(DEVICE)))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @torch.amp.custom_bwd(device_type=DEVICE)
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            Multiply.seen.append((a.dtype, torch.is_autocast_enabled(DEVICE)))
            return grad @ b.t(), a.t() @ grad

    return Multiply


@pytest.mark.parametrize(
    "function, seen, dtype",
    [
        (_multiplication(), [(torch.float32, True)] * 2, torch.float16),
        (_multiplication(cast_inputs=torch.float32), [(torch.float32, False)] * 2, torch.float32),
    ],
)
def test_custom_functions_see_the_region_in_both_directions(function, seen, dtype):
    function.seen.clear()
    a, b = (torch.rand(4, 4, device=DEVICE, requires_grad=True) for _ in range(2))
    with torch.autocast(DEVICE, dtype=torch.float16):
        out = function.apply(a, b)
    assert out.dtype == dtype
    out.sum().backward()
    assert function.seen == seen and a.grad.dtype == torch.float32


def test_checkpoint_recomputes_in_the_same_types(x):
    weight = torch.rand(4, 4, device=DEVICE, requires_grad=True)
    seen = []

    def block(value):
        seen.append((value @ value).dtype)
        return value @ weight

    for reentrant in (True, False):
        seen.clear()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            out = torch.utils.checkpoint.checkpoint(block, x.clone().requires_grad_(), use_reentrant=reentrant)
        out.float().sum().backward()
        assert seen == [torch.bfloat16] * 2


@pytest.mark.parametrize("layer", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("fast", LOW)
def test_recurrent_layers(layer, fast):
    net = layer(4, 6, num_layers=2).to(DEVICE)
    with torch.autocast(DEVICE, dtype=fast):
        out, _ = net(torch.rand(3, 2, 4, device=DEVICE))
    assert out.dtype == fast
    out.float().sum().backward()
    assert all(p.grad.dtype == torch.float32 and p.grad.isfinite().all() for p in net.parameters())


def test_an_unsupported_type_is_refused_with_a_warning(x):
    with pytest.warns(UserWarning, match="flagos autocast.*not supported. Disabling autocast"):
        region = torch.autocast(DEVICE, dtype=torch.float64)
    with region:
        assert (x @ x).dtype == torch.float32


def test_supported_types_are_listed():
    assert set(LOW) <= set(torch.flagos.get_amp_supported_dtype())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in torch.flagos.get_amp_supported_dtype():
            torch.autocast(DEVICE, dtype=dtype)


def test_function_modes_see_the_calls_of_the_user(x):
    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    names = []
    with Names(), torch.autocast(DEVICE, dtype=torch.float16):
        torch.mm(x, x)
    assert names.count("mm") == 1


@pytest.mark.devices(2)
def test_every_device_of_the_type_is_cast():
    for index in range(2):
        y = torch.rand(3, 3, device=f"{DEVICE}:{index}")
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            product = y @ y
        assert product.dtype == torch.bfloat16 and product.device == y.device
