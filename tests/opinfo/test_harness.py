"""The harness finds what it is there to find: values, strides, aliases, crashes and the rest, planted on purpose."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from . import cases, native, picture, planted, runner
from .cases import Case
from .checks import Finding, Result
from .compare import Difference, Tolerance, compare_plain
from .expectations import Close, Expectations, Expected
from .judge import Settings
from .mirror import Mirror
from .own import AGAINST_NATIVE, of_platform
from .report import Report, merged
from .reviewed import EVERYWHERE
from .worker import judge

ASPECTS = {
    "values": "values",
    "sign of zero": "values",
    "dtype": "dtype",
    "shape": "shape",
    "strides": "strides",
    "device": "device",
    "lost alias": "view",
    "lost identity": "view",
    "not in place": "version",
    "exception": "exception",
    "no exception": "exception",
    "warning": "warnings",
    "gradient": "values",
    "unseeded": "values",
}
KILLING = {"crash": "crash", "crash on the CPU": "crash", "endless": "timeout"}


def plant(name):
    return Case("planted", name, "float32")


@pytest.mark.parametrize("name", ["honest", "random"])
def test_what_is_right_passes(name):
    assert judge(plant(name), Settings()).status == "pass"


def test_what_the_cpu_refuses_is_no_pass():
    assert judge(plant("refused"), Settings()).status == "refused"


@pytest.mark.parametrize(("name", "aspect"), ASPECTS.items())
def test_what_is_wrong_is_found(name, aspect):
    result = judge(plant(name), Settings())
    assert result.status == "fail"
    assert [finding.aspect for finding in result.findings] == [aspect]


def test_every_planted_fault_is_asked_for():
    assert set(planted.ENTRIES) == {"honest", "random", "refused", *ASPECTS, *KILLING}


def test_a_crash_and_an_endless_loop_cost_their_own_case_only():
    asked = [plant(name) for name in ("crash", "honest", "endless", "crash on the CPU", "values")]
    results = {r.case.name: r for r in runner.run(asked, Settings(), jobs=1, limit=3)}
    found = {name: result.status for name, result in results.items()}
    assert found == {"honest": "pass", "values": "fail", **KILLING}
    assert "SIGSEGV at planted, sample 0, on flagos:0" in results["crash"].note
    assert "on cpu" in results["crash on the CPU"].note


@pytest.fixture(scope="module")
def reference():
    """The CPU of a process without torch_fl, in the part of a card's own device."""
    reference = native.Reference(Settings(native="cpu"), AGAINST_NATIVE)
    yield reference
    reference.end()


def test_what_is_right_passes_against_a_native_device(reference):
    assert judge(plant("honest"), Settings(native="cpu"), reference=reference).status == "pass"
    assert judge(plant("refused"), Settings(native="cpu"), reference=reference).status == "refused"


@pytest.mark.parametrize("name", [name for name in ASPECTS if name not in ("values", "sign of zero", "unseeded")])
def test_what_is_wrong_is_found_against_a_native_device(reference, name):
    """Values that differ in the last bit are let through there: sums by atomics have no fixed order."""
    result = judge(plant(name), Settings(native="cpu"), reference=reference)
    assert [finding.aspect for finding in result.findings] == [ASPECTS[name]]


def test_a_native_device_that_is_lost_costs_one_case(reference):
    result = judge(plant("crash on the CPU"), Settings(native="cpu"), reference=reference)
    assert result.status == "broken" and "ended with status -11" in result.note
    assert judge(plant("honest"), Settings(native="cpu"), reference=reference).status == "pass"


def test_a_copy_keeps_strides_storages_identities_and_lazy_bits():
    base = torch.arange(12).to(torch.complex64).reshape(3, 4)
    row, flipped = base[1], torch.conj(base.t())
    copies = Mirror(torch.device("flagos:0"))([base, row, flipped, base])
    assert copies[0] is copies[3]
    assert len({t.untyped_storage().data_ptr() for t in copies}) == 1
    assert [t.stride() for t in copies] == [t.stride() for t in (base, row, flipped, base)]
    assert copies[1].storage_offset() == 4 and copies[2].is_conj()
    copies[1].zero_()
    assert copies[0][1].abs().sum().item() == 0 and base[1].abs().sum() > 0


def differing(name="values", aspect="values"):
    return Result(plant(name), "fail", findings=[Finding("planted", 0, aspect, "words")])


def test_an_expected_difference_is_no_failure_and_one_that_is_not_found_is():
    entry = Expected(cases=("planted:values:*",), aspect="values", owner="pytorch", cause="planted")
    reviewed = Expectations(expected=[entry])
    result = judge(plant("values"), Settings())
    reviewed.settle(result)
    assert result.status == "expected"
    assert Report([result], reviewed, "", None, 1).good

    healed = judge(replace(plant("honest")), Settings())
    stale = Expectations(expected=[replace(entry, cases=("planted:honest:*",))])
    report = Report([healed], stale, "", None, 1)
    assert not report.good and "remove the entry" in report.unmet[0]


def test_an_expectation_covers_its_own_aspect_only():
    entry = Expected(cases=("planted:*",), aspect="strides", owner="pytorch", cause="planted")
    result = differing()
    Expectations(expected=[entry]).settle(result)
    assert result.status == "fail"


def test_a_tolerance_is_for_its_own_checks():
    reviewed = Expectations(close=[Close(cases=("planted:*",), checks=("other",), relative=1, absolute=1, cause="")])
    assert reviewed.tolerance(plant("values"), "planted") is None
    assert reviewed.tolerance(plant("values"), "other").relative == 1


@pytest.mark.parametrize(("relative", "equal"), [(None, False), (1e-6, False), (1e-4, True)])
def test_a_tolerance_is_for_numbers_too(relative, equal):
    def told():
        compare_plain("a loss", 1.0, 1.00001, torch.device("cpu"), torch.device("cpu"), Tolerance(relative, relative))

    if equal:
        told()
    else:
        with pytest.raises(Difference, match="a loss: wanted 1.0, found 1.00001"):
            told()


def test_a_case_that_did_not_run_is_not_good():
    assert not Report([Result(plant("honest"))], Expectations(), "", None, asked=2).good


def test_shards_and_samples_are_the_same_in_every_process_and_miss_nothing():
    every = [Case("ops", f"op{i}", dtype) for i in range(40) for dtype in ("float32", "int64", "bool")]
    parts = [cases.share(every, (k, 3)) for k in (1, 2, 3)]
    assert sorted(case for part in parts for case in part) == sorted(every)
    few = cases.sampled(every, 0.01)
    assert {case.name for case in few} == {case.name for case in every} and len(few) == 40
    assert few == cases.sampled(list(every), 0.01) and len({case.dtype for case in few}) == 3
    assert cases.matching(every, "op1,ops:op2:int64") == [
        c for c in every if c.name == "op1" or str(c) == "ops:op2:int64"
    ]


def nothing(device):
    return Expectations()


def test_reports_of_shards_become_one(tmp_path):
    for name, status in (("honest", "pass"), ("values", "fail")):
        Report([Result(plant(name), status)], Expectations(), "", 2, 1).write(tmp_path / f"{name}.json")
    paths = [tmp_path / "honest.json", tmp_path / "values.json"]
    report = merged(paths, nothing, "")
    summary = report.summary()
    assert summary["percent"] == 50.0 and summary["totals"]["fail"] == 1 and not report.good
    assert picture.svg(summary).count("<rect") == 1 + 2 + 2
    with pytest.raises(ValueError, match="is in another report too"):
        merged([paths[0], paths[0]], nothing, "")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ValueError, match="broken.json: not a report"):
        merged([tmp_path / "broken.json"], nothing, "")


def test_a_merged_report_follows_the_list_of_the_device_that_was_compared_with(tmp_path):
    entry = Expected(cases=("planted:values:*",), aspect="values", owner="pytorch", cause="planted")
    lists = {"cpu": Expectations(), "cuda": Expectations(expected=[entry])}
    for device in lists:
        Report([differing()], Expectations(), "", 2, 1, device).write(tmp_path / f"{device}.json")
        report = merged([tmp_path / f"{device}.json"], lists.__getitem__, "")
        assert (report.against, report.good) == (device, device == "cuda")
    with pytest.raises(ValueError, match="cuda.json: compares with cuda and the others with cpu"):
        merged([tmp_path / "cpu.json", tmp_path / "cuda.json"], lists.__getitem__, "")


def program(*arguments, cwd):
    command = [sys.executable, "-m", __package__, *arguments]
    return subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True, timeout=280)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "3/2"], "'3/2' is not a part like 2/4"),
        (["--sample", "0"], "not a fraction"),
        (["--ops", "nothing_like_this"], "matches no case"),
        (["--resume"], "--resume needs --json FILE"),
    ],
)
def test_wrong_options_are_explained(arguments, words, tmp_path):
    done = program(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and words in " ".join(done.stderr.replace("│", " ").split())


def test_an_interrupted_run_is_carried_on(tmp_path):
    journal = tmp_path / "report.json.partial"
    known = Result(Case("ops", "sgn", "int8"), note="from the journal")
    line = json.dumps({"case": vars(known.case), "status": "pass", "checks": {}, "findings": [], "note": known.note})
    journal.write_text(line + "\n" + line[:20])
    done = program(
        "--ops", "ops:sgn:int*", "--depth", "1", "--jobs", "1", "--json", "report.json", "--resume", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    entries = {e["case"]["dtype"]: e for e in json.loads((tmp_path / "report.json").read_text())["cases"]}
    assert set(entries) == {"int8", "int16", "int32", "int64"}
    assert entries["int8"]["note"] == "from the journal" and entries["int64"]["checks"]["function"]["runs"] == 1


def test_a_platform_adds_its_own_reviewed_differences_behind_those_of_all(tmp_path, monkeypatch):
    package = tmp_path / "torch_fl_tests_metal"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "opinfo.py").write_text(
        f"from {__package__}.expectations import Close, Expectations\n"
        "REVIEWED = Expectations(close=[Close(cases=('ops:*',), cause='other rounding', relative=0.5, absolute=0.5)])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    whole = EVERYWHERE + of_platform("metal")
    case = Case("ops", "add", "float32")
    assert of_platform("metal", "BEFORE_ALL") == of_platform("metal", "AGAINST_NATIVE") == Expectations()
    assert EVERYWHERE.tolerance(case, "function") is None
    assert whole.tolerance(case, "function").relative == 0.5
    assert whole.tolerance(case, "second gradient") == EVERYWHERE.tolerance(case, "second gradient")
    assert whole.expected == EVERYWHERE.expected


def test_a_platform_may_have_none_and_a_broken_list_is_no_empty_one(tmp_path, monkeypatch):
    assert of_platform("nowhere") == Expectations()
    package = tmp_path / "torch_fl_tests_rusty"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "opinfo.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        of_platform("rusty")
