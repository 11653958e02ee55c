"""`torch-fl doctor` in environments that are broken on purpose: what it finds, with the remedy and the exit status."""

from __future__ import annotations

import json
import os
import shutil

import pytest

AGAIN = "conda install --force-reinstall"
UNRELATED = ("transformers", "sympy", "scipy", "sklearn", "networkx", "pip")


@pytest.fixture
def broken(environment, tmp_path_factory):
    """A copy of the environment with hard links: what is to be broken is replaced, and never written to."""
    prefix = tmp_path_factory.mktemp("broken") / "prefix"
    shutil.copytree(environment.prefix, prefix, symlinks=True, copy_function=os.link, ignore=shutil.ignore_patterns(*UNRELATED))
    yield type(environment)(prefix)
    shutil.rmtree(prefix)


def replace(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.write_text(text)


def packages(environment):
    return next(environment.prefix.glob("lib/python3*")) / "site-packages"


def doctor(environment, **variables):
    """By the copy's own Python, since the script names the first one's."""
    done = environment.run("python", "-B", "-m", "_torch_fl_autoload", "doctor", "--json", "--timeout", "60", **variables)
    said = json.loads(done.stdout)
    assert said["schema"] == 1 and said["wrong"] == len([finding for finding in said["findings"] if finding["state"] == "wrong"])
    assert done.returncode == (1 if said["wrong"] else 0)
    return {(finding["subject"], finding["state"]): finding for finding in said["findings"]}


def test_a_sound_environment_and_a_wrong_call(environment):
    done = environment.run("torch-fl", "doctor", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["schema"], said["wrong"]) == (0, 1, 0), said
    assert {"compatibility", "libtorch_fl.so", "package torch-fl-runtime", "devices", "import"} <= {finding["subject"] for finding in said["findings"]}
    assert environment.run("torch-fl", "doctor", "--wings").returncode == 2


def test_many_faults_at_once_are_all_told(broken):
    place = packages(broken)
    (broken.prefix / "lib/libtorch_fl.so").unlink()
    replace(place / "torch/__init__.py", "import os\nprint('wings are cut', flush=True)\nos.abort()\n")
    next(place.glob("torch/lib/libc10.so")).unlink()
    replace(place / "torch_fl/compatibility.json", "{")
    replace(place / "torch_npu/__init__.py", "")
    replace(place / "torch_npu-9.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch-npu\nVersion: 9.9\n")
    replace(place / "torch_npu-9.9.dist-info/entry_points.txt", "[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    found = doctor(broken)
    assert found["libtorch_fl.so", "wrong"]["remedy"].endswith(f"{AGAIN} torch-fl-runtime")
    assert "lib/libtorch_fl.so" in found["package torch-fl-runtime", "wrong"]["sentence"]
    assert "libc10.so, which is not in" in found["libtorch_fl_low_precision.so", "wrong"]["sentence"]
    assert found["libtorch_fl_low_precision.so", "wrong"]["remedy"].startswith("install pytorch and libtorch again: ")
    assert "cannot be used" in found["compatibility.json", "wrong"]["sentence"]
    assert "PyTorch's PrivateUse1 key" in found["torch_npu", "wrong"]["sentence"] and found["torch_npu", "wrong"]["remedy"].startswith("pip uninstall torch_npu")
    assert found["import", "wrong"]["sentence"] == "import torch kills the process (SIGABRT); its last lines: wings are cut"
    assert any(name.startswith("package ") and "torch/lib/libc10.so" in finding["sentence"] for (name, _), finding in found.items())


def test_without_torch_and_with_a_broken_command_line_it_is_plain_text(broken, tmp_path):
    place = packages(broken)
    for folder in (place / "torch", *place.glob("torch-2*.dist-info")):
        folder.rename(tmp_path / folder.name)
    replace(place / "typer/__init__.py", "raise ImportError('no wings')\n")
    done = broken.run("python", "-B", "-m", "_torch_fl_autoload", "doctor")
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.startswith("wrong  command line: the command line's libraries cannot be imported, so this is plain text: ImportError: no wings; install typer")
    assert "wrong  torch: the Python distribution torch is not installed; install pytorch" in done.stdout
    assert "import torch fails: ModuleNotFoundError: No module named 'torch'" in done.stdout


def test_another_torch_by_pip_and_folders_that_come_first(broken, tmp_path):
    place = packages(broken)
    (old,) = place.glob("torch-2*.dist-info")
    old.rename(tmp_path / "old")
    replace(place / "torch-1.13.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 1.13\n")
    replace(place / "torch-1.13.dist-info/INSTALLER", "pip\n")
    replace(tmp_path / "path/torch/__init__.py", "raise ImportError('a folder of that name')\n")
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    os.link(next(place.glob("torch/lib/libc10.so")), shadow / "libc10.so")
    found = doctor(broken, PYTHONPATH=str(tmp_path / "path"), LD_LIBRARY_PATH=str(shadow), FLAGOS_HOST_DEVICE="3")
    assert "torch_fl was built for PyTorch 2." in found["PyTorch", "wrong"]["sentence"] and "PyTorch 1.13 is installed" in found["PyTorch", "wrong"]["sentence"]
    assert "pip has installed 1.13 over conda's pytorch" in found["torch", "wrong"]["sentence"] and found["torch", "wrong"]["remedy"].startswith("pip uninstall torch")
    assert found["PYTHONPATH", "wrong"]["remedy"] == "unset PYTHONPATH"
    assert str(shadow) in found["libc10.so", "note"]["sentence"] and "unset LD_LIBRARY_PATH" in found["libc10.so", "note"]["remedy"]
    assert found["FLAGOS_HOST_DEVICE", "wrong"]["remedy"] == "did you mean FLAGOS_HOST_DEVICES?"
    assert found["import", "wrong"]["sentence"].startswith("import torch fails: ImportError: a folder of that name")
