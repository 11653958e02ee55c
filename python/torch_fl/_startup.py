"""Start-up: the checks, in order, and the registrations that make ``flagos`` a PyTorch device.

Every check comes before the first registration, so a start that fails leaves
PyTorch as it was.  Each failure is an ``ImportError`` of one sentence.
"""

import atexit
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import torch

from torch_fl import compat
from torch_fl._data import data_file

NAME = "flagos"


def start() -> None:
    """Check the installation, start the core and register the device with PyTorch.

    Raises:
        ImportError: the device cannot work here; one sentence with the remedy.
    """
    if getattr(getattr(torch, NAME, None), "__name__", None) == "torch_fl.flagos":
        return  # importlib.reload, which interactive shells do by themselves
    _refuse_other_owner()
    compat.report_retired()
    compat.publish("FLAGOS_TRACER_LIBRARY")
    built = _compatibility()
    _refuse_other_torch(built)
    _refuse_other_platform(built)
    compat.report_notices(_notices())
    core = _native_extension()
    _start_core(core, built["platform"])
    _register(core)


def _refuse_other_owner() -> None:
    owner = torch._C._get_privateuse1_backend_name()
    if owner not in ("privateuseone", NAME):
        raise ImportError(
            f"the device '{owner}' already owns PyTorch's PrivateUse1 key in this process, and only one package can; "
            f"uninstall it, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0 and import only the one you need"
        )
    operator = "aten::empty.memory_format"
    if torch._C._dispatch_has_kernel_for_dispatch_key(operator, "PrivateUse1"):
        found = re.search(r"^PrivateUse1: registered at (\S+)", torch._C._dispatch_dump(operator), re.MULTILINE)
        raise ImportError(
            f"another package has registered kernels for PyTorch's PrivateUse1 key (from {found[1] if found else '?'}), "
            f"and only one can in a process; uninstall it, or do not import it together with torch_fl"
        )


def _compatibility() -> dict:
    path = data_file("compatibility.json")
    if path is None:
        raise ImportError(
            f"torch_fl in {Path(__file__).parent} is source code without its native part (no compatibility.json); "
            f"install the torch-fl package, or run 'pip install --no-build-isolation -e .' in the checkout"
        )
    try:
        built = json.loads(path.read_text(encoding="utf-8"))
        return {"platform": built["platform"], "torch_version": built["torch_version"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImportError(f"{path} cannot be used ({error!r}); reinstall the torch-fl-runtime package") from error


def _notices() -> list[dict[str, str]]:
    """What the platform has to say about its users' environment variables; nothing without its facts, as in a damaged installation."""
    path = data_file("platform.json")
    return json.loads(path.read_text(encoding="utf-8")).get("notices", []) if path else []


def _refuse_other_torch(built: dict) -> None:
    wanted, found = (".".join(version.split(".")[:2]) for version in (built["torch_version"], torch.__version__))
    if wanted != found:
        raise ImportError(
            f"torch_fl was built for PyTorch {wanted}, but PyTorch {torch.__version__} is installed; "
            f"install pytorch {wanted}, or the torch-fl-runtime package built for {found}"
        )


def _refuse_other_platform(built: dict) -> None:
    expected = compat.environment("FLAGOS_ACCELERATOR")
    if expected and expected.lower() != built["platform"]:
        raise ImportError(
            f"FLAGOS_ACCELERATOR is '{expected}', but the installed torch_fl is the '{built['platform']}' build; "
            f"install 'torch-fl=*={expected.lower()}*', or unset the variable"
        )


def _native_extension() -> ModuleType:
    try:
        from torch_fl import _C
    except ImportError as error:
        raise ImportError(
            f"torch_fl's native library cannot be loaded ({error}); reinstall the torch-fl-runtime package"
        ) from error
    return _C


def _start_core(core: ModuleType, platform: str) -> None:
    from torch_fl import routing

    try:
        core.load_kernels(compat.kernel_folders(), _compiled_flaggems())
        switches = compat.log_switches()
        installed = routing.of_core(core)
        table = routing.load(platform, installed)
        routing.report_missing(table.routes, installed)
        core.start(platform, table.requests())
    except ValueError as error:
        raise ImportError(str(error)) from None
    except RuntimeError as error:
        raise ImportError(str(error).splitlines()[0]) from error
    core.set_log(switches["dispatch"], switches["fallback"])
    if table.unforced:
        names = ", ".join(table.unforced)
        print(f"[flagos routes] no kernel in the forced backend, so they keep their route: {names}", file=sys.stderr)


def _compiled_flaggems() -> list[str]:
    try:
        from torch_fl.flaggems import compiled
    except ModuleNotFoundError:  # the package torch-fl-flaggems is not installed
        return []
    return compiled.libraries()


def _register(core: ModuleType) -> None:
    if torch._C._get_privateuse1_backend_name() != NAME:
        torch.utils.rename_privateuse1_backend(NAME)
    if hasattr(getattr(torch, NAME, None), "_torch_fl_stand_in"):
        delattr(torch, NAME)  # an earlier attempt of this process failed and left its explanation here
    from torch_fl import flagos
    from torch_fl.flagos import backends

    torch._register_device_module(NAME, flagos)
    flagos.alias_submodules(f"torch.{NAME}")
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    sys.modules[f"torch.backends.{NAME}"] = torch.backends.flagos = backends
    if core.native_device_type() not in (None, "cpu"):
        from torch_fl import adapters

        adapters.enable("torch.autograd")
    atexit.register(core.shutdown)
