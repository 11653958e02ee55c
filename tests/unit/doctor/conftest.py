"""The doctor's modules from the source tree, with torch_fl as the bare package that the command makes of it."""

import sys
import types
from importlib import import_module
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "python/torch_fl"


@pytest.fixture
def module():
    """A function from the name of a module, without `torch_fl.`, to it."""
    before = {name: value for name, value in sys.modules.items() if name.partition(".")[0] == "torch_fl"}
    for name in before:
        del sys.modules[name]
    bare = types.ModuleType("torch_fl")
    bare.__path__ = [str(SOURCES)]
    sys.modules["torch_fl"] = bare
    yield lambda name: import_module(f"torch_fl.{name}")
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_fl"]:
        del sys.modules[name]
    sys.modules.update(before)
