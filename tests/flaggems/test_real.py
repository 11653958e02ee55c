"""The installed FlagGems itself: its table as read equals its table as imported, and its kernels do the work."""

import ast
import inspect
import sys
import types

import pytest
import torch

from torch_fl import flaggems
from torch_fl.flaggems import operators

@pytest.fixture(scope="module")
def library():
    flaggems.load("add")
    return sys.modules["flag_gems"]


def test_the_table_as_read_is_the_table_as_imported(library):
    enabled = {entry[0]: entry[1] for entry in library._FULL_CONFIG if len(entry) < 3 or entry[2]()}
    known = {operator for operator in enabled if operator in flaggems.operators.table()}
    assert {operator: getattr(library, operators.table()[operator]) for operator in known} == {
        operator: enabled[operator] for operator in known
    }
    assert operators.table().keys() - enabled.keys() == operators.BESIDE.keys()
    assert len(known) > 400


def test_functions_that_record_their_own_gradient_are_those_of_the_source(library):
    """Of the operators that PyTorch composes, those whose function applies an autograd.Function, or calls such a function."""

    def calls(function: types.FunctionType) -> set[str]:
        tree = ast.parse(inspect.getsource(inspect.unwrap(function)))
        return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}

    def records(name: str) -> bool:
        function = inspect.unwrap(getattr(library, name))
        if not isinstance(function, types.FunctionType):
            return False
        found = calls(function)
        applied = (function.__globals__.get(call.split(".")[0]) for call in found if call.endswith(".apply"))
        if any(isinstance(owner, type) and issubclass(owner, torch.autograd.Function) for owner in applied):
            return True
        return any(isinstance(getattr(library, call, None), types.FunctionType) and call != name and records(call)
                   for call in found if call in ("conv2d",))  # fmt: skip

    composed = {
        operator
        for operator in operators.table()
        if torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", "CompositeImplicitAutograd")
        and not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", "Autograd")
    }
    recording = {operator for operator in composed if records(operators.table()[operator])}
    assert recording == operators.DIFFERENTIABLE | operators.WRONG_GRADIENT


def test_flaggems_answers_for_flagos(library):
    assert (library.device, library.runtime.device.dispatch_key) == ("flagos", "PrivateUse1")
    assert library.runtime.torch_device_fn is torch.flagos


def ramp(*shape: int) -> torch.Tensor:
    """float32 on the CPU: 0, 1, 2, ..."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).view(shape)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add", lambda d: (ramp(3, 4).to(d), ramp(4).to(d))),
        ("mm", lambda d: (ramp(3, 4).to(d), ramp(4, 2).to(d))),
        ("softmax", lambda d: (ramp(3, 4).to(d), 1)),
    ],
)
def test_a_function_computes_what_the_cpu_does(library, name, arguments):
    function = flaggems.load(name)
    given = (*arguments("flagos"), *((False,) if name == "softmax" else ()))
    expected = getattr(torch, name)(*arguments("cpu"))
    torch.testing.assert_close(function(*given).cpu(), expected)


def test_attention_of_flaggems_has_the_gradient_of_causal_attention_whatever_was_asked(library):
    """Why WRONG_GRADIENT names it; once this fails, FlagGems is mended and the name can go."""
    values = torch.linspace(-1, 1, 3 * 32 * 32).view(3, 1, 1, 32, 32)

    def gradient(device: str, attention, causal: bool) -> torch.Tensor:
        query, key, value = (part.to(device).requires_grad_() for part in values)
        out = attention(query, key, value, is_causal=causal)
        out.backward(torch.ones_like(out))
        return value.grad.cpu()

    own = gradient("flagos", library.scaled_dot_product_attention, False)
    assert not torch.allclose(own, gradient("cpu", torch.nn.functional.scaled_dot_product_attention, False), atol=1e-2)
    causal = gradient("flagos", library.scaled_dot_product_attention, True)
    torch.testing.assert_close(causal, gradient("cpu", torch.nn.functional.scaled_dot_product_attention, True))


def test_routed_operators_launch_kernels(python):
    """The whole road: routing file, core, bridge, adapter, FlagGems, Triton, the host's executor."""
    python(
        """
        import torch, torch_fl_triton_host
        from torch_fl import _C
        x = torch.tensor([0.0, 1, 2, 3, 4, 5], device="flagos", requires_grad=True)
        (x * x + 1).sum().backward()
        assert x.grad.tolist() == [0, 2, 4, 6, 8, 10]
        counts = _C.dispatch_counts()
        assert counts["mul.Tensor", "flaggems"] >= 2 and counts["add.Tensor", "flaggems"] == 1, counts
        assert sum(torch_fl_triton_host.launches().values()) >= 3, torch_fl_triton_host.launches()
        """,
        routes="mul.Tensor = flaggems, none\nadd.Tensor = flaggems, none\n",
    )
