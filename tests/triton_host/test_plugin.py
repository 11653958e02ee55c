"""The plug-in as Triton sees it: found by its entry point, active when nothing better is, tolerant of options."""

import shutil
import types
from pathlib import Path

import pytest
import torch
import torch_fl_triton_host
import triton
from torch_fl_triton_host import compiler, device, driver, options
from triton.backends import Backend, backends


class Other:
    """Another back end's driver."""

    active = True

    @classmethod
    def is_active(cls):
        return cls.active


@pytest.fixture
def beside(monkeypatch):
    """``beside(driver)`` lets Triton know another back end with that driver."""
    monkeypatch.delenv("TRITON_DEFAULT_BACKEND", raising=False)
    return lambda other: monkeypatch.setitem(backends, "other", Backend(compiler=None, driver=other))


def test_triton_finds_the_back_end_and_makes_it_active():
    assert backends["flagos"].driver is driver.HostDriver and backends["flagos"].compiler is compiler.HostBackend
    active = triton.runtime.driver.active
    assert isinstance(active, driver.HostDriver)
    assert active.get_current_target().backend == "flagos"
    assert active.get_active_torch_device() == torch.device("flagos", 0)
    assert active.get_device_interface() is torch.flagos


def test_it_stands_back_beside_an_active_driver(beside):
    assert driver.HostDriver.is_active()
    beside(Other)
    assert not driver.HostDriver.is_active()
    beside(type("Idle", (Other,), {"active": False}))
    assert driver.HostDriver.is_active()


def test_two_plug_ins_that_ask_each_other_come_to_an_end(beside):
    class Asking:
        @classmethod
        def is_active(cls):
            return not driver.HostDriver.is_active()

    beside(Asking)
    assert driver.HostDriver.is_active() and not Asking.is_active()


def test_the_variable_chooses_the_back_end(beside, monkeypatch):
    beside(Other)
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "flagos")
    assert driver.HostDriver.is_active()
    beside(type("Idle", (Other,), {"active": False}))
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "other")
    assert not driver.HostDriver.is_active()


@pytest.mark.parametrize("chosen", [None, "flagos"])
def test_it_is_inactive_where_torch_fl_drives_accelerators(chosen, monkeypatch):
    core = types.SimpleNamespace(compiled_kernels_run_on_host=lambda: False)
    monkeypatch.setattr(device, "_torch_fl_core", lambda: core)
    if chosen:
        monkeypatch.setenv("TRITON_DEFAULT_BACKEND", chosen)
    assert not driver.HostDriver.is_active()


def test_importing_the_package_imports_neither_torch_nor_triton(python):
    python("import sys, torch_fl_triton_host; assert not {'torch', 'triton', 'numpy'} & set(sys.modules)")


def test_the_version_is_torch_fls():
    import torch_fl

    assert torch_fl_triton_host.__version__ == torch_fl.__version__


def test_the_hash_changes_with_any_source_file(tmp_path):
    package = Path(torch_fl_triton_host.__file__).parent
    copy = tmp_path / "copy"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert compiler.sources_hash(copy) == compiler.sources_hash(package)
    for path in [path for path in copy.rglob("*") if path.suffix in (".py", ".h")]:
        kept = path.read_bytes()
        path.write_bytes(kept + b"\n")
        assert compiler.sources_hash.__wrapped__(copy) != compiler.sources_hash(package), path
        path.write_bytes(kept)
    backend = compiler.HostBackend(triton.runtime.driver.active.get_current_target())
    assert compiler.sources_hash(package) in backend.hash()


def test_unknown_options_are_left_to_the_kernel_and_read_as_off():
    parsed = options.HostOptions.parse(
        {"num_warps": 8, "BLOCK": 128, "an_option_of_another_version": 1, "num_stages": None}
    )
    assert parsed.num_warps == 8 and parsed.num_stages == options.HostOptions.num_stages
    assert parsed.an_option_of_another_version is None and not hasattr(parsed, "__no_such_protocol__")


def test_options_are_part_of_the_cache_key():
    assert options.HostOptions(debug=True).hash() != options.HostOptions().hash() == options.HostOptions().hash()


@pytest.mark.parametrize("warps", [0, 3, -4])
def test_a_number_of_warps_that_no_gpu_has_is_refused(warps):
    with pytest.raises(ValueError, match="num_warps must be a power of two, not"):
        options.HostOptions.parse({"num_warps": warps})


def test_a_misspelt_option_of_a_launch_is_refused():
    from . import kernels

    with pytest.raises(KeyError, match="num_wraps"):
        kernels.put[(1,)](torch.zeros(1, device="flagos"), 1.0, num_wraps=4)


@pytest.mark.parametrize(
    "kind, name",
    [
        ("*fp32", "void*"),
        ("i1", "bool"),
        ("i32", "int32_t"),
        ("u64", "uint64_t"),
        ("fp32", "float"),
        ("fp64", "double"),
    ],
)
def test_types_have_their_names_in_c(kind, name):
    assert triton.runtime.driver.active.map_python_to_cpp_type(kind) == name


def test_triton_can_measure_a_kernel():
    from triton.testing import do_bench

    from . import kernels

    out = torch.zeros(1, device="flagos")
    assert do_bench(lambda: kernels.put[(1,)](out, 1.0), warmup=1, rep=1) > 0


PLAIN = """
    import torch, triton, triton.language as tl
    from torch_fl_triton_host import launches

    @triton.jit
    def add(a, b, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)

    assert not hasattr(torch, "flagos")
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cpu", 0)
    a, b = torch.randn(1000), torch.randn(1000)
    out = torch.empty(1000)
    add[(8,)](a, b, out, 1000, BLOCK=128)
    assert torch.equal(out, a + b) and launches() == {"add": 1}
"""


def test_without_torch_fl_it_serves_cpu_tensors(python):
    python(PLAIN, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


@pytest.mark.parametrize("word, message", [("fast", "must be 'native' or 'numpy'"), ("numpy", None)])
def test_the_executor_can_be_chosen(word, message, python):
    done = python(PLAIN, TORCH_DEVICE_BACKEND_AUTOLOAD="0", TORCH_FL_TRITON_EXECUTOR=word, check=message is None)
    assert message is None or (done.returncode and message in done.stderr.splitlines()[-1])


def test_the_program_in_the_guide_prints_what_it_says(python):
    guide = Path(__file__).parents[2] / "docs" / "triton-host.md"
    if not guide.is_file():
        pytest.skip("the guide lies in the source tree")
    program = guide.read_text().split("```py\n")[1].split("```")[0]
    promised = program.rstrip().rsplit("# ", 1)[1]
    assert python(program).stdout.strip() == promised
