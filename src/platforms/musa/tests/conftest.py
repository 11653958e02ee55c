"""Kernels of slot ``musa`` against the CPU's, on an installed package with a MUSA card, real or emulated.

Every comparison also asserts which kernel ran: a test that passed by falling back would show nothing.
"""

import os
import textwrap

import pytest
import torch
from torch_fl_tests import processes

DEVICE = "flagos"


def to_device(value):
    """The arguments of a call, on the device; what is no tensor stays."""
    if isinstance(value, torch.Tensor):
        moved = value.detach().to(DEVICE)
        if moved.stride() != value.stride():  # a copy is dense; the strides are what is tested
            storage = torch.as_strided(value.detach(), (value.untyped_storage().nbytes() // value.element_size(),), (1,), 0)
            moved = torch.as_strided(storage.to(DEVICE), value.size(), value.stride(), value.storage_offset())
        return moved
    if isinstance(value, list | tuple):
        return type(value)(to_device(one) for one in value)
    return value


def to_host(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, list | tuple):
        return [to_host(one) for one in value]
    return value


@pytest.fixture(autouse=True)
def _same_start():
    torch.flagos.set_device(0)
    torch.manual_seed(0)


@pytest.fixture
def backends():
    """Backends that served an operator since the test began (or since ``_C.reset_dispatch_counts()``)."""
    from torch_fl import _C

    _C.reset_dispatch_counts()
    return lambda operator: {backend for (op, backend), calls in _C.dispatch_counts().items() if op == operator and calls}


@pytest.fixture
def native():
    """``native(operator, function, *arguments)``: `function` gives the CPU's values on the device, through slot ``musa`` alone."""
    from torch_fl import _C

    def check(operator, function, *arguments, rtol=None, atol=None, **keywords):
        wanted = function(*arguments, **keywords)
        moved = to_device(arguments)
        _C.reset_dispatch_counts()
        found = function(*moved, **{name: to_device(value) for name, value in keywords.items()})
        served = {backend for (op, backend), calls in _C.dispatch_counts().items() if op == operator and calls}
        assert served == {"musa"}, f"{operator} was served by {served or 'nothing'}"
        torch.testing.assert_close(to_host(found), to_host(wanted), rtol=rtol, atol=atol, equal_nan=True)
        return found

    return check


@pytest.fixture
def python(tmp_path):
    """Runs a program in a process of its own: ``python(code, NAME=value, ...)``."""

    def run(code, *, check=True, **environ):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FLAGOS_")}
        done = processes.run(textwrap.dedent(code), {**kept, **environ}, tmp_path)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def emulated():
    """Skips where the card is real: the test switches quirks of the emulated SDK."""
    if "emulat" not in torch.flagos.get_device_name(0).lower() and not os.environ.get("FLAGOS_HOST_DEVICES"):
        pytest.skip("needs the emulated SDK, whose quirks can be switched off")
