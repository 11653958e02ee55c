"""Boxing: PyTorch's own kernels of a target device on ``flagos`` tensors.

The same tests run on the CPU double and on a card. For the double, build with
``-DTORCH_FL_PLATFORM=double -DTORCH_FL_PLATFORM_DIR=tests/boxing/double``, install, and name the folder that holds the package:

    TORCH_FL_BOXING=<prefix> python -m pytest tests/boxing

A test that could pass by falling back asks ``boxed`` which kernels ran.
"""

import json
import os
import pathlib
import sys

import pytest

if place := os.environ.get("TORCH_FL_BOXING"):
    if not os.path.isdir(os.path.join(place, "torch_fl")):
        raise pytest.UsageError(f"TORCH_FL_BOXING={place}: there is no package torch_fl in it; install the double's build there")
    sys.path.insert(0, place)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [place, os.environ.get("PYTHONPATH")]))

import torch  # noqa: E402 - the path above decides which torch_fl it loads

DEVICE = "flagos"


def _kernels():
    """Slot and target device type of the boxing kernels that are installed; ``(None, None)``: none."""
    try:
        import torch_fl
        from torch_fl import _C
    except ImportError:
        return None, None
    facts = json.loads((pathlib.Path(torch_fl.__file__).parent / "compatibility.json").read_text())
    slot = next((backend for op, backend, _ in _C.routes() if op == "lerp.Scalar" and backend == "cuda"), None)
    return slot, "cpu" if facts["platform"] == "double" else "cuda"


SLOT, NATIVE = _kernels()
CUDA_IN_PYTHON = hasattr(torch._C, "_cuda_init")  # an emulated fork of PyTorch has it in C++ alone, which starts it unasked
if NATIVE == "cuda" and not CUDA_IN_PYTHON:
    torch.cuda._initialized = True


def pytest_collection_modifyitems(items):
    here = os.path.dirname(__file__)
    reason = "needs boxing kernels: the CPU double (TORCH_FL_BOXING names its folder) or a card with torch-fl-vendor-kernels"
    for item in items:
        if not SLOT and str(item.fspath).startswith(here):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _same_start():
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def native():
    """The device type whose kernels serve."""
    return NATIVE


@pytest.fixture
def boxed():
    """``boxed("add.Tensor")``: asserts that the slot served the operator since the last call, and nothing else did."""
    from torch_fl import _C

    _C.reset_dispatch_counts()

    def check(*operators):
        counts = _C.dispatch_counts()
        _C.reset_dispatch_counts()
        for operator in operators:
            served = {backend for (op, backend), calls in counts.items() if op == operator and calls}
            assert served == {SLOT}, f"{operator} was served by {served or 'nothing'}; there were {sorted(counts)}"

    return check


def same(found, wanted, **tolerance):
    """`found` lies on flagos, storage included, and equals the CPU's `wanted`."""
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other, **tolerance)
        return
    if not isinstance(wanted, torch.Tensor):
        assert found == wanted
        return
    assert found.device == torch.device(DEVICE, 0), found.device
    assert found.untyped_storage().device == found.device
    assert found.stride() == wanted.stride()
    torch.testing.assert_close(found.detach().cpu(), wanted.detach(), equal_nan=True, **tolerance)


def moved(value):
    if isinstance(value, torch.Tensor):
        return value.detach().to(DEVICE)
    if isinstance(value, list | tuple):
        return type(value)(moved(one) for one in value)
    return value
