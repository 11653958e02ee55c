"""What people ask about MetaX first, and what ``torch-fl doctor`` says to it."""

import json

import pytest
import torch
from torch_fl import _C
from torch_fl.doctor import devices, libtorch

boxed = pytest.mark.skipif(not _C.native_device_type(), reason="boxing is not installed")


def said(check, subject):
    return [(finding.state, "; ".join(filter(None, (finding.sentence, finding.remedy)))) for finding in check() if finding.subject == subject]


def test_no_order_of_imports_is_needed():
    ((state, sentence),) = said(libtorch.check, "imports")
    assert state == "fine" and "in any order" in sentence


@pytest.mark.skipif(bool(_C.native_device_type()), reason="boxing is installed")
def test_on_the_official_core_torch_cuda_has_no_cards_and_that_is_no_fault():
    ((state, sentence),) = said(libtorch.check, "torch.cuda")
    assert state == "note" and "the official core of PyTorch has none" in sentence
    ((state, sentence),) = said(libtorch.check, "libtorch")
    assert state == "fine" and torch.__version__ in sentence


@boxed
def test_the_size_of_the_vendors_core_is_as_it_should_be():
    ((state, sentence),) = said(libtorch.check, "libtorch")
    assert state == "fine" and " MB in torch-fl-libtorch; updates of kernels do not touch it" in sentence


@boxed
def test_cards_that_torch_cuda_and_flagos_count_otherwise_are_wrong(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1 + torch.flagos.device_count())
    ((state, sentence),) = said(libtorch.check, "torch.cuda")
    assert state == "wrong" and "look whether the driver is there and LD_LIBRARY_PATH puts no other runtime before it" in sentence
    monkeypatch.setattr(torch.cuda, "device_count", torch.flagos.device_count)
    assert said(libtorch.check, "torch.cuda") == [("fine", f"shows the same {torch.flagos.device_count()} devices as torch.flagos")]


@boxed
def test_a_core_that_nothing_uses_and_one_that_was_written_over_are_told(monkeypatch, tmp_path):
    monkeypatch.setattr(_C, "native_device_type", lambda: None)
    assert said(libtorch.check, "boxing")[0][1].endswith("install torch-fl-vendor-kernels, or remove torch-fl-libtorch")
    facts = json.loads(libtorch.MANIFEST.read_text())
    facts["libraries"]["libc10_cuda.so"]["sha256"] = "0" * 64
    facts["libraries"]["libgone.so"] = {"sha256": "0" * 64, "bytes": 1}
    (tmp_path / "libtorch.json").write_text(json.dumps(facts))
    monkeypatch.setattr(libtorch, "MANIFEST", tmp_path / "libtorch.json")
    wrong = [sentence for state, sentence in said(libtorch.check, "libtorch") if state == "wrong"]
    assert any("libc10_cuda.so is not the package's; another PyTorch was installed over it" in sentence for sentence in wrong)
    assert any("libgone.so is missing; install torch-fl-libtorch again" in sentence for sentence in wrong)


def test_a_runtime_from_elsewhere_is_noted(monkeypatch, tmp_path):
    elsewhere = tmp_path / "libmcruntime.so"
    monkeypatch.setattr(devices, "loaded", lambda names: [elsewhere])
    ((state, sentence),) = said(devices.check, "libmcruntime.so")
    assert state == "note" and f"is loaded from {tmp_path} and not from /opt/maca: LD_LIBRARY_PATH decides that" in sentence
