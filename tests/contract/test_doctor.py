"""``torch-fl doctor``: says what is wrong, before a program meets it."""

import json
import os
import subprocess
import sys

import torch
from torch_fl.evidence import capabilities


def doctor(*arguments, **environ):
    return subprocess.run(
        [sys.executable, "-m", "torch_fl", "doctor", *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **environ}
    )


def findings(**environ):
    done = doctor("--json", **environ)
    return done.returncode, {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_a_sound_installation_has_devices_that_compute():
    status, found = findings()
    assert status == (1 if any(finding["state"] == "wrong" for finding in found.values()) else 0)
    assert found["devices"]["state"] == "fine"
    assert found["devices"]["sentence"].startswith(f"{torch.flagos.device_count()} device") and "1 + 1 is 2 there" in found["devices"]["sentence"]
    assert not [f for f in found.values() if f["state"] == "wrong" and f["subject"] not in ("FlagGems", "triton")], found


def test_a_table_for_people_says_the_same():
    done = doctor(COLUMNS="200")
    assert "devices" in done.stdout and "1 + 1 is 2 there" in done.stdout


def test_settings_that_do_nothing_any_more_are_noted():
    _, found = findings(FLAGOS_METAX_BOXING="1")
    assert found["FLAGOS_METAX_BOXING"]["state"] == "note"
    assert "has no effect any more: install or remove the torch-fl-vendor-kernels package" in found["FLAGOS_METAX_BOXING"]["sentence"]


def test_the_platform_s_notices_are_among_them():
    for notice in capabilities.platform().get("notices", []):
        _, found = findings(**{notice["variable"]: notice["value"]})
        assert found[notice["variable"]]["state"] == "note" and notice["sentence"] in found[notice["variable"]]["sentence"]
        _, found = findings(**{notice["variable"]: ""})
        assert notice["variable"] not in found


def test_an_adapter_that_is_switched_off_is_noted():
    _, found = findings(FLAGOS_ADAPTERS_OFF="torch.autograd")
    assert found["adapter torch.autograd"] == {
        "state": "note",
        "subject": "adapter torch.autograd",
        "sentence": "is switched off",
        "remedy": "",
    }


def test_where_the_device_cannot_start_its_reason_is_the_answer():
    done = doctor(FLAGOS_ACCELERATOR="gcu" if capabilities.platform()["id"] != "gcu" else "musa")
    assert done.returncode == 1 and done.stdout == ""
    assert "FLAGOS_ACCELERATOR is 'gcu'" in done.stderr and "install 'torch-fl=*=" in done.stderr


def test_a_check_that_fails_itself_is_a_finding(monkeypatch):
    from torch_fl import doctor as module
    from torch_fl.doctor import devices

    def ill():
        raise RuntimeError("the card is on fire\nmore")

    monkeypatch.setattr(devices, "check", ill)
    found = {finding.subject: finding for finding in module.examine()}
    assert found["devices"].state == "wrong" and found["devices"].sentence == "cannot be looked at: RuntimeError: the card is on fire"


def test_cards_that_are_not_there_or_do_not_compute_are_wrong(monkeypatch):
    from torch_fl.doctor import devices

    def broken(*arguments, **options):
        raise RuntimeError("out of order")

    monkeypatch.setattr(torch, "ones", broken)
    (wrong,) = [finding for finding in devices.check() if finding.state == "wrong"]
    assert wrong.sentence == "flagos:0 does not compute: out of order"
    monkeypatch.setattr(torch.flagos, "device_count", lambda: 0)
    (wrong,) = [finding for finding in devices.check() if finding.state == "wrong"]
    assert wrong.sentence.startswith(f"there is no {capabilities.platform()['hardware']} that the {capabilities.platform()['name']} runtime can use")
