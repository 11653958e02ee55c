"""The doctor's checks on what no test machine has: device files, an SDK, a process that ends badly."""

import os
import re
import subprocess
import sys

import pytest


SDK = {"title": "Wing SDK", "versions": ["1.0"], "root": "", "root_variables": ["WING_HOME"], "probe": "include/wing.h"}


def wrong(findings):
    return [(finding.sentence, finding.remedy) for finding in findings if finding.state == "wrong"]


def test_what_is_wrong_needs_a_remedy(module):
    with pytest.raises(ValueError, match="what is wrong needs a remedy"):
        module("doctor").Finding("wrong", "wings", "are cut")


def test_device_files_are_missing_closed_or_open(module, tmp_path, monkeypatch):
    driver = module("doctor.driver")
    pattern = str(tmp_path / "wing[0-9]*")
    ((sentence, remedy),) = wrong(driver.nodes([pattern], "Wing"))
    assert "no such device file, so the driver of Wing drives no card" in sentence and remedy.startswith("load the driver")
    node = tmp_path / "wing0"
    node.touch()
    node.chmod(0o600)
    assert [finding.sentence for finding in driver.nodes([pattern], "Wing")] == ["1 may be opened"]
    monkeypatch.setattr(os, "access", lambda *arguments: False)  # root may open everything
    ((sentence, remedy),) = wrong(driver.nodes([pattern], "Wing"))
    assert f"{node} may not be opened by this user (mode 600, group " in sentence and remedy.startswith("become a member of the group: sudo usermod -aG ")


def test_the_sdk_s_folder_and_the_driver_s_program(module, tmp_path, monkeypatch):
    driver = module("doctor.driver")
    monkeypatch.setattr(driver.capabilities, "build", lambda: {"emulated": False})
    facts = {"hardware": "Wing 1", "sdk": SDK | {"root": str(tmp_path / "none"), "driver_command": [str(tmp_path / "wing-smi")]}}
    monkeypatch.setattr(driver.capabilities, "platform", lambda: facts)
    program, root = wrong(driver.check())
    assert "wing-smi cannot be run" in program[0] and program[1].startswith("install the driver of Wing 1")
    assert root == (f"Wing SDK is not in {tmp_path / 'none'}", "install Wing SDK 1.0, or name its folder with WING_HOME")
    (tmp_path / "wing-smi").write_text("#!/bin/sh\necho no card >&2; exit 9\n")
    (tmp_path / "wing-smi").chmod(0o755)
    monkeypatch.setenv("WING_HOME", str(tmp_path))
    assert [sentence for sentence, _ in wrong(driver.check())] == ["wing-smi ends with status 9: no card".replace("wing-smi", str(tmp_path / "wing-smi"))]


def test_a_folder_is_in_the_way_only_where_it_hides_something(module, tmp_path, monkeypatch):
    interpreter = module("doctor.interpreter")
    for name in ("first/triton", "second/triton", "first/flag_gems"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first")])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"))
    assert wrong(interpreter.check()) == []
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert wrong(interpreter.check()) == [(f"{tmp_path / 'first'} comes before the environment, and has triton", "unset PYTHONPATH")]


@pytest.mark.parametrize(
    ("pin", "installed", "states"),
    [("0.13.0", "0.13.0", ["fine"]), ("0.13.*", "0.13.2", ["fine"]), ("0.13.0", "0.14", ["note", "fine"]), ("unknown", "0.14", ["fine"]), ("0.13.0", None, ["fine"])],
)
def test_a_neighbour_in_another_version_than_the_measured_one_is_a_note(module, tmp_path, monkeypatch, pin, installed, states):
    pins = module("doctor.pins")
    monkeypatch.setattr(pins.capabilities, "platform", lambda: {"pins": {"flagcx": pin}})
    if installed:
        (tmp_path / f"flagcx-{installed}.dist-info").mkdir()
        (tmp_path / f"flagcx-{installed}.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: flagcx\nVersion: {installed}\n")
        monkeypatch.syspath_prepend(tmp_path)
    found = list(pins.check())
    assert [finding.state for finding in found] == states
    if "note" in states:
        assert (found[0].sentence, found[0].remedy) == ("is flagcx 0.14, and 0.13.0 was measured", "install flagcx 0.13.0")


def test_settings(module, monkeypatch):
    settings = module("doctor.settings")
    for name in [name for name in os.environ if name.startswith("FLAGOS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(settings.driver, "platform", lambda: None)
    for name, value in {
        "FLAGOS_HOST_DEVICE": "3", "FLAGOS_OP_mm": "none", "FLAGOS_LOG_DISPATCH": "1", "FLAGOS_METAX_BOXING": "1", "LD_PRELOAD": "", "FLAGOS_LOG": "",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    found = {finding.subject: finding for finding in settings.check()}
    assert found.keys() == {"FLAGOS_HOST_DEVICE", "FLAGOS_LOG_DISPATCH", "FLAGOS_METAX_BOXING", "TORCH_DEVICE_BACKEND_AUTOLOAD"}
    assert (found["FLAGOS_HOST_DEVICE"].state, found["FLAGOS_HOST_DEVICE"].remedy) == ("wrong", "did you mean FLAGOS_HOST_DEVICES?")
    assert found["FLAGOS_LOG_DISPATCH"].remedy == "set FLAGOS_LOG=dispatch in its place"


def child(module, monkeypatch, program, timeout=20.0):
    child = module("doctor.child")
    monkeypatch.setattr(child, "PROGRAM", "import sys\ndef tell(line): open(sys.argv[1], 'a').write(line + '\\n')\n" + program)
    return list(child.findings(timeout))


TORCH, BOTH = "tell('{\"imported\": \"torch\"}')\n", "tell('{\"imported\": \"torch\"}'); tell('{\"imported\": \"torch_fl\"}')\n"


@pytest.mark.parametrize(
    ("program", "sentence", "remedy"),
    [
        ("import os; print('wings', flush=True); os.abort()", "import torch kills the process (SIGABRT); its last lines: wings", "install pytorch and libtorch again"),
        ("import no_such_torch", "import torch fails: ModuleNotFoundError: No module named 'no_such_torch'", "install pytorch and libtorch again"),
        (TORCH + "raise ImportError('built for 2.9; install it')", "import torch_fl fails: ImportError: built for 2.9", "install it"),
        (BOTH + "sys.exit(3)", "asking the device fails: without a word", "look at the driver"),
    ],
)  # fmt: skip
def test_how_the_process_ends_is_a_finding(module, monkeypatch, program, sentence, remedy):
    (finding,) = child(module, monkeypatch, program)
    assert finding.state == "wrong" and finding.sentence == sentence and remedy in finding.remedy


def test_a_process_that_hangs_is_ended_and_what_it_told_counts(module, monkeypatch):
    told = 'tell(\'{"finding": {"state": "fine", "subject": "wings", "sentence": "beat", "remedy": ""}}\')\n'
    wings, hanging = child(module, monkeypatch, BOTH + told + "import time; time.sleep(60)", timeout=0.5)
    assert wings.subject == "wings" and hanging.sentence == "asking the device does not end within 0.5 s; its last lines: none"


def test_the_loader_says_where_it_looked(module, tmp_path, monkeypatch):
    loader = module("doctor.loader")
    needs = loader.ask(sys.executable and next(file for file in map(os.path.realpath, _libraries()) if "libm" in file))
    assert needs.found["libc.so.6"].startswith("/") and not needs.fault and not needs.versions
    (tmp_path / "libbroken.so").write_text("no library")
    assert "libbroken.so" in loader.ask(tmp_path / "libbroken.so").fault


def test_what_pytorch_brings_itself_may_lie_elsewhere(module, tmp_path, monkeypatch):
    """As where packages were only unpacked, and PyTorch is a wheel in another folder: it is loaded first."""
    libraries, needs = module("doctor.libraries"), module("doctor.loader").Needs
    monkeypatch.setattr(libraries, "own", lambda: [tmp_path / "libtorch_fl.so", tmp_path / "_C.so"])
    monkeypatch.setattr(libraries.loader, "ask", lambda file: needs({"libc10.so": None, "libwing.so": None}, [], {}))
    monkeypatch.setattr(libraries.driver, "platform", lambda: {})
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)

    def lacking():
        return {re.search(r"needs (\S+),", sentence)[1] for sentence, _ in wrong(libraries.check()) if sentence.startswith("needs")}

    (tmp_path / "torch/lib").mkdir(parents=True)
    (tmp_path / "torch/__init__.py").touch()
    assert lacking() == {"libc10.so", "libwing.so"}
    (tmp_path / "torch/lib/libc10.so").touch()
    assert lacking() == {"libwing.so"}


def _libraries():
    said = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, env={"PATH": "/sbin:/usr/sbin:/bin:/usr/bin"}, check=True).stdout
    return re.findall(r"=> (\S*/libm\.so\.6)", said)
