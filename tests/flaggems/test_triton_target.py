"""What Triton finds of torch-fl in every process that imports it: a compiler under the device's name, where there is a target."""

import os

import pytest
from torch_fl_tests import processes

triton = pytest.importorskip("triton")

from _torch_fl_triton import compiler, driver  # noqa: E402
from triton.backends import Backend, backends  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

HOPPER = GPUTarget("flagos", 90, 32)


def add(x, y, n, BLOCK: triton.language.constexpr):
    places = triton.language.program_id(0) * BLOCK + triton.language.arange(0, BLOCK)
    inside = places < n
    triton.language.store(y + places, triton.language.load(x + places, inside) + 1, inside)


def test_triton_finds_it_without_torch_fl(tmp_path):
    code = """
import sys
from triton.backends import backends
from triton.backends.compiler import GPUTarget
found = backends["flagos-target"]
assert not found.compiler.supports_target(GPUTarget("flagos", 90, 32)), "the host has no target"
assert not found.driver.is_active()
assert "torch_fl" not in sys.modules
"""
    done = processes.run(code, os.environ, tmp_path, fresh=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_back_end_that_triton_lacks_serves_nothing():
    assert compiler.vendors("nosuch") is None and compiler.vendors(None) is None
    assert not compiler.made(None, "").supports_target(HOPPER)


def test_the_targets_compiler_compiles_under_the_devices_name(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    made = compiler.made(compiler.vendors("nvidia"), "cuda")
    assert made.supports_target(HOPPER) and not made.supports_target(GPUTarget("cuda", 90, 32))
    monkeypatch.delitem(backends, "flagos")  # the host's, which no machine with a target has
    monkeypatch.setitem(backends, "flagos-target", Backend(compiler=made, driver=driver.Driver))
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(triton.jit(add), signature=signature, constexprs={"BLOCK": 128})
    kernel = triton.compile(source, target=HOPPER)
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32)
    assert ".target sm_90" in kernel.asm["ptx"]
