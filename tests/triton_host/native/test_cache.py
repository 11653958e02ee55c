"""Compilers and the cache on disk: content decides, nothing is half written, and every failure is one sentence."""

import os
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from torch_fl_triton_host import native
from torch_fl_triton_host.native import source, toolchain

from .support import elementwise, run

ADD = [("i32", "%r = arith.addi %a0, %a0 : tensor<64xi32>")]


@pytest.fixture
def module():
    return elementwise(ADD, ["i32"])


def works(kernel):
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(kernel, x, out)
    return (out == 2 * x).all()


def program(folder, name, text):
    """A command of that name in a folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_second_build_takes_the_file_of_the_first(module, tmp_path, build, monkeypatch):
    first = native.build(module, "add", tmp_path)
    changed = first.path.stat().st_mtime_ns
    monkeypatch.setattr(toolchain.Compiler, "compile", lambda *_: pytest.fail("compiled again"))
    second = native.build(module, "add", tmp_path)
    assert second.path == first.path and second.path.stat().st_mtime_ns == changed and works(second)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [
        ".so",
        ".so",
    ]  # the kernel, and the library that runs it


def test_another_text_name_or_compiler_has_a_file_of_its_own(module, tmp_path, build, monkeypatch):
    paths = {native.build(module, "add", tmp_path).path}
    paths.add(native.build(module, "plus", tmp_path).path)
    paths.add(
        native.build(elementwise([("i32", "%r = arith.subi %a0, %a0 : tensor<64xi32>")], ["i32"]), "add", tmp_path).path
    )
    found = toolchain.compiler()
    other = toolchain.Compiler(found.command, found.flags, "another processor")
    monkeypatch.setattr("torch_fl_triton_host.native.kernel.compiler", lambda: other)
    paths.add(native.build(module, "add", tmp_path).path)
    assert len(paths) == 4


def test_the_text_of_a_kernel_is_the_same_each_time(module):
    assert source.emit(module) == source.emit(elementwise(ADD, ["i32"]))


def test_a_name_with_any_characters_is_a_file_name(module, tmp_path, build):
    kernel = native.build(module, "a/b <c>\n" + "x" * 300, tmp_path)
    assert kernel.path.parent == tmp_path and works(kernel)


def test_a_folder_that_cannot_be_written_serves_what_it_has_and_compiles_the_rest_elsewhere(
    module, tmp_path, build, monkeypatch
):
    kept = native.build(module, "add", tmp_path)
    monkeypatch.setattr("torch_fl_triton_host.native.cache.tempfile.TemporaryDirectory", refuse)
    assert native.build(module, "add", tmp_path).path == kept.path
    other = native.build(elementwise(ADD * 2, ["i32"]), "add", tmp_path)
    x, out, out2 = np.arange(64, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    run(other, x, out, out2)
    assert (out == 2 * x).all() and len(list(tmp_path.iterdir())) == 2
    assert kept.path.exists() and not other.path.parent.exists()


def refuse(*_, **__):
    raise PermissionError("read-only")


def test_a_folder_whose_place_is_taken_by_a_file_is_no_obstacle(module, tmp_path, build):
    (tmp_path / "cache").write_text("")
    assert works(native.build(module, "add", tmp_path / "cache"))


def test_processes_that_compile_the_same_kernel_leave_one_file(tmp_path, build):
    code = """
        import sys
        from pathlib import Path
        from torch_fl_triton_host import native
        from torch_fl_triton_host.ttir import parse
        module = parse("module { tt.func public @k(%p: !tt.ptr<i32>) { %c = arith.constant 7 : i32 tt.store %p, %c : !tt.ptr<i32> tt.return } }")
        native.build(module, "k", Path(sys.argv[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "cache")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_without_a_compiler_there_is_none_and_the_error_says_what_to_do(module, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert native.compiler() is None
    with pytest.raises(native.CompilerError, match="no C compiler is found; install gcc or clang, or name one in CC"):
        native.build(module, "add", tmp_path / "cache")


def test_CC_chooses_the_compiler_and_may_have_arguments(tmp_path, build, monkeypatch):
    monkeypatch.setenv("CC", "cc -DANYTHING")
    assert native.compiler().command == ("cc", "-DANYTHING")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert native.compiler() is None


def test_a_compiler_that_fails_is_quoted(module, tmp_path, build, monkeypatch):
    real = toolchain.compiler().command[0]
    program(
        tmp_path,
        "cc",
        f'for a in "$@"; do case "$a" in *add-*.c) echo "x.c:1: error: disk is full" >&2; exit 1;; esac; done\nexec {real} "$@"',
    )
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    with pytest.raises(native.CompilerError, match=r"cannot compile .*add-.*\.c: x\.c:1: error: disk is full"):
        native.build(module, "add", tmp_path / "cache")
    assert [path.name[:8] for path in (tmp_path / "cache").iterdir()] == ["runtime-"]


def test_a_compiler_that_makes_nothing_is_no_compiler(tmp_path, monkeypatch):
    program(tmp_path, "cc", "exit 0")
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    assert native.compiler() is None


def test_a_compiler_that_does_not_know_the_tuning_flag_is_used_without(module, tmp_path, build, monkeypatch):
    real = toolchain.compiler().command[0]
    program(tmp_path, "cc", f'for a in "$@"; do case "$a" in -m*=native) exit 1;; esac; done\nexec {real} "$@"')
    monkeypatch.setenv("CC", str(tmp_path / "cc"))
    found = native.compiler()
    assert found.flags == toolchain.FLAGS
    assert works(native.build(module, "add", tmp_path / "cache"))
