"""A job of a cluster: it sees the devices that it was given, and its home may be nowhere."""

import os

import pytest
import torch
from torch_fl.evidence import capabilities

COUNT = """
import torch
assert torch.ones(2, device="flagos").sum().item() == 2
print(torch.flagos.device_count(), torch.flagos.current_device())
"""
TRAIN = """
import os, torch
net = torch.nn.Linear(8, 1).to("flagos")
net(torch.ones(4, 8, device="flagos")).sum().backward()
torch.flagos.synchronize()
print(os.listdir())
"""


def given() -> tuple[str, list[str]]:
    """The variable that gives devices to a process, and the values that give the first, and the second alone."""
    sdk = capabilities.platform().get("sdk")
    if sdk is None:
        return "FLAGOS_HOST_DEVICES", ["1"]
    name = sdk.get("visible_devices")
    if name is None:
        pytest.skip("which variable chooses this vendor's devices is not known")
    # A job that was itself given some of the cards names those.
    return name, os.environ.get(name, ",".join(map(str, range(torch.flagos.device_count())))).split(",")[:2]


def test_a_process_sees_the_devices_that_it_was_given_and_counts_from_zero(python):
    name, values = given()
    for value in values:
        assert python(COUNT, **{name: value}).stdout == "1 0\n"


def test_a_home_that_is_no_folder_is_not_needed_and_nothing_is_written(python, tmp_path_factory):
    nowhere = "/dev/null/home"
    kernels = str(tmp_path_factory.mktemp("kernels"))  # where Triton's go, if there are any
    done = python(TRAIN, HOME=nowhere, XDG_CACHE_HOME=nowhere, TRITON_CACHE_DIR=kernels, FLAGGEMS_CACHE_DIR=kernels)
    assert done.stdout == "[]\n"
