"""The contract of the ``flagos`` device, checked on the installed package.

Nothing here reads the source tree: the tests import ``torch``, and run small
programs in fresh processes.
"""

import os
import re
import textwrap

import pytest
import torch
from torch_fl.evidence import capabilities

from . import processes

DEVICE = "flagos"


def pytest_configure(config):
    config.addinivalue_line("markers", "devices(n): needs that many devices")
    config.addinivalue_line("markers", "capability(name): needs what the platform's table of capabilities may lack")


# PyTorch's profiler announces start and stop, and its CUDA build that there is neither CUPTI nor a driver.
PROFILERS_OWN = re.compile(r"USDT:|(INFO|WARNING|ERROR):\S+ \S+ \S+ (init|DeviceProperties)\.cpp:")


def said(done):
    """Lines that a program wrote to stderr, without what PyTorch's profiler itself says there."""
    return [line for line in done.stderr.splitlines() if not PROFILERS_OWN.match(line)]


def convolutions(*, allow_tf32):
    """Context in which convolutions may or may not use TF32. The switch itself is shut by PyTorch's test lists."""
    return torch.backends.cudnn.flags(enabled=None, benchmark=None, deterministic=None, allow_tf32=allow_tf32)


def needing(capability, some, names):
    """`names` as parameters of a test, of which `some` need a capability."""
    mark = pytest.mark.capability(capability)
    return [pytest.param(name, marks=mark) if name in some else name for name in names]


@pytest.fixture(autouse=True)
def _capable(request):
    for mark in request.node.iter_markers("capability"):
        if reason := capabilities.missing(mark.args[0]):
            pytest.skip(reason)


@pytest.fixture(autouse=True)
def _enough_devices(request):
    mark = request.node.get_closest_marker("devices")
    if mark and torch.flagos.device_count() < mark.args[0]:
        pytest.skip(f"needs {mark.args[0]} devices")


@pytest.fixture(autouse=True)
def _same_start():
    """Every test starts on device 0 with a fixed seed."""
    torch.flagos.set_device(0)
    torch.manual_seed(0)
    yield
    torch.flagos.set_device(0)


@pytest.fixture
def served():
    """Calls by (operator, backend) since the last :meth:`clear`."""
    from torch_fl import _C

    class Served:
        def clear(self):
            _C.reset_dispatch_counts()

        def backends(self, operator):
            return {backend for (op, backend), calls in _C.dispatch_counts().items() if op == operator and calls}

        def has(self, backend):
            return any(calls for (_, name), calls in _C.dispatch_counts().items() if name == backend)

        def calls(self, operator):
            return sum(calls for (op, _), calls in _C.dispatch_counts().items() if op == operator)

    counts = Served()
    counts.clear()
    return counts


def _environment(changes):
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("FLAGOS_", "TORCH_DEVICE_BACKEND"))}
    environ.update({k: v for k, v in changes.items() if v is not None})
    return environ


@pytest.fixture
def python(tmp_path):
    """Run a program in a process of its own: ``python(code, NAME=value, ...)``; warnings are errors unless `warn`.

    `fresh`: PyTorch is not imported when it begins.
    """

    def run(code, *, warn=False, check=True, fresh=False, **environ):
        environment = _environment(environ)
        done = processes.run(textwrap.dedent(code), environment, tmp_path, errors=not warn, fresh=fresh)
        if check and done.returncode:
            pytest.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run


@pytest.fixture
def same():
    """Assert that a device tensor equals a CPU one: values, dtype, shape; to the bit where the CPU's own kernels computed."""
    exact = {} if capabilities.missing("native_kernels") is None else {"rtol": 0, "atol": 0}

    def check(found, wanted, **tolerance):
        assert found.device.type == DEVICE
        torch.testing.assert_close(found.cpu(), wanted, **(tolerance or exact), equal_nan=True)

    return check
