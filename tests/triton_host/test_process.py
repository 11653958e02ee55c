"""Whole processes: clean exits, forks, several processes at once, and where files are written."""

import os
import subprocess
import sys
import textwrap

import pytest

KERNEL = """
    import os, sys, threading
    import torch, triton, triton.language as tl
    from torch_fl_triton_host import launches

    @triton.jit
    def twice(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

    def run(device="flagos"):
        x = torch.arange(100.0, device=device)
        twice[(7,)](x, 100, BLOCK=16)
        assert torch.equal(x.cpu(), torch.arange(100.0) * 2)
"""
ROUTES = "".join(
    f"{operator} = flaggems\n" for operator in ("mm", "addmm", "gelu", "gelu_backward", "native_layer_norm", "sum")
)
TRAINING = """
    import torch
    from torch_fl import _C
    from torch_fl_triton_host import launches

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 4))
    model.to("flagos")
    model(torch.randn(8, 16, device="flagos")).mul(2).sum().backward()
    assert launches()["addmm_kernel"] >= 2 and _C.dispatch_counts()["gelu_backward", "flaggems"] == 1, launches()
"""


@pytest.fixture(scope="session")
def filled_cache(tmp_path_factory):
    """A kernel cache that programs of this module share, so that only the first one compiles."""
    return str(tmp_path_factory.mktemp("kernels"))


def test_a_program_that_ends_right_after_backward_exits_cleanly(python, filled_cache, tmp_path):
    routes = tmp_path / "routes.conf"
    routes.write_text(ROUTES)
    for _ in range(int(os.environ.get("TORCH_FL_EXITS", "5"))):
        python(TRAINING, TRITON_CACHE_DIR=filled_cache, FLAGOS_BACKEND_CONFIG=str(routes))


@pytest.mark.parametrize("executor", ["native", "numpy"])
def test_a_program_that_ends_while_kernels_are_queued_exits_cleanly(executor, python, filled_cache):
    python(
        KERNEL
        + """
    x = torch.zeros(1 << 20, device="flagos")
    with torch.flagos.stream(torch.flagos.Stream()):
        for _ in range(5):
            twice[(64,)](x, 1024, BLOCK=16)
    """,
        TRITON_CACHE_DIR=filled_cache,
        TORCH_FL_TRITON_EXECUTOR=executor,
    )


@pytest.mark.parametrize("executor", ["native", "numpy"])
def test_threads_may_compile_and_launch_the_same_kernel_at_once(executor, python):
    python(
        KERNEL
        + """
    errors = []
    def work():
        try:
            for _ in range(5):
                run()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors, errors
    assert launches() == {"twice": 20}
    """,
        TORCH_FL_TRITON_EXECUTOR=executor,
    )


def test_a_process_may_fork_and_launch_in_the_child(python):
    python(
        KERNEL
        + """
    child = os.fork()
    if child == 0:
        try:
            run()
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run()
    """
    )


def test_on_cpu_tensors_a_child_may_launch_after_its_parent(python):
    python(
        KERNEL
        + """
    torch.set_num_threads(2)
    run("cpu")
    child = os.fork()
    if child == 0:
        run("cpu")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run("cpu")
    """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )


def test_two_processes_may_compile_the_same_kernel_at_once(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(KERNEL) + "\nfor _ in range(3):\n    run()\n")
    command = [sys.executable, *(["-P"] if sys.flags.safe_path else []), str(program)]
    environ = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    both = [subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    left = [path for path in (tmp_path / "cache" / "torch_fl_triton_host").iterdir() if path.match("twice-*.so")]
    assert len(left) == 1  # and nothing half written beside it
    assert not [path for path in left[0].parent.iterdir() if "tmp" in path.name]


def test_files_are_written_to_the_cache_folder_only(python, tmp_path):
    for name in ("home", "temp"):
        (tmp_path / name).mkdir()
    folders = {
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "temp"),
        "XDG_CACHE_HOME": str(tmp_path / "home"),
    }
    python(KERNEL + "\n    run()\n", **folders)
    assert (tmp_path / "cache" / "torch_fl_triton_host").is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "home", "program.py", "temp"]
    assert not list((tmp_path / "home").iterdir()) and not list((tmp_path / "temp").iterdir())


def test_a_cache_that_cannot_be_written_is_used_as_it_is(python, tmp_path):
    """Root may write to read-only folders all the same, so times of change are compared too."""
    python(KERNEL + "\n    run()\n")
    cache = tmp_path / "cache"
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    for path in [cache, *cache.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        python(KERNEL + "\n    run()\n")
    finally:
        for path in [cache, *cache.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()} == before


def test_without_a_compiler_numpy_serves_and_one_sentence_says_so(python):
    done = python(KERNEL + "\n    run()\n    run()\n", CC=None, CXX=None, PATH="/nonexistent")
    said = [line for line in done.stderr.splitlines() if "torch_fl_triton_host" in line]
    assert len(said) == 1 and "no C compiler is found, so kernels run in numpy" in said[0]


def test_a_compiler_that_is_asked_for_and_missing_is_an_error(python):
    done = python(
        KERNEL + "\n    run()\n", check=False, PATH="/nonexistent", CC=None, TORCH_FL_TRITON_EXECUTOR="native"
    )
    assert done.returncode and "no C compiler is found; install a C compiler" in done.stderr.splitlines()[-1]
