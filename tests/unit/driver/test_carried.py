"""What a carried archive does on the other machine: it fits or says why not, and one bad test file costs no other its result.

PyTorch and torch_fl are stood in for by a few lines; the file of evidence is written by the product's own code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from flbuild import carry
from flbuild.errors import UserError

ROOT = Path(__file__).parents[3]
HERE = "{}.{}".format(*sys.version_info[:2])
SITE = "prefix/site"
FACTS = {
    "variant": "toy-1.0",
    "platform": "toy",
    "python": HERE,
    "torch": "2.11",
    "cxx11_abi": True,
    "toolkit": "13.0",
    "sdk": "TOY",
    "needs": [],
    "packages": [],
    "site": SITE,
    "suites": ["boxing"],
    "benchmarks": ["speed.py"],
}
TORCH = """
__version__ = "2.11.0+toy130"
class version:
    cuda = "13.0"
def compiled_with_cxx11_abi():
    return True
class flagos:
    device_count = staticmethod(lambda: {devices})
    get_device_capability = staticmethod(lambda index: (9, 0))
    get_device_name = staticmethod(lambda index: "a toy")
    mem_get_info = staticmethod(lambda index: (1, 2))
"""
CAPABILITIES = "build = lambda: {'platform': 'toy', 'emulated': False}\nplatform = lambda: {}\n"
TESTS = {
    "test_good.py": "def test_one():\n    pass\n",
    "test_bad.py": "import pytest\ndef test_two():\n    assert 1 == 2, 'one is not two'\n@pytest.mark.skip(reason='no toy')\ndef test_three():\n    pass\n",
    "test_crash.py": "import os, signal\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGSEGV)\ndef test_lives():\n    pass\n",
    "test_memory.py": "def test_alone():\n    pass\n",
}


@pytest.fixture
def machine(tmp_path: Path):
    """A machine with the archive: `machine(*arguments, facts={}, devices=1, tests={})` gives the finished process."""

    def run(*arguments: str, facts: dict | None = None, devices: int = 1, tests: dict | None = None) -> subprocess.CompletedProcess:
        record = ROOT / "python/torch_fl/evidence/record.py"
        texts = {
            "__main__.py": carry.MAIN,
            "facts.json": json.dumps(FACTS | (facts or {})),
            f"{SITE}/torch_fl/__init__.py": "",
            f"{SITE}/torch_fl/platform.json": json.dumps({"tests": {"subset": ["test_good.py"]}}),
            f"{SITE}/torch_fl/evidence/__init__.py": "",
            f"{SITE}/torch_fl/evidence/capabilities.py": CAPABILITIES,
            f"{SITE}/torch_fl_tests/__init__.py": "",
            "tests/boxing/__init__.py": "",
            "tests/boxing/test_boxes.py": "def test_in_its_own_folder(tmp_path):\n    pass\n",
            "benchmarks/speed.py": "import sys\nprint('fast', *sys.argv[1:])\n",
        }
        texts |= {f"{SITE}/torch_fl_tests/{name}": text for name, text in (TESTS if tests is None else tests).items()}
        files = {f"carried/{file.name}": file for file in (ROOT / "flbuild/carried").glob("*.py")}
        archive = tmp_path / "toy.pyz"
        carry.write(archive, files | {f"{SITE}/torch_fl/evidence/record.py": record}, texts)
        torch = tmp_path / "there" / "torch"
        torch.mkdir(parents=True, exist_ok=True)
        (torch / "__init__.py").write_text(TORCH.format(devices=devices))
        command = [sys.executable, archive, "--output", tmp_path / "out", *arguments]
        env = os.environ | {"PYTHONPATH": str(torch.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    run.output = tmp_path / "out"
    return run


def test_every_test_counts_once_even_where_a_process_dies(machine) -> None:
    done = machine("--jobs", "2", "--unpack", str(machine.output.parent / "here"))
    assert (done.returncode, done.stderr) == (1, "")
    evidence = json.loads((machine.output / "evidence-toy.json").read_text())
    assert evidence["counts"] == {"passed": 4, "skipped": 1, "failed": 1, "error": 1}
    assert (evidence["platform"], evidence["status"], evidence["devices"][0]["name"]) == ("toy", 1, "a toy")
    assert evidence["command"] == ["python3", "torch-fl-toy-1.0.pyz", "--output", "out", "--jobs", "2", "--unpack", "here"]
    reasons = " ".join(evidence["failed"].values())
    assert "one is not two" in reasons and "crashed" in reasons
    assert list(evidence["skipped"].values()) == ["no toy"]
    told = [line.split("s  ")[1] for line in done.stdout.splitlines() if " s  " in line]
    assert set(told[:-1]) == {
        "boxing.test_boxes: passed",
        "torch_fl_tests.test_bad: FAILED",
        "torch_fl_tests.test_crash: FAILED",
        "torch_fl_tests.test_good: passed",
    }
    assert told[-1] == "torch_fl_tests.test_memory: passed"
    logs = zipfile.ZipFile(machine.output / "logs.zip").namelist()
    assert {"junit.xml", "torch_fl_tests.test_bad.log", "boxing.test_boxes.xml"} <= set(logs)
    assert sorted(file.name for file in machine.output.iterdir()) == ["evidence-toy.json", "logs.zip"]


def test_a_test_that_hangs_costs_itself_and_one_that_cannot_be_ended_its_file(machine) -> None:
    hangs = "import time\ndef test_hangs():\n    time.sleep(60)\ndef test_ends():\n    pass\n"
    done = machine("--test-limit", "1", "--only", "test_hangs.py", tests={"test_hangs.py": hangs})
    evidence = json.loads((machine.output / "evidence-toy.json").read_text())
    assert done.returncode == 1 and evidence["counts"] == {"passed": 1, "skipped": 0, "failed": 0, "error": 1}
    done = machine("--file-limit", "1", "--only", "test_hangs.py", tests={"test_hangs.py": hangs})
    evidence = json.loads((machine.output / "evidence-toy.json").read_text())
    assert done.returncode == 1 and evidence["failed"] == {"torch_fl_tests.test_hangs::the whole file": "ended after 1 s, its limit"}


def test_what_is_asked_for_is_run_and_nothing_else(machine) -> None:
    done = machine("--subset", "--benchmark", "speed.py --rounds 3")
    assert done.returncode == 0, done.stderr
    assert json.loads((machine.output / "evidence-toy.json").read_text())["counts"]["passed"] == 1
    assert (machine.output / "benchmark-speed.txt").read_text() == "fast --rounds 3\n"
    assert machine("--no-tests", "--benchmark", "speed.py").returncode == 0


def test_an_unpacked_archive_is_left_where_it_was_wished(machine, tmp_path: Path) -> None:
    assert machine("--unpack", str(tmp_path / "here"), "--only", "boxing").returncode == 0
    assert (tmp_path / "here" / SITE / "torch_fl_tests/test_good.py").read_text() == TESTS["test_good.py"]


@pytest.mark.parametrize(
    ("facts", "arguments", "sentence"),
    [
        ({"python": "3.9"}, (), f"the packages are for Python 3.9 and this is {HERE} ("),
        ({"torch": "2.10"}, (), "the packages are for PyTorch 2.10 and"),
        ({"cxx11_abi": False}, (), "has another C++ ABI than the packages"),
        ({"toolkit": "12.8"}, (), "the packages are for a PyTorch with TOY 12, and 2.11.0+toy130 has 13.0"),
        ({"needs": ["wings"]}, (), "has no wings, which the archive leaves to this machine"),
        ({}, ("--only", "test_absent.py"), "--only test_absent.py: there is no such test file"),
        ({}, ("--benchmark", "absent.py"), "--benchmark absent.py: there is no such benchmark"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(machine, facts: dict, arguments: tuple, sentence: str) -> None:
    done = machine(*arguments, facts=facts)
    assert done.returncode == 2 and sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not list(machine.output.glob("*.json"))


def test_without_a_device_there_is_no_evidence(machine) -> None:
    done = machine(devices=0)
    assert (done.returncode, done.stderr) == (2, "toy.pyz: there is no device here; look at the driver of toy\n")
    assert not list(machine.output.glob("*.json"))


def test_the_same_content_gives_the_same_archive_and_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        carry.write(tmp_path / name, {"carry.py": ROOT / "flbuild/carry.py"}, {"facts.json": "{}"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    monkeypatch.setattr(carry, "LIMIT", 100)
    with pytest.raises(UserError, match="can be carried"):
        carry.write(tmp_path / "c", {"carry.py": ROOT / "flbuild/carry.py"}, {})
