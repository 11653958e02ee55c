"""What ``import torch`` calls through the entry point group ``torch.backends``, and the start of the command ``torch-fl``.

An exception here would break ``import torch`` for people who only compute on
the CPU, so :func:`load` never raises.  It keeps the error in :data:`error`
and, where nobody else owns the device key, registers the name ``flagos`` with
a stand-in module, so that the first use of the device repeats the reason.
"""

import sys

#: commands of ours that need neither torch nor the device; nor do torch-fl-lab's
WITHOUT_START = ("doctor", "evidence")
error: BaseException | None = None  #: why the last :func:`load` failed


def load() -> None:
    """Bring up the ``flagos`` device while ``torch`` is being imported; never raises."""
    global error
    # `import torch_fl` came first and is what imports torch now: it goes on by itself afterwards.
    if "torch_fl" in sys.modules:
        return
    try:
        import torch_fl  # noqa: F401
    except Exception as exception:
        error = exception
        try:
            _explain_at_first_use(str(exception))
        except Exception:  # a stand-in is a courtesy: without it, PyTorch's own message appears
            pass


def command() -> None:
    """The command ``torch-fl``; where the device cannot start, its reason is all that is said, except by the doctor."""
    word = "".join(sys.argv[1:2])
    if word in WITHOUT_START or _is_of_the_lab(word):
        _import_without_start()
    try:
        from torch_fl.cli import main
    except Exception as reason:
        if word == "doctor":
            from torch_fl.doctor import plain

            sys.exit(plain.main(sys.argv[2:], reason))
        if not isinstance(reason, ImportError):
            raise
        sys.exit(f"torch-fl: {reason}")
    main()


def _is_of_the_lab(word: str) -> bool:
    """Whether it is a command of torch-fl-lab, where that is installed and can be imported."""
    try:
        from torch_fl_lab.cli import COMMANDS
    except Exception:  # whoever asks for such a command is told by the command line
        return False
    return word in {command.__name__ for command in COMMANDS}


def _import_without_start() -> None:
    """Make ``torch_fl`` a bare package in this process: its modules can be imported where torch or the device cannot."""
    from importlib.util import find_spec
    from types import ModuleType

    spec = find_spec("torch_fl")
    if spec is None or not spec.submodule_search_locations:
        print("torch-fl: the package torch_fl is not there; install torch-fl-runtime again", file=sys.stderr)
        sys.exit(2)
    bare = ModuleType("torch_fl")
    bare.__path__ = list(spec.submodule_search_locations)
    bare.__spec__ = spec
    sys.modules["torch_fl"] = bare


def _explain_at_first_use(reason: str) -> None:
    import types

    import torch

    unowned = torch._C._get_privateuse1_backend_name() == "privateuseone"
    if not unowned or torch._C._dispatch_has_kernel_for_dispatch_key("aten::empty.memory_format", "PrivateUse1"):
        return

    def fail() -> None:
        raise RuntimeError(f"the flagos device did not start: {reason}")

    def missing(name: str) -> None:
        raise AttributeError(f"torch.flagos.{name} is not there, the flagos device did not start: {reason}")

    stand_in = types.ModuleType("torch.flagos", f"The flagos device did not start: {reason}")
    stand_in.__dict__.update(
        _torch_fl_stand_in=True,
        _lazy_init=fail,
        init=fail,
        is_available=lambda: False,
        is_initialized=lambda: False,
        device_count=lambda: 0,
        manual_seed_all=lambda seed: None,
        _is_in_bad_fork=lambda: False,
        __getattr__=missing,
    )
    torch.utils.rename_privateuse1_backend("flagos")
    torch._register_device_module("flagos", stand_in)


if __name__ == "__main__":
    command()
