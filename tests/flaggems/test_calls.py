"""What a FlagGems function is given, by the operator's schema, and what becomes of its result."""

PRELUDE = """
import torch
D = "flagos"
from torch_fl import _C

def served(op):
    return {backend: calls for (name, backend), calls in _C.dispatch_counts().items() if name == op}

def last():
    from flag_gems.ops import calls
    return calls[-1]
"""

RECORDING = """
def record(*args, **kwargs):
    calls.append((args, kwargs))

def anything(result):
    def function(*args, **kwargs):
        record(*args, **kwargs)
        return result(*args)
    return function

first = anything(lambda *args: args[0])
"""


def stubbed(stub, entries: dict[str, str], functions: str = ""):
    """A FlagGems whose function for `operator` is the expression `entries` has for it."""
    config, lines = [], []
    for number, (operator, expression) in enumerate(entries.items()):
        config.append(f'    ("{operator}", function_{number}),')
        lines.append(f"function_{number} = {expression}")
    stub("\n".join(config), RECORDING + functions + "\n" + "\n".join(lines))
    return "".join(f"{operator} = flaggems, none\n" for operator in entries)


def test_the_first_call_imports_flaggems_and_counts_and_logs_say_who_served(stub, python):
    routes = stubbed(stub, {"abs": "anything(lambda x: torch.full_like(x, 7))"})
    done = python(
        PRELUDE
        + """
import sys
assert "flag_gems" not in sys.modules
x = torch.tensor([1.0, -2.0], device=D)
assert x.abs().tolist() == [7, 7] and x.abs().tolist() == [7, 7]
assert "flag_gems" in sys.modules
assert served("abs") == {"flaggems": 2}, served("abs")
assert ("abs", "flaggems", "my.conf:1") in _C.routes()
import torch_fl
assert torch_fl.is_flaggems_available() and torch_fl.is_flaggems_enabled() and "abs" in torch_fl.get_registered_ops()
""",
        routes=routes,
        FLAGOS_LOG="dispatch",
    )
    assert [line for line in done.stderr.splitlines() if " abs " in line] == [
        "[flagos dispatch] abs -> flagos_python"
    ] * 2


def test_arguments_that_equal_their_default_are_dropped_at_the_end(stub, python):
    routes = stubbed(
        stub,
        {
            "add.Tensor": "first",
            "sum.dim_IntList": "first",
            "argmax": "first",
            "native_dropout": "anything(lambda x, p, train: (x, x > 0))",
        },
    )
    python(
        PRELUDE
        + """
x, y = torch.ones(2, device=D), torch.ones(2, device=D)
torch.add(x, y)
assert len(last()[0]) == 2 and last()[1] == {}, last()
torch.add(x, y, alpha=2)
assert len(last()[0]) == 2 and last()[1] == {"alpha": 2}, last()
torch.ops.aten.sum.dim_IntList(x, [0])
assert last()[0][1:] == ([0],) and last()[1] == {}, last()
torch.ops.aten.sum.dim_IntList(x, None, True, dtype=torch.float64)
assert last()[0][1:] == (None, True) and last()[1] == {"dtype": torch.float64}, last()
torch.argmax(x)
assert len(last()[0]) == 1 and last()[1] == {}, last()
torch.argmax(x, 0, True)
assert last()[0][1:] == (0, True), last()
torch.ops.aten.native_dropout(x, 0.5, None)
assert last()[0][1:] == (0.5, None), "an argument without default is given, whatever it is"
""",
        routes=routes,
    )


def test_data_types_layouts_memory_formats_and_devices_are_pythons(stub, python):
    routes = stubbed(
        stub,
        {
            "_to_copy": "anything(lambda x: torch.empty(2, 3, 4, 5, device=x.device, dtype=torch.float64))",
            "full": "anything(lambda size, value: torch.ones(size, device='flagos'))",
            "arange.start_step": "anything(lambda *args: torch.ones(3, device='flagos'))",
        },
    )
    python(
        PRELUDE
        + """
x = torch.ones(2, 3, 4, 5, device=D)
x.to(torch.float64, memory_format=torch.channels_last)
assert last()[1] == {"dtype": torch.float64, "memory_format": torch.channels_last}, last()
torch.full((2, 3), 1.5, device=D, dtype=torch.float16, layout=torch.strided)
args, kwargs = last()
assert args == ([2, 3], 1.5), args
assert kwargs["dtype"] is torch.float16 and kwargs["device"].type == D, kwargs
assert kwargs.get("layout", torch.strided) is torch.strided
torch.arange(0, 6, 2, device=D)
assert last()[0] == (0, 6, 2), last()
""",
        routes=routes,
    )


def test_numbers_strings_and_lists_keep_their_types(stub, python):
    routes = stubbed(
        stub,
        {
            "div.Tensor_mode": "first",
            "add.Scalar": "first",
            "clamp": "first",
            "cat": "anything(lambda tensors, dim: tensors[0])",
            "flip": "first",
            "native_batch_norm": "anything(lambda x, *rest: (x, x, x))",
            "convolution_backward": "anything(lambda grad, x, w, *rest: (x, w, None))",
        },
    )
    python(
        PRELUDE
        + """
x = torch.ones(2, 2, device=D)
torch.div(x, x, rounding_mode="floor")
assert last()[1] == {"rounding_mode": "floor"}
torch.div(x, x, rounding_mode=None)
assert last()[1] == {"rounding_mode": None}
for number in (2, 2.5, True, 1j):
    torch.ops.aten.add.Scalar(x, number)
    assert type(last()[0][1]) is type(number) and last()[0][1] == number, last()
torch.clamp(x, max=3)
assert last()[0][1:] == (None, 3), last()
torch.cat([x, x], 1)
assert [type(part) for part in last()[0][0]] == [torch.Tensor] * 2 and last()[0][1] == 1
torch.flip(x, (0, -1))
assert list(last()[0][1]) == [0, -1]
torch.ops.aten.native_batch_norm(x, None, x[0], None, None, True, 0.1, 1e-5)
assert last()[0][1] is None and last()[0][3:5] == (None, None) and last()[0][5:] == (True, 0.1, 1e-5), last()
image, weight = torch.ones(1, 1, 3, 3, device=D), torch.ones(1, 1, 2, 2, device=D)
grads = torch.ops.aten.convolution_backward(
    torch.ones(1, 1, 2, 2, device=D), image, weight, [0], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False])
assert grads[2] is None and list(last()[0][-1]) == [True, True, False], last()
""",
        routes=routes,
    )


def test_optional_lists_of_tensors_keep_their_gaps(stub, python):
    routes = stubbed(stub, {"index.Tensor": "first", "_index_put_impl_": "first"})
    python(
        PRELUDE
        + """
x, where = torch.ones(2, 3, 4, device=D), torch.tensor([0, 1], device=D)
x[:, where]
indices = last()[0][1]
assert indices[0] is None and torch.equal(indices[1], where), indices
x[:, torch.tensor([0, 1])]
assert last()[0][1][1].device == x.device, "indices may lie on the CPU; a kernel gets them on the device"
torch.ops.aten._index_put_impl_(x, [None, where], torch.tensor(5.0))
assert last()[0][1][0] is None and last()[0][2].device == x.device, last()
""",
        routes=routes,
    )


def test_scalars_on_the_cpu_arrive_on_the_device(stub, python):
    """0-d CPU tensors and Python numbers beside device tensors are operands; other CPU tensors are refused."""
    routes = stubbed(stub, {"mul.Tensor": "first", "where.self": "anything(lambda c, a, b: a)"})
    python(
        PRELUDE
        + """
x = torch.ones(2, device=D)
torch.mul(x, torch.tensor(2.0))
assert last()[0][1].device == x.device and last()[0][1].item() == 2
torch.mul(torch.tensor(3.0), x)
assert last()[0][0].device == x.device
for number, dtype in ((2, torch.int64), (2.5, torch.float32), (True, torch.bool)):
    x * number
    assert (last()[0][1].dtype, last()[0][1].device) == (dtype, x.device), (number, last()[0][1])
torch.where(x > 0, x, torch.tensor(1.0))
assert all(a.device == x.device for a in last()[0])
before = served("mul.Tensor")["flaggems"]
try:
    torch.mul(x, torch.ones(2))
except RuntimeError as error:
    assert "Expected all tensors to be on the same device" in str(error) and "mul.Tensor" in str(error), error
else:
    raise SystemExit("a CPU tensor was taken")
assert served("mul.Tensor")["flaggems"] == before
""",
        routes=routes,
    )


def test_a_generator_of_the_callers_draws_by_the_next_step(stub, python):
    """FlagGems' functions draw from the device's own generator, also where they take one: numbers of another would be wrong."""
    routes = stubbed(stub, {"normal_": "first", "bernoulli_.float": "first"})
    done = python(
        PRELUDE
        + """
x = torch.ones(2, device=D)
x.normal_()
assert len(last()[0]) == 1 and last()[1] == {}, last()
mine = torch.Generator(D).manual_seed(5)
device = torch.flagos.default_generators[0].get_state()
drawn = [x.normal_(1.0, 2.0, generator=mine.manual_seed(5)).tolist() for _ in range(2)]
assert drawn[0] == drawn[1] and torch.equal(device, torch.flagos.default_generators[0].get_state())
assert x.normal_(1.0, 2.0, generator=mine).tolist() != drawn[0]
assert served("normal_") == {"flaggems": 1, "cpu": 3}, served("normal_")
""",
        routes=routes,
        FLAGOS_LOG="dispatch",
    )
    assert "a generator of the caller's" in done.stderr


def test_arguments_that_the_function_does_not_take_go_to_the_next_step(stub, python):
    """A trailing argument that has its default is left out; where the function wants it, the call never begins."""
    routes = stubbed(stub, {"add.Tensor": "lambda a, b, *, alpha: 7"})
    python(
        PRELUDE
        + """
x = torch.ones(2, device=D)
assert torch.add(x, x).tolist() == [2, 2] and served("add.Tensor") == {"cpu": 1}, served("add.Tensor")
""",
        routes=routes,
    )


def test_what_an_operator_writes_to_comes_back_as_the_callers_tensor(stub, python):
    """In-place and out variants: identity, whatever the function returns."""
    functions = """
def fills(x, *rest, out=None):
    (x if out is None else out).fill_(7)
    return torch.zeros(1)

def fills_two(x, dim, keepdim=False, *, max, max_values):
    max.fill_(1), max_values.fill_(2)
"""
    entries = {"abs_": "fills", "mul_.Tensor": "fills", "abs.out": "fills", "max.dim_max": "fills_two"}
    routes = stubbed(stub, entries, functions)
    python(
        PRELUDE
        + """
x = torch.ones(2, device=D)
assert x.abs_() is x and x.tolist() == [7, 7]
y = x
x *= 2
assert x is y and x.tolist() == [7, 7]
out = torch.zeros(2, device=D)
assert torch.abs(x, out=out) is out and out.tolist() == [7, 7]
version = x._version
x.abs_()
assert x._version > version
values, indices = torch.ones(2, device=D), torch.zeros(2, dtype=torch.int64, device=D)
found = torch.max(torch.ones(2, 2, device=D), 0, out=(values, indices))
assert found[0] is values and found[1] is indices and values.tolist() == [1, 1] and indices.tolist() == [2, 2]
view = torch.zeros(4, device=D)
view[1:3].abs_()
assert view.tolist() == [0, 7, 7, 0]
""",
        routes=routes,
    )


def test_results_of_every_shape(stub, python):
    routes = stubbed(
        stub,
        {
            "max.dim": "lambda x, dim, keepdim=False: (x[0], torch.zeros(2, dtype=torch.int64, device=x.device))",
            "var_mean.correction": "lambda x, *rest, **named: [x[0], x[1]]",
            "equal": "lambda a, b: True",
            "_assert_async": "lambda x: None",
            "abs": "lambda x: (x, x)",
            "neg": "lambda x: 'text'",
            "sort": "lambda x, *rest: x",
        },
    )
    python(
        PRELUDE
        + """
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=D)
values, indices = x.max(0)
assert values.tolist() == [1, 2] and indices.tolist() == [0, 0]
assert [t.tolist() for t in torch.var_mean(x, 0)] == [[1, 2], [3, 4]]
assert torch.equal(x, x + 1) is True
torch._assert_async(torch.tensor(True, device=D))
assert served("_assert_async") == {"flaggems": 1}
for wrong in (torch.abs, torch.neg, torch.sort):
    try:
        wrong(x)
    except RuntimeError as error:
        assert f"aten::{wrong.__name__}" in str(error) and "FlagGems' function_" in str(error), error
        assert len(str(error).splitlines()) == 1, error
    else:
        raise SystemExit(f"{wrong.__name__} took a result of another type")
assert (x + 1).tolist() == [[2, 3], [4, 5]], "the device works on"
""",
        routes=routes,
    )


def test_errors_name_the_operator_and_the_function(stub, python):
    functions = """
def fails(x, y):
    torch.flagos.set_device(0)
    raise ValueError("no such thing\\nsecond line")

def out_of_memory(x):
    torch.empty(2**50, device=x.device)

def stopped(x):
    raise KeyboardInterrupt

def insists(x):
    assert x.is_cuda, "x must be on CUDA"
"""
    routes = stubbed(
        stub, {"mul.Tensor": "fails", "exp": "out_of_memory", "log": "stopped", "i0": "insists"}, functions
    )
    python(
        PRELUDE
        + """
x = torch.ones(2, device=D)
try:
    x * x
except RuntimeError as error:
    assert str(error).startswith("flagos: aten::mul.Tensor (FlagGems' function_0): ValueError: no such thing"), error
    assert isinstance(error.__cause__, ValueError)
else:
    raise SystemExit("nothing was raised")
try:
    x.exp()
except torch.OutOfMemoryError:
    pass
try:
    x.log()
except KeyboardInterrupt:
    pass
try:
    torch.special.i0(x)
except RuntimeError as error:
    assert "aten::i0 (FlagGems' function_3): AssertionError: x must be on CUDA" in str(error), error
else:
    raise SystemExit("nothing was raised")
assert served("mul.Tensor") == {}, "a call that failed is none that was served"
assert (x + 1).tolist() == [2, 2]
""",
        routes=routes,
    )


def test_the_device_of_the_first_tensor_is_current_meanwhile(stub, python):
    """G3: and the caller's own is current again after it, also after an error."""
    functions = """
def where(x):
    calls.append(torch.flagos.current_device())
    if x.numel() == 3:
        raise ValueError("three")
    return x
"""
    routes = stubbed(
        stub, {"abs": "where", "full": "anything(lambda size, value: torch.ones(size, device='flagos'))"}, functions
    )
    python(
        PRELUDE
        + """
x = torch.ones(2, device="flagos:1")
x.abs()
assert last() == 1 and torch.flagos.current_device() == 0
try:
    torch.ones(3, device="flagos:1").abs()
except RuntimeError:
    pass
assert last() == 1 and torch.flagos.current_device() == 0
assert torch.full((2,), 1.0, device="flagos:1").device.index == 1, "a factory's device is the current one"
torch.flagos.set_device(1)
torch.ones(2, device="flagos:0").abs()
assert last() == 0 and torch.flagos.current_device() == 1
""",
        routes=routes,
    )


def test_many_threads_may_make_the_first_call(stub, python):
    routes = stubbed(stub, {"abs": "anything(lambda x: torch.full_like(x, 7))"})
    python(
        PRELUDE
        + """
import threading
start, found = threading.Barrier(8), []

def work():
    x = torch.ones(2, device=D)
    start.wait()
    for _ in range(20):
        found.append(x.abs().tolist() == [7, 7])

threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
assert found == [True] * 160 and served("abs") == {"flaggems": 160}
""",
        routes=routes,
    )
