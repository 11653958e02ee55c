"""PyTorch's engine serves one accelerator; what it says to tensors of another one, where PyTorch drives the devices itself."""

import pytest
import torch

# The engine's own assertion is raised by a backward formula here: without a card there is no second accelerator.
PROGRAM = """
    import torch, torch_fl.adapters
    from torch.autograd import Variable
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, text):
            ctx.text = text
            return x * 2
        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError(ctx.text)
    def said(text):
        x = torch.ones(2, device="flagos", requires_grad=True)
        try:
            Failing.apply(x, text).sum().backward()
        except RuntimeError as error:
            return str(error)
    ASSERTION = 'opt_ready_stream && opt_parent_stream INTERNAL ASSERT FAILED at "engine.cpp":1084, please report a bug to PyTorch.'
"""


def test_the_failure_says_what_to_do_and_others_stay(python):
    done = python(
        PROGRAM
        + """
    torch_fl.adapters.enable("torch.autograd")
    engine = Variable._execution_engine
    torch_fl.adapters.enable("torch.autograd")
    assert Variable._execution_engine is engine
    assert "put them on 'flagos', or run this program with TORCH_DEVICE_BACKEND_AUTOLOAD=0" in said(ASSERTION), said(ASSERTION)
    assert said("another fault") == "another fault"
    x = torch.ones(2, device="flagos", requires_grad=True)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    """
    )
    assert done.stdout == ""


def test_the_engine_is_pytorchs_own_where_it_is_not_needed_or_switched_off(python):
    program = (
        PROGRAM
        + """
    from torch_fl import _C
    exchanged = type(Variable._execution_engine) is not torch._C._ImperativeEngine
    print(exchanged, _C.native_device_type() not in (None, "cpu"))
    """
    )
    exchanged, needed = python(program).stdout.split()
    assert exchanged == needed
    assert python(program, FLAGOS_ADAPTERS_OFF="torch.autograd").stdout.split()[0] == "False"


def test_tensors_of_the_cards_own_type_have_no_backward_pass():
    from torch_fl import _C

    native = _C.native_device_type()
    if native in (None, "cpu"):
        pytest.skip("there is no other accelerator in this process")
    if not torch.get_device_module(native).is_available():
        pytest.skip(f"this PyTorch has no Python part for '{native}'")
    x = torch.ones(2, device=native, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=f"so tensors on '{native}' have no backward pass here; put them on 'flagos'"
    ):
        (x * 2).sum().backward()
