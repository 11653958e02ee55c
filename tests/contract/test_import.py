"""Importing: silent, quick, in any order, and harmless to others when it cannot work."""

import functools

import pytest


@pytest.fixture
def python(python):
    """Here the imports are what is tested: nothing is imported when a program begins."""
    return functools.partial(python, fresh=True)


@pytest.mark.parametrize(
    "imports",
    [
        "import torch",
        "import torch_fl, torch",
        "import torch, torch_fl",
        "import torch_flagos, torch",
        "import torch_fl.flagos, torch",
    ],
)
def test_any_order_finds_the_device_and_prints_nothing(python, imports):
    done = python(f"{imports}\nassert torch.ones(2, device='flagos:0').device.type == 'flagos'")
    assert done.stdout == "" and done.stderr == ""


def test_import_alone_is_silent_and_initialises_nothing(python):
    done = python("import torch, sys; sys.exit(torch.flagos.is_initialized())")
    assert done.stdout == done.stderr == ""


def test_autoload_switched_off(python):
    python(
        """
        import torch
        assert not hasattr(torch, "flagos")
        import torch_fl
        assert torch.zeros(3, device="flagos").sum().item() == 0
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


def test_one_module_under_three_names(python):
    python(
        """
        import torch, torch_fl, torch_flagos
        assert torch.flagos is torch_fl.flagos is torch_flagos
        import torch.flagos.memory, torch_flagos.streams, torch_fl.flagos.streams
        assert torch_flagos.streams.Stream is torch.flagos.Stream is torch_fl.flagos.streams.Stream
        assert torch_fl._build_accelerator() == torch_fl._C.build_info()["platform"]
        assert torch_fl.is_flaggems_enabled() == bool(torch_fl.get_registered_ops())
        import pathlib
        assert list(pathlib.Path(torch_fl.__file__).parent.glob("configs/*.conf"))
        """
    )


def test_torch_is_left_as_it_was(python):
    """A4, F1: no patched Tensor slot, no global flag; the generated methods are PyTorch's own registration."""
    python(
        """
        import torch
        slots = ("__getitem__", "__setitem__", "__add__", "to", "cpu", "__len__", "__deepcopy__")
        before = {name: getattr(torch.Tensor, name) for name in slots}
        flags = [torch.__future__.get_overwrite_module_params_on_conversion(), torch.__future__.get_swap_module_params_on_conversion()]
        names = set(vars(torch.nn.Module)) | set(vars(torch.Tensor))
        import torch_fl
        torch.ones(1, device="flagos")
        assert before == {name: getattr(torch.Tensor, name) for name in slots}
        assert flags == [torch.__future__.get_overwrite_module_params_on_conversion(), torch.__future__.get_swap_module_params_on_conversion()]
        assert (set(vars(torch.nn.Module)) | set(vars(torch.Tensor))) - names == {"flagos", "is_flagos"}
        assert torch.tensor([torch.tensor(1), torch.tensor(2)]).tolist() == [1, 2]
        assert torch.get_default_device() == torch.device("cpu")
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


def test_importing_loads_nothing_heavy(python):
    """What makes imports slow; the time itself is measured by benchmarks/overhead.py."""
    code = """
        import sys, torch
        loaded = set(sys.modules)
        import torch_fl
        heavy = {"typer", "rich", "pydantic", "click", "jinja2", "inspect", "importlib.metadata"} & (set(sys.modules) - loaded)
        assert not heavy, heavy
        assert not torch.flagos.is_initialized()
    """
    python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


OWNERS = {
    "by name": ("torch.utils.rename_privateuse1_backend('otherdev')", "'otherdev' already owns"),
    "by kernel": (
        """
        lib = torch.library.Library("aten", "IMPL")
        lib.impl("empty.memory_format", lambda *a, **k: None, "PrivateUse1")
        """,
        "another package has registered kernels for PyTorch's PrivateUse1 key",
    ),
}


@pytest.mark.parametrize("how", OWNERS)
def test_a_second_owner_of_the_device_key_is_named(python, how):
    """K1: the other package came first."""
    claim, message = OWNERS[how]
    import textwrap

    code = f"""
import torch
{textwrap.dedent(claim)}
try:
    import torch_fl
except ImportError as error:
    assert {message!r} in str(error) and "\\n" not in str(error), error
else:
    raise SystemExit("imported beside another owner")
assert (torch.ones(2) + 1).tolist() == [2, 2]
assert not hasattr(torch, "flagos")
"""
    python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0", warn=True)


FAILURES = {
    "routing file": ({"FLAGOS_BACKEND_CONFIG": "/nowhere/my.conf"}, "/nowhere/my.conf"),
    "routing variable": ({"FLAGOS_OP_nosuchop": "none"}, "FLAGOS_OP_nosuchop: PyTorch has no operator 'nosuchop'"),
    "log word": ({"FLAGOS_LOG": "dispatched"}, "FLAGOS_LOG names 'dispatched'"),
    "platform": ({"FLAGOS_ACCELERATOR": "nosuch"}, "FLAGOS_ACCELERATOR is 'nosuch', but the installed torch_fl is the"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_failed_start_breaks_nothing_and_is_explained(python, what):
    environ, message = FAILURES[what]
    python(
        f"""
        import torch
        assert (torch.ones(2) + 1).sum().item() == 4
        torch.manual_seed(1); torch.randn(2)
        assert not torch.flagos.is_available()
        for attempt in (lambda: torch.ones(2, device="flagos"), lambda: __import__("torch_fl"), lambda: torch.flagos.synchronize()):
            try:
                attempt()
            except (RuntimeError, ImportError, AttributeError) as error:
                assert {message!r} in str(error).splitlines()[0], error
            else:
                raise SystemExit("no error")
        import _torch_fl_autoload
        assert isinstance(_torch_fl_autoload.error, ImportError)
        x = torch.nn.Linear(2, 2); x(torch.ones(1, 2)).sum().backward()
        """,
        **environ,
    )


def test_import_torch_fl_itself_fails_in_one_sentence(python):
    done = python("import torch_fl", check=False, FLAGOS_BACKEND_CONFIG="/nowhere/my.conf")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: /nowhere/my.conf: the routing file cannot be read")


def test_another_torch_minor_is_refused(python):
    python(
        """
        import torch
        torch.__version__ = "1.99.0"
        try:
            import torch_fl
        except ImportError as error:
            assert "PyTorch 1.99.0 is installed" in str(error) and "torch-fl-runtime package built for 1.99" in str(error), error
        else:
            raise SystemExit("imported")
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


def test_a_failed_start_can_be_mended_in_the_same_process(python):
    python(
        """
        import os
        os.environ["FLAGOS_BACKEND_CONFIG"] = "/nowhere/my.conf"
        import torch
        assert not torch.flagos.is_available()
        del os.environ["FLAGOS_BACKEND_CONFIG"]
        import torch_fl
        assert torch.flagos.is_available() and torch.ones(2, device="flagos").sum().item() == 2
        """
    )


def test_older_variable_names_warn(python):
    done = python(
        "import torch; torch.ones(1, device='flagos') + 1", warn=True, FLAGOS_LOG_DISPATCH="1", FLAGOS_LOG_FALLBACK="1"
    )
    assert "FLAGOS_LOG=dispatch" in done.stderr and "[flagos " in done.stderr
