"""``torch-fl doctor``: says what is wrong, before a program meets it."""

import json
import os
import subprocess
import sys

import torch
from torch_fl.evidence import capabilities


def doctor(*arguments, **environ):
    return subprocess.run(
        [sys.executable, "-m", "_torch_fl_autoload", "doctor", *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **environ}
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


def test_retired_settings_routes_to_absent_slots_and_adapters_switched_off_are_told():
    slot = "cuda" if "cuda" not in capabilities.platform()["kernels"]["slots"] else "musa"
    status, found = findings(FLAGOS_METAX_BOXING="1", FLAGOS_OP_mm=slot, FLAGOS_ADAPTERS_OFF="torch.autograd")
    assert found["FLAGOS_METAX_BOXING"]["state"] == "note"
    assert "has no effect any more: install or remove the torch-fl-vendor-kernels package" in found["FLAGOS_METAX_BOXING"]["sentence"]
    assert (status, found["routes"]["state"]) == (1, "wrong") and f"({slot}: mm)" in found["routes"]["sentence"] and found["routes"]["remedy"]
    off = {"state": "note", "subject": "adapter torch.autograd", "sentence": "is switched off", "remedy": ""}
    assert found["adapter torch.autograd"] == off


def test_the_platform_s_notices_are_among_them():
    for notice in capabilities.platform().get("notices", []):
        _, found = findings(**{notice["variable"]: notice["value"]})
        assert found[notice["variable"]]["state"] == "note" and notice["sentence"] in found[notice["variable"]]["sentence"]
        _, found = findings(**{notice["variable"]: ""})
        assert notice["variable"] not in found


def test_where_the_device_cannot_start_its_reason_is_a_finding():
    status, found = findings(FLAGOS_ACCELERATOR="gcu" if capabilities.platform()["id"] != "gcu" else "musa")
    assert status == 1 and "FLAGOS_ACCELERATOR is 'gcu'" in found["import"]["sentence"] and found["import"]["remedy"].startswith("install 'torch-fl=*=")


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
