"""torch-fl detect: the single file, run by a bare Python on machines that are made up."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMI = """#!/bin/sh
if [ $# -gt 0 ]; then echo 580.1; exit; fi
echo '| NVIDIA-SMI 580.1    Driver Version: 580.1    CUDA Version: {limit} |'
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("detect") / "torch-fl-detect.py"
    subprocess.run([sys.executable, ROOT / "lab/make_detect.py", ROOT / "src/platforms", target], check=True)
    return target


@pytest.fixture
def machine(file, tmp_path):
    """A function that runs the file on a machine with these programs on PATH and these variables; gives status and document."""
    programs = tmp_path / "bin"
    programs.mkdir()

    def run(scripts: dict[str, str] | None = None, **variables: str) -> tuple[int, dict]:
        for name, text in (scripts or {}).items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        environment = {"PATH": f"{programs}:/usr/bin:/bin", **variables}
        done = subprocess.run([sys.executable, "-I", "-S", file, "--json"], env=environment, capture_output=True, text=True, check=False)
        assert done.stderr == "", done.stderr
        return done.returncode, json.loads(done.stdout)

    return run


def kit(folder: Path, probe: str) -> str:
    """A folder that looks like an SDK."""
    (folder / probe).parent.mkdir(parents=True)
    (folder / probe).touch()
    return str(folder)


def test_a_machine_without_a_card_is_told_of_host(machine):
    status, result = machine()
    assert status == 0 and result["found"] == []
    assert result["commands"] == {"host": ["conda install torch-fl", "pixi run demo", "python3 build-locally.py"]}


@pytest.mark.parametrize(("limit", "variant"), [("12.8", "cuda-12.8"), ("13.0", "cuda-13.0"), ("13.2", "cuda-13.0"), ("14.1", "cuda-13.3")])
def test_the_driver_decides_which_cuda(machine, limit, variant):
    status, result = machine({"nvidia-smi": SMI.format(limit=limit)})
    (found,) = result["found"]
    assert (status, found["id"], found["driver"], found["limit"], found["variant"], found["problem"]) == (0, "cuda", "580.1", limit, variant, None)
    assert result["commands"]["cuda"][0] == f'conda install "torch-fl=*={variant.replace("-", "_cuda").replace(".", "")}_*"'
    assert result["commands"]["cuda"][2] == f"python3 build-locally.py {variant} --test"


def test_a_driver_that_is_too_old_is_said_to_be(machine):
    status, result = machine({"nvidia-smi": SMI.format(limit="12.4")})
    assert status == 1 and result["found"][0]["problem"] == "the driver is too old: it runs CUDA 12.4, and CUDA 12.8 is the least; install a newer driver"
    assert list(result["commands"]) == ["host"]


def test_a_toolkit_alone_is_no_card(machine, tmp_path):
    assert machine(CUDA_HOME=kit(tmp_path / "cuda", "include/cuda_runtime_api.h"))[1]["found"] == []


def test_an_sdk_is_found_by_its_variable_and_its_version_by_its_folder(machine, tmp_path):
    root = kit(tmp_path / "maca-3.8.0", "include/mcr/mc_runtime_api.h")
    status, result = machine(MACA_PATH=root)
    (found,) = result["found"]
    assert (status, found["variant"], found["problem"], found["sdk_root"]) == (0, "metax-3.8.0", None, root)
    assert found["seen"] == [f"the SDK in {root} (MACA_PATH)"]


def test_where_the_version_does_not_show_the_newest_is_named_and_the_doubt(machine, tmp_path):
    _, result = machine(MACA_PATH=kit(tmp_path / "sdk", "include/mcr/mc_runtime_api.h"))
    assert result["found"][0]["variant"] == "metax-3.8.1.3" and "take the build for yours, of 3.8.0, 3.8.1.3" in result["found"][0]["problem"]


def test_several_are_all_told(machine, tmp_path):
    roots = {"MACA_PATH": kit(tmp_path / "maca", "include/mcr/mc_runtime_api.h"), "MUSA_HOME": kit(tmp_path / "musa", "include/musa_runtime.h")}
    _, result = machine({"nvidia-smi": SMI.format(limit="13.0")}, **roots)
    assert [found["id"] for found in result["found"]] == ["cuda", "metax", "musa"] and set(result["commands"]) == {"cuda", "metax", "musa"}


def test_what_is_only_described_is_recognized(machine, tmp_path):
    status, result = machine(ASCEND_HOME=kit(tmp_path / "cann", "include/acl/acl_rt.h"))
    assert status == 1 and result["found"][0]["problem"].startswith("Huawei Ascend is described and cannot be built yet")


def test_a_program_that_hangs_or_fails_is_passed_over(machine):
    assert machine({"nvidia-smi": "#!/bin/sh\nexit 9\n"})[1]["found"] == []


def test_people_read_sentences(file):
    done = subprocess.run([sys.executable, file], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)
    assert "python3 build-locally.py" in done.stdout and "--emulated" in done.stdout


def test_old_pythons_can_read_it(file):
    ast.parse(file.read_text(), feature_version=(3, 8))
