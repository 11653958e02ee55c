"""The pure parts of torch_fl, imported from the source tree without starting the device.

Importing ``torch_fl`` itself needs the native core; the package
``torch_fl_sources`` has the same modules and an empty ``__init__``.
"""

import sys
import types
from pathlib import Path

_sources = types.ModuleType("torch_fl_sources")
_sources.__path__ = [str(Path(__file__).parents[3] / "python/torch_fl")]
sys.modules.setdefault("torch_fl_sources", _sources)
