"""Each unsuitable host gets one sentence that ends in the remedy."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from flbuild import preflight
from flbuild.errors import UserError

ROOT = Path(__file__).parents[3]


def fake_compiler(folder: Path, version: str, about: str = "g++ (Debian)", compile_status: int = 0) -> None:
    for name in ("gcc", "g++"):
        script = folder / name
        script.write_text(
            "#!/bin/sh\ncase $1 in\n"
            f"-dumpfullversion) echo {version};;\n--version) echo '{about}';;\n*) echo 'x.cpp:1: error: no luck' >&2; exit {compile_status};;\nesac\n"
        )
        script.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    return folder


def test_this_host_is_suitable() -> None:
    preflight.check_system()
    preflight.check_headers()
    preflight.check_compiler()


def test_no_compiler(path: Path) -> None:
    with pytest.raises(UserError, match="PATH holds no compiler .gcc not found.; install one: sudo apt install g"):
        preflight.check_compiler()


def test_a_compiler_that_the_environment_names_and_that_is_not_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler(path, "12.2.0")
    monkeypatch.setenv("CXX", "g++-99 -m64")
    with pytest.raises(UserError, match="CXX=g..-99 -m64 names no compiler"):
        preflight.check_compiler()


def test_an_old_compiler(path: Path) -> None:
    fake_compiler(path, "9.4.0")
    with pytest.raises(UserError, match=r"is version 9\.4\.0 and torch-fl needs g\+\+ >= 11; .*apt install g\+\+-11"):
        preflight.check_compiler()


def test_a_compiler_that_does_not_work(path: Path) -> None:
    fake_compiler(path, "12.2.0", compile_status=1)
    with pytest.raises(UserError, match="cannot compile and link a small C..20 program .*no luck"):
        preflight.check_compiler()


def test_another_compiler_under_gcc_s_name(path: Path) -> None:
    fake_compiler(path, "4.2.1", about="Apple clang version 15")
    with pytest.raises(UserError, match="is not GCC"):
        preflight.check_compiler()


def test_no_headers(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=rf"Python.h\); install them: sudo apt install python{sys.version_info[0]}\.\d+-dev"
    ):
        preflight.check_headers(str(tmp_path))


def test_no_ensurepip(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else real(name))
    with pytest.raises(UserError, match=r"no ensurepip, .*sudo apt install python3\.\d+-venv"):
        preflight.check_venv()


@pytest.mark.parametrize(
    ("attribute", "value", "sentence"),
    [("machine", lambda: "aarch64", "this machine is aarch64"), ("libc_ver", lambda: ("", ""), "musl")],
)
def test_other_machines(monkeypatch: pytest.MonkeyPatch, attribute: str, value, sentence: str) -> None:
    monkeypatch.setattr(platform, attribute, value)
    with pytest.raises(UserError, match=sentence):
        preflight.check_system()


def test_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UserError, match="builds on Linux only"):
        preflight.check_system()


def test_a_small_disk(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"GB free and a first build needs 1000000000 GB"):
        preflight.check_disk(tmp_path / "build_artifacts", need=10**18)
    (tmp_path / "build_artifacts" / "seed").mkdir(parents=True)
    preflight.check_disk(tmp_path / "build_artifacts", need=10**18)  # a run that carries on is not held up


def test_the_script_parses_under_old_interpreters() -> None:
    import ast

    ast.parse((ROOT / "build-locally.py").read_text(), feature_version=(3, 4))


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--list"], 0, "host"),
        (["hosst"], 1, "unknown variant 'hosst' (no variants/hosst.yaml); did you mean host"),
        (["--platform", "osx-arm64"], 1, "linux-64 only so far, not osx-arm64"),
        (["--jobs", "0"], 2, "'0' is not a number of jobs"),
        (["--help"], 0, "python3 build-locally.py --test"),
    ],
)
def test_quick_answers(arguments: list[str], status: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "build-locally.py", *arguments], capture_output=True, text=True, check=False
    )
    assert said in done.stdout + done.stderr
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)
