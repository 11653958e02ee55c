"""Two packages that want PyTorch's one key for other devices: whoever is second is told, and nobody breaks torch."""

import os

import pytest

STUB = """
import torch
torch.utils.rename_privateuse1_backend("otherdev")
lib = torch.library.Library("_", "IMPL")
lib.fallback(lambda *args, **kwargs: None, "PrivateUse1")
def load():
    pass
"""


@pytest.fixture
def stub(tmp_path):
    """Another device package, found by PyTorch's autoload; returns the module path to run with."""
    (tmp_path / "otherdev.py").write_text(STUB)
    info = tmp_path / "otherdev-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: otherdev\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\notherdev = otherdev:load\n")
    return os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))


def test_the_other_package_is_loaded_first_by_pytorch(python, stub):
    """K1: with autoload on, `import torch` works, and torch_fl names the owner in one ImportError."""
    python(
        """
        import torch
        assert (torch.ones(2) + 1).tolist() == [2, 2]
        assert torch._C._get_privateuse1_backend_name() == "otherdev"
        try:
            import torch_fl
        except ImportError as error:
            assert "'otherdev' already owns" in str(error) and "\\n" not in str(error), error
        else:
            raise SystemExit("imported beside another owner")
        assert (torch.ones(2, requires_grad=True) * 2).sum().item() == 4
        """,
        PYTHONPATH=stub,
        warn=True,
    )


def test_the_other_package_comes_second(python, stub):
    """K1: PyTorch refuses the second name, the device goes on working."""
    python(
        """
        import torch, torch_fl
        x = torch.ones(2, device="flagos")
        try:
            import otherdev
        except RuntimeError as error:
            assert "Current backend: flagos" in str(error), error
        else:
            raise SystemExit("two owners")
        assert (x + 1).tolist() == [2, 2] and torch.flagos.is_available()
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
        PYTHONPATH=stub,
        warn=True,
    )


def test_second_without_autoload(python, stub):
    """K1: the other order with autoload off, where a program imports both by hand."""
    python(
        """
        import torch, otherdev
        for _ in range(2):
            try:
                import torch_fl
            except ImportError as error:
                assert "'otherdev' already owns" in str(error), error
            else:
                raise SystemExit("two owners")
        assert torch.rand(2).shape == (2,) and not hasattr(torch, "flagos")
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
        PYTHONPATH=stub,
        warn=True,
    )


def test_a_second_claim_on_what_is_taken(python):
    """K1: the name, the module and the fallback are each refused by PyTorch once the device owns them."""
    python(
        """
        import torch
        claims = {
            "name": lambda: torch.utils.rename_privateuse1_backend("otherdev"),
            "module": lambda: torch._register_device_module("flagos", object()),
            "fallback": lambda: torch.library.Library("_", "IMPL").fallback(lambda *a: None, "PrivateUse1"),
        }
        for claim, attempt in claims.items():
            try:
                attempt()
            except RuntimeError as error:
                assert "flagos" in str(error) or "PrivateUse1" in str(error), error
            else:
                raise SystemExit(claim + " was taken")
        assert torch.ones(2, device="flagos").sum().item() == 2
        import torch_fl, importlib
        importlib.reload(torch_fl)
        assert torch.ones(2, device="flagos").sum().item() == 2
        """,
        warn=True,
    )
