"""What a build says of itself where nothing but the builder's variables says it: a wheel's label, and a vendor's core of PyTorch."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = (ROOT / "python/torch_fl/_version.py").read_text().split('"')[-2]
NAMES = ("FLAGOS_ACCELERATOR", "FLAGOS_SDK_VERSION", "FLAGOS_WHEEL_LOCAL", "FLAGOS_VENDOR_TORCH_VERSION")


@pytest.fixture
def facts(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("facts_of_a_build", ROOT / "cmake/facts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("given", "version"),
    [
        ({}, VERSION),
        ({"FLAGOS_ACCELERATOR": "host", "FLAGOS_SDK_VERSION": "1.0"}, VERSION),
        ({"FLAGOS_ACCELERATOR": "metax"}, VERSION),
        ({"FLAGOS_ACCELERATOR": "metax", "FLAGOS_SDK_VERSION": "3.8.1.3"}, f"{VERSION}+maca3.8.1.3"),
        ({"FLAGOS_ACCELERATOR": "metax", "FLAGOS_SDK_VERSION": "3.8.1.3", "FLAGOS_WHEEL_LOCAL": "lab7"}, f"{VERSION}+lab7"),
        ({"FLAGOS_ACCELERATOR": "metax", "FLAGOS_SDK_VERSION": "3.8.1.3", "FLAGOS_WHEEL_LOCAL": ""}, VERSION),
        ({"FLAGOS_ACCELERATOR": "no-such"}, VERSION),
    ],
)
def test_a_wheel_s_version_names_its_sdk(facts, monkeypatch, given, version):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert facts.dynamic_metadata({}, {}) == {"version": version}


@pytest.mark.parametrize("label", ["a_b", "a b", "+x", "a..b", "ä"])
def test_what_is_no_label_is_refused(facts, monkeypatch, label):
    monkeypatch.setenv("FLAGOS_WHEEL_LOCAL", label)
    with pytest.raises(RuntimeError, match="is no local version label; write letters, digits and dots"):
        facts.dynamic_metadata({}, {})


def test_the_vendor_s_pytorch_is_what_a_bundle_or_the_builder_says_and_else_unknown(facts, monkeypatch, tmp_path):
    assert facts.vendors_core("") == {}
    assert facts.vendors_core(str(tmp_path)) == {"bundled_libtorch": "torch-fl-libtorch", "vendor_torch_version": None}
    monkeypatch.setenv("FLAGOS_VENDOR_TORCH_VERSION", "2.10.0+metax3.8.1.3")
    assert facts.vendors_core(str(tmp_path))["vendor_torch_version"] == "2.10.0+metax3.8.1.3"
    (tmp_path / "libtorch.json").write_text(json.dumps({"vendor_torch_version": "2.10.0+bundle"}))
    assert facts.vendors_core(str(tmp_path))["vendor_torch_version"] == "2.10.0+bundle"
