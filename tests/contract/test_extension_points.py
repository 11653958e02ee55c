"""PyTorch's extension points: dispatch modes, tensor subclasses, own operators, tracing and scripting."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

DEVICE = "flagos"


class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def test_dispatch_modes_see_every_operator():
    seen = {}
    for device in ("cpu", DEVICE):
        with Names() as names:
            x = torch.ones(3, 3, device=device, requires_grad=True)
            (x @ x).relu().sum().backward()
        seen[device] = names.seen
    assert "aten.mm.default" in seen[DEVICE] and "aten.relu.default" in seen[DEVICE]
    assert seen[DEVICE] == seen["cpu"]


def test_function_modes_and_counters():
    from torch.overrides import TorchFunctionMode
    from torch.utils.flop_counter import FlopCounterMode

    class Doubled(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            return out * 2 if function is torch.ones else out

    with Doubled():
        assert torch.ones(2, device=DEVICE).tolist() == [2, 2]
    with FlopCounterMode(display=False) as flops:
        torch.ones(3, 4, device=DEVICE) @ torch.ones(4, 5, device=DEVICE)
    assert flops.get_total_flops() == 2 * 3 * 4 * 5


class Plain(torch.Tensor):
    def new_empty(self, *args, **kwargs):
        return torch.Tensor.new_empty(self, *args, **kwargs).as_subclass(type(self))


def test_a_subclass_stays_one():
    x = torch.ones(2, device=DEVICE).as_subclass(Plain)
    for y in (x + 1, x.cpu(), x.cpu().to(DEVICE), x[0], x.clone(), x.double(), copy.deepcopy(x), x.flagos()):
        assert type(y) is Plain
    assert type(nn.Parameter(x)) is Plain and isinstance(nn.Parameter(x), nn.Parameter)
    assert (x + torch.ones(2, device=DEVICE)).is_flagos


class Wrapped(torch.Tensor):
    """A tensor that holds another one and says its device."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda t: t.inner if isinstance(t, cls) else t, (args, kwargs or {}))
        return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, function(*args, **kwargs))


def test_a_wrapper_says_its_device_and_moves():
    w = Wrapped(torch.arange(4.0, device=DEVICE).view(2, 2))
    y = (w @ w + 1).sum(0)
    assert type(y) is Wrapped and y.device == torch.device("flagos:0") and y.inner.tolist() == [10, 16]
    assert w.to("cpu").inner.device.type == "cpu" and w.cpu().to(DEVICE).inner.is_flagos and w.is_flagos
    assert Wrapped(torch.ones(2)).to(DEVICE).device.type == DEVICE
    w.mul_(2)
    assert w.inner.tolist() == [[0, 2], [4, 6]]


@torch.library.custom_op("flagos_contract::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


twice.register_autograd(lambda ctx, grad: grad * 2)


@torch.library.custom_op("flagos_contract::where_am_i", mutates_args=(), device_types="cpu")
def where_am_i(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x)


@where_am_i.register_kernel(DEVICE)
def _(x):
    return torch.ones_like(x)


@torch.library.custom_op("flagos_contract::only_cpu", mutates_args=(), device_types="cpu")
def only_cpu(x: torch.Tensor) -> torch.Tensor:
    return x.sort().values + 1


@torch.library.custom_op("flagos_contract::fill_both", mutates_args=("x", "ys"))
def fill_both(x: torch.Tensor, ys: list[torch.Tensor], value: float) -> None:
    x.fill_(value)
    for y in ys:
        y.fill_(value)


def test_own_operators():
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    twice(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert where_am_i(torch.ones(2)).tolist() == [0, 0] and where_am_i(torch.ones(2, device=DEVICE)).tolist() == [1, 1]
    torch.library.opcheck(
        twice, (torch.ones(3, device=DEVICE),), test_utils=("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    )
    y = torch.compile(lambda t: twice(t) + 1, backend="aot_eager", fullgraph=True)(torch.ones(2, device=DEVICE))
    assert y.tolist() == [3, 3] and y.is_flagos
    torch._dynamo.reset()


def test_an_operator_with_a_cpu_kernel_only_runs_on_device_memory():
    found = only_cpu(torch.tensor([3.0, 1.0], device=DEVICE))
    assert found.is_flagos and found.tolist() == [2, 4]


def test_own_operators_write_into_device_tensors():
    x, ys = torch.zeros(2, device=DEVICE), [torch.zeros(1, device=DEVICE), torch.zeros(3, device=DEVICE)]
    version = x._version
    fill_both(x, ys, 5.0)
    assert [t.unique().tolist() for t in (x, *ys)] == [[5], [5], [5]] and x._version > version


def test_kernels_registered_by_key():
    library = torch.library.Library("flagos_contract_keys", "DEF")
    library.define("plus(Tensor x, int n) -> Tensor")
    library.impl("plus", lambda x, n: x + n, "PrivateUse1")
    assert torch.ops.flagos_contract_keys.plus(torch.ones(2, device=DEVICE), 3).tolist() == [4, 4]
    with pytest.raises(NotImplementedError):
        torch.ops.flagos_contract_keys.plus(torch.ones(2), 3)


def test_an_operator_that_nobody_has_for_this_device():
    """One sentence that names it."""
    library = torch.library.Library("flagos_contract_none", "DEF")
    library.define("lost(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="flagos_contract_none::lost") as error:
        torch.ops.flagos_contract_none.lost(torch.ones(2, device=DEVICE))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.filterwarnings("ignore:`torch.jit.*` is deprecated")
def test_script_and_trace():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            y = torch.zeros(2, device=x.device)
            if x.sum() > 0:
                y = y + self.layer(x)
            return y

    net, x = Net().to(DEVICE), torch.ones(1, 3, device=DEVICE)
    for made in (torch.jit.script(net), torch.jit.trace(net.layer, x), torch.jit.freeze(torch.jit.script(net.eval()))):
        for _ in range(3):
            torch.testing.assert_close(made(x), net(x))
        buffer = io.BytesIO()
        torch.jit.save(made, buffer)
        for location in (None, "cpu", DEVICE):
            back = torch.jit.load(io.BytesIO(buffer.getvalue()), map_location=location)
            where = location or DEVICE
            torch.testing.assert_close(back(x.to(where)).cpu(), net(x).cpu())

    @torch.jit.script
    def moved(x, device: torch.device):
        return x.to(device) + torch.ones(2, device=device)

    assert moved(torch.ones(2), torch.device(DEVICE)).tolist() == [2, 2]


def test_graphs_of_fx_and_export():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(DEVICE), torch.ones(2, 3, device=DEVICE)
    traced = torch.fx.symbolic_trace(net)
    torch.testing.assert_close(traced(x), net(x))
    assert torch.equal(pickle.loads(pickle.dumps(traced))(x), net(x))
    exported = torch.export.export(net, (x,))
    torch.testing.assert_close(exported.module()(x), net(x))
    buffer = io.BytesIO()
    torch.export.save(exported, buffer)
    again = torch.export.load(io.BytesIO(buffer.getvalue()))
    torch.testing.assert_close(again.module()(x), net(x))


def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        x = torch.empty(3, 4, device=DEVICE)
        y = (x @ x.t()).softmax(0).view(9)[::2]
        assert y.device.type == DEVICE and y.shape == (5,)
        z = mode.from_tensor(torch.ones(2))
        assert z.to(DEVICE).device.type == DEVICE
    with torch.device("meta"):
        assert torch.ones(2).device.type == "meta"
