"""A library of kernels: found, routed to by chains, declining, calling its own operator again."""

from __future__ import annotations

import subprocess

import pytest

SOURCE = """
#include <ATen/ATen.h>
#include <flagos_kernels.h>

using at::Tensor;
static Tensor one_more(const Tensor& self) { return self.add(1); }                       // in place of abs
static Tensor sum_for_product(const Tensor& self, const Tensor& other) {                 // in place of mul
  if (self.scalar_type() == at::kDouble) throw torch_fl::Decline("no float64");
  return self.add(other);
}
static Tensor again(const Tensor& self) { return at::neg(self).add(100); }               // calls its own operator
static Tensor fails(const Tensor& self) { TORCH_CHECK(false, "this kernel fails"); }
struct Short { bool operator()(const Tensor& self) const { return self.scalar_type() == at::kShort; } };
static Tensor of_short(const Tensor& self) { return self.to(at::kFloat).add(1000); }     // before every route

FLAGOS_KERNELS("stub", table) {
  table.add<"abs", &one_more>();
  table.add<"mul.Tensor", &sum_for_product>({.may_decline = true});
  table.add<"neg", &again>();
  table.add<"exp", &fails>({.may_decline = true});
  table.add_front<"abs", Short, &of_short>();
  table.add_front<"neg", Short, &of_short>();
  table.add_front<"floor", Short, &of_short>();
}
"""
PRELUDE = "import torch; x = torch.tensor([2.0, -3.0], device='flagos'); "


@pytest.fixture(scope="module")
def folder(environment, tmp_path_factory):
    """A folder with libtorch_fl_kernels_stub.so, compiled as a vendor would: against what is installed."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "stub.cpp").write_text(SOURCE)
    torch = environment.python("import torch; print(torch.__path__[0])")
    include = [environment.prefix / "include/torch_fl", f"{torch}/include", f"{torch}/include/torch/csrc/api/include"]
    libraries = [environment.prefix / "lib", f"{torch}/lib"]
    command = ["g++", "-std=c++20", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", *(f"-I{path}" for path in include)]
    command += ["stub.cpp", "-o", "libtorch_fl_kernels_stub.so", *(f"-L{path}" for path in libraries)]
    subprocess.run([*command, "-ltorch_fl", "-ltorch_cpu", "-lc10"], cwd=folder, check=True)
    return folder


@pytest.fixture
def run(environment, folder):
    def run(code: str, **extra: str) -> str:
        return environment.python(PRELUDE + code, FLAGOS_KERNEL_PATH=str(folder), **extra)

    return run


def test_a_kernel_that_serves_every_call_stands_in_pytorchs_own_table(run):
    code = """
print(torch.abs(x).tolist())
print("torch_fl slot stub" in torch._C._dispatch_dump("aten::abs"), "torch_fl slot stub" in torch._C._dispatch_dump("aten::mul.Tensor"))
print(torch.flagos.dispatch_counts()[("abs", "stub")])
"""
    assert run(code).splitlines() == ["[3.0, -2.0]", "True False", "1"]


def test_a_call_that_is_declined_goes_to_the_next_step(environment, folder, run):
    code = "print((x * x).tolist(), (x.double() * x.double()).tolist())"
    assert run(code) == "[4.0, -6.0] [4.0, 9.0]"
    log = environment.run("python", "-c", PRELUDE + code, FLAGOS_KERNEL_PATH=str(folder), FLAGOS_LOG="dispatch")
    assert "[flagos declined] mul.Tensor: stub (no float64)" in log.stderr.splitlines()
    assert "[flagos dispatch] mul.Tensor -> cpu" in log.stderr.splitlines()


def test_a_kernel_that_calls_its_own_operator_gets_the_next_step(run, tmp_path):
    (tmp_path / "chain.conf").write_text("neg = stub[ndim<9], none\n")
    assert run("print(torch.neg(x).tolist())", FLAGOS_BACKEND_CONFIG=str(tmp_path / "chain.conf")) == "[98.0, 103.0]"


def test_conditions_choose(run, tmp_path):
    (tmp_path / "chain.conf").write_text("abs = stub[dtype!=float64, numel<=2]\n")
    code = "print(x.abs().tolist(), x.double().abs().tolist(), torch.cat([x, x]).abs().tolist())"
    assert run(code, FLAGOS_BACKEND_CONFIG=str(tmp_path / "chain.conf")) == "[3.0, -2.0] [2.0, 3.0] [2.0, 3.0, 2.0, 3.0]"


def test_a_kernel_in_front_takes_its_calls_and_passes_on_the_others(run, tmp_path):
    """Behind it: a kernel of a slot, a chain, the CPU's kernel, whatever the routing file says."""
    (tmp_path / "chain.conf").write_text("neg = stub[ndim<9], none\n")
    code = """
for f in (torch.abs, torch.neg, torch.floor):
    print(f(x.short()).tolist(), f(x).tolist())
print({key[1] for key in torch.flagos.dispatch_counts() if key[0] == "floor"} == {"stub", "cpu"})
"""
    short = "[1002.0, 997.0]"
    wanted = [f"{short} [3.0, -2.0]", f"{short} [98.0, 103.0]", f"{short} [2.0, -3.0]", "True"]
    assert run(code, FLAGOS_BACKEND_CONFIG=str(tmp_path / "chain.conf")).splitlines() == wanted
    assert run("print(x.short().abs().tolist(), x.abs().tolist())", FLAGOS_OP_abs="none") == f"{short} [2.0, 3.0]"


def test_an_error_is_no_decline(run):
    code = """
try:
    torch.exp(x)
except RuntimeError as error:
    print(error)
"""
    assert "this kernel fails" in run(code)


def test_the_file_outranks_what_is_installed(run):
    assert run("print(torch.abs(x).tolist())", FLAGOS_OP_abs="none") == "[2.0, 3.0]"


def test_gradients_follow_pytorchs_formulas(run):
    # float64, for which the library's product declines: the formula is grad * sgn(x).
    code = "y = x.double().requires_grad_(); torch.abs(y).sum().backward(); print(y.grad.tolist())"
    assert run(code) == "[1.0, -1.0]"


def test_a_chain_goes_on_after_a_slot_that_lacks_the_kernel(run, tmp_path):
    (tmp_path / "chain.conf").write_text("abs = cuda, stub, none\nneg = musa[ndim=1], none\n")
    code = "print(x.abs().tolist(), x.neg().tolist())"
    quiet = {"FLAGOS_BACKEND_CONFIG": str(tmp_path / "chain.conf"), "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    assert run(code, **quiet) == "[3.0, -2.0] [-2.0, 3.0]"


def test_a_library_that_is_none_is_said(environment, tmp_path):
    (tmp_path / "libtorch_fl_kernels_broken.so").write_bytes(b"no library")
    done = environment.run("python", "-c", "import torch_fl", FLAGOS_KERNEL_PATH=str(tmp_path))
    assert done.returncode == 1
    assert "ImportError: flagos: the kernel library " in done.stderr and "libtorch_fl_kernels_broken.so" in done.stderr
