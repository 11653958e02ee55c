"""A seed channel of another PyTorch: its lists, what it says before it downloads, and a machine without the driver."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple

import pytest

from flbuild import accelerator, interpreter_tags
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.report import Report
from flbuild.seed import channel, download

from .conftest import PLATFORM

CARD = """
python = ["{python}"]
pytorch = ["2.10", "2.11"]

[sdk]
name = "card"
title = "CARD"
versions = ["1.2", "3.4"]
root = "/nowhere"
root_variables = ["CARD_HOME"]
probe = "include/card.h"
with_pytorch = true
virtual_package = "__card"

[sdk.pytorch]
"1.2" = "2.10"
"""
TAG = interpreter_tags.current().py


@pytest.fixture
def card(toy: Layout) -> Layout:
    """The toy project with a platform that PyTorch drives, and a list of wheels for one of its versions of PyTorch."""
    file = toy.root / "src/platforms/card/platform.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(PLATFORM.format(id="card", more=CARD.format(python=interpreter_tags.current().xy)))
    lists = toy.root / "recipe/seed/wheels"
    lists.mkdir(parents=True)
    for name in ("torch2.11.in", f"{TAG}.txt", f"{TAG}-cpu.txt", f"{TAG}-cuda.txt", f"{TAG}-torch2.11.txt"):
        (lists / name).write_text("# download-bytes: 2000000000\n")
    return toy


def chosen(layout: Layout, version: str):
    return accelerator.choose(layout, f"card-{version}", False, {})


def test_the_channel_is_of_the_pytorch_that_goes_with_the_sdk(card: Layout) -> None:
    assert accelerator.seed_torch(card, chosen(card, "3.4")) == "2.11"
    assert accelerator.seed_torch(card, chosen(card, "1.2")) == ""  # there is no list with 2.10
    assert accelerator.seed_torch(card, accelerator.choose(card, "plain", False, {})) == ""


def test_it_depends_on_its_own_list_alone(card: Layout) -> None:
    pinned = Layout(card.root, torch="2.11")
    assert [file.name for file in download.lists(pinned)] == [f"{TAG}-torch2.11.txt"]
    assert [file.name for file in download.lists(card)] == [f"{TAG}.txt", f"{TAG}-cpu.txt", f"{TAG}-cuda.txt"]


def test_headers_that_come_with_pytorch_need_no_sdk_unless_one_is_named(card: Layout) -> None:
    variant = chosen(card, "3.4")
    assert accelerator.sdk_root(card, variant, {}) is None
    with pytest.raises(UserError, match=r"CARD_HOME=/elsewhere has no include/card\.h"):
        accelerator.sdk_root(card, variant, {"CARD_HOME": "/elsewhere"})


def test_the_disk_is_told_and_looked_at_before_anything_is_downloaded(card: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    usage, pinned = namedtuple("usage", "total used free"), Layout(card.root, torch="2.11")
    need = 2 * channel.DISK_FACTOR
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, 10**11))
    assert channel.announced(pinned) == f"2.0 GB of wheels from PyPI, disk {need:.0f} GB with an environment"
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, 10**9))
    with pytest.raises(UserError) as caught:
        channel.announced(pinned)
    said = str(caught.value)
    assert f"has 1 GB free, and a channel with PyTorch 2.11 and its libraries takes {need:.0f} GB" in said and "--channel" in said


@pytest.mark.parametrize(("seen", "there"), [("", False), ("3.3", False), ("3.4", True), ("4.0", True)])
def test_without_the_driver_packages_are_made_for_other_machines(card: Layout, monkeypatch: pytest.MonkeyPatch, capsys, seen, there) -> None:
    file = card.root / "src/platforms/card/platform.toml"
    file.write_text(file.read_text().replace("__card", "__cuda"))  # one that can be detected
    monkeypatch.setenv("CONDA_OVERRIDE_CUDA", seen)
    assert accelerator.announce_driver(chosen(card, "3.4"), Report()) is there
    assert os.environ["CONDA_OVERRIDE_CUDA"] == (seen if there else "3.4")
    assert ("no driver for CARD 3.4 is seen here" in capsys.readouterr().out) is not there
    assert accelerator.announce_driver(accelerator.choose(card, "plain", False, {}), Report())
