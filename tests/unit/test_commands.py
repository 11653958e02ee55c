"""Which commands of torch-fl are answered without torch and the device."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from torch_fl_lab.cli import COMMANDS


def test_the_lab_s_commands_all_of_them_and_no_others():
    spec = importlib.util.spec_from_file_location("autoload", Path(__file__).parents[2] / "python/_torch_fl_autoload.py")
    autoload = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(autoload)
    names = [command.__name__ for command in COMMANDS]
    assert {"sbom", "verify", "detect"} <= set(names) and all(map(autoload._is_of_the_lab, names))
    assert not any(map(autoload._is_of_the_lab, ("", "info", "test", "routes", "doctor", "--help")))
