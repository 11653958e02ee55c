"""A tracer of ours: which libraries a profile opens, what it says about itself, and what is left when it cannot trace."""

import pytest
from torch_fl.evidence import capabilities

from .conftest import said

pytestmark = [pytest.mark.capability("profiler"), pytest.mark.capability("own_tracer")]

PROGRAM = """
    from fnmatch import fnmatch
    from pathlib import Path

    import torch
    from torch.autograd.profiler import profile  # torch.profiler's own costs the import of a compiler
    from torch_fl.evidence import capabilities

    vendors = capabilities.platform()["tracer"]["libraries"]

    def mapped():
        files = {Path(line.split()[-1]).name for line in Path("/proc/self/maps").read_text().splitlines()}
        return [file for file in files for name in vendors if fnmatch(file, name + "*")]

    x = torch.ones(1000, device="flagos")
    x.cpu()
    before = mapped()
    with profile(use_device=DEVICE, use_kineto=True) as p:
        x.cpu()
    work = sum(e.device_type == torch.autograd.DeviceType.PrivateUse1 for e in p.function_events)
    assert any(e.key == "aten::copy_" or e.key == "aten::to" for e in p.key_averages())
    print(len(before), len(mapped()) > 0, work > 0)
"""
WITH_DEVICE, CPU_ONLY = PROGRAM.replace("DEVICE", "'flagos'"), PROGRAM.replace("DEVICE", "None")


def test_the_vendors_library_is_opened_by_the_first_session_that_needs_it(python):
    done = python(WITH_DEVICE)
    assert done.stdout.split() == ["0", "True", "True"]
    assert said(done) == []


def test_a_cpu_profile_opens_nothing(python):
    done = python(CPU_ONLY, FLAGOS_TRACE="1")
    assert done.stdout.split() == ["0", "False", "False"]
    assert "[flagos trace]" not in done.stderr


def test_the_log_tells_set_up_and_session(python):
    lines = [line for line in python(WITH_DEVICE, FLAGOS_TRACE="1").stderr.splitlines() if line.startswith("[flagos trace] ")]
    assert len(lines) == 3
    assert "session started (kernel memcpy memset runtime driver" in lines[1]
    assert "session stopped" in lines[2] and "0 dropped" in lines[2]


def test_a_missing_library_gives_a_sentence_and_a_cpu_timeline(python, tmp_path):
    done = python(WITH_DEVICE, FLAGOS_TRACER_LIBRARY=str(tmp_path / "libnothing.so"))
    assert done.stdout.split()[2] == "False"
    (line,) = said(done)
    assert line.startswith("[flagos trace] ") and "libnothing.so" in line and "FLAGOS_TRACER_LIBRARY" in line
    assert line.endswith("the profile has a CPU timeline only")


def test_the_variable_of_earlier_versions_still_names_the_library(python, tmp_path):
    done = python(WITH_DEVICE, warn=True, FLAGOS_MUPTI_LIBRARY=str(tmp_path / "libnothing.so"))
    assert "FLAGOS_MUPTI_LIBRARY is now called FLAGOS_TRACER_LIBRARY" in done.stderr
    assert [line for line in said(done) if line.startswith("[flagos trace] ") and "libnothing.so" in line]


def test_a_wrong_library_gives_a_sentence_and_a_cpu_timeline(python):
    with open("/proc/self/maps") as maps:
        wrong = next(line.split()[-1] for line in maps if line.rstrip().endswith("/libc10.so"))
    done = python(WITH_DEVICE, FLAGOS_TRACER_LIBRARY=wrong)
    assert done.stdout.split()[2] == "False"
    (line,) = said(done)
    assert wrong in line and "FLAGOS_TRACER_LIBRARY" in line


@pytest.mark.skipif(not capabilities.build()["emulated"], reason="only an emulated SDK loses records on demand")
def test_lost_records_are_told(python):
    done = python(WITH_DEVICE, FLAGOS_EMULATION_MUPTI_RECORDS="1")
    (line,) = said(done)
    assert "MUPTI dropped" in line and "gaps" in line


@pytest.mark.skipif(not capabilities.build()["emulated"], reason="only an emulated SDK has another tool on demand")
def test_another_tool_that_traces_leaves_a_cpu_timeline(python):
    done = python(WITH_DEVICE, FLAGOS_EMULATION_MUPTI_BUSY="1")
    assert done.stdout.split()[2] == "False"
    assert "another tool traces this process" in done.stderr
