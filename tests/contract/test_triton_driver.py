"""The adapter for a vendor's Triton, on a stand-in with the shape of FlagTree's: it asks torch.flagos, and no vendor plug-in."""

import textwrap

import pytest

FACTS = {"backend": "shop", "target": "card", "driver_utils": "CardUtils", "driver_launcher": "CardLauncher"}

# What FlagTree's drivers do: the vendor's word for the device comes from `torch`, and without its plug-in they refuse to start.
STAND_IN = {
    "triton/__init__.py": "",
    "triton/runtime/__init__.py": """
        class Config:
            active = None

            def set_active(self, driver):
                self.active = driver

        driver = Config()
    """,
    "triton/backends/__init__.py": """
        from types import SimpleNamespace

        from triton.backends.shop import driver

        backends = {"shop": SimpleNamespace(driver=driver.CardDriver)}
    """,
    "triton/backends/driver.py": """
        from abc import ABCMeta, abstractmethod

        class DriverBase(metaclass=ABCMeta):
            @classmethod
            @abstractmethod
            def is_active(cls): ...
    """,
    "triton/backends/shop/__init__.py": "",
    "triton/backends/shop/driver.py": """
        import torch

        from triton.backends.driver import DriverBase

        class CardUtils:
            pass

        class CardLauncher:
            pass

        class CardDriver(DriverBase):
            def __init__(self):
                import vendor_plugin

            @staticmethod
            def is_active():
                return hasattr(torch, "card") and torch.card.is_available()

            def get_current_target(self):
                major, minor = self._torch.card.get_device_capability(self.get_current_device())
                return ("card", 10 * major + minor, self._torch.float32)

            def get_current_stream(self, device):
                raise AssertionError("the vendor's stream was asked for")
    """,
    "vendor_plugin.py": "raise AssertionError('the plug-in was imported')",
}


@pytest.fixture
def stand_in(tmp_path):
    for name, text in STAND_IN.items():
        file = tmp_path / "stand_in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    return tmp_path / "stand_in"


@pytest.fixture
def program(python, stand_in):
    def run(code, *, facts=FACTS):
        lines = f"import sys\nsys.path.insert(0, {str(stand_in)!r})\nfacts = {facts!r}\n" + textwrap.dedent(code)
        return python(lines).stdout.splitlines()

    return run


def test_the_driver_answers_from_torch_flagos(program):
    said = program("""
        import torch
        from torch_fl.adapters import triton as adapter
        import triton.runtime

        driver = adapter.activate(facts)
        assert triton.runtime.driver.active is driver and driver.is_active()
        assert type(driver.utils).__name__ == "CardUtils" and driver.launcher_cls.__name__ == "CardLauncher"
        last = torch.flagos.device_count() - 1
        driver.set_current_device(last)
        assert driver.get_current_device() == torch.flagos.current_device() == last
        assert driver.get_active_torch_device() == torch.device("flagos", last)
        assert driver.get_device_capability(0) == torch.flagos.get_device_capability(0)
        major, minor = torch.flagos.get_device_capability(last)
        assert driver.get_current_target() == ("card", 10 * major + minor, torch.float32)
        assert driver.get_device_interface() is torch.flagos
        assert driver.get_empty_cache_for_benchmark().device.type == "flagos"
        print("vendor_plugin" in sys.modules, hasattr(torch, "card"))
    """)
    assert said == ["False False"]


def test_kernels_are_launched_on_the_current_stream(program):
    said = program("""
        import torch
        from torch_fl.adapters import triton as adapter

        driver = adapter.activate(facts)
        stream = torch.flagos.Stream()
        print(driver.get_current_stream(0))
        with torch.flagos.stream(stream):
            print(driver.get_current_stream(0) == stream.flagos_stream != 0)
    """)
    assert said == ["0", "True"]


def test_a_second_call_changes_nothing(program):
    said = program("""
        from torch_fl.adapters import triton as adapter
        print(adapter.activate(facts) is adapter.activate(facts))
    """)
    assert said == ["True"]


@pytest.mark.parametrize(
    "facts, sentence",
    [
        (FACTS | {"backend": "other"}, "has no back end 'other' (it has shop); install the vendor's FlagTree"),
        (FACTS | {"driver_utils": "Tools"}, "has no Tools, which the driver for flagos is made of"),
    ],
)
def test_another_triton_gives_one_sentence(program, facts, sentence):
    said = program(
        """
        from torch_fl.adapters import triton as adapter
        try:
            adapter.activate(facts)
        except ImportError as error:
            print(error)
        """,
        facts=facts,
    )
    assert len(said) == 1 and sentence in said[0]


def test_a_platform_whose_kernels_the_host_runs_needs_no_driver(program):
    said = program("""
        import torch_fl.adapters
        from torch_fl.evidence import capabilities
        if capabilities.build()["emulated"]:
            torch_fl.adapters.enable("triton")
        print("triton" in sys.modules)
    """)
    assert said == ["False"]
