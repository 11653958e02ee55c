"""Build the core and its platform library with sanitizers and run tests under them: `python -m flbuild.sanitize address`.

`address` is AddressSanitizer with UndefinedBehaviorSanitizer, `thread` is ThreadSanitizer. Only this project's code is
instrumented; the sanitizer's library is preloaded into an interpreter that has PyTorch. A report of any process of a run
makes the run fail. Everything lies in `build_artifacts/sanitize/<kind>/`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from flbuild import cmake_tree
from flbuild.bootstrap import ROOT
from flbuild.errors import UserError
from flbuild.layout import Layout, remove

TESTS = Path("tests") / "sanitize"
# Run besides tests/sanitize when a person starts it: what uses threads, streams, memory and views of it.
CONTRACT = ("test_threads.py", "test_streams.py", "test_memory.py", "test_views.py")
STATUS = 86  # of a process with a report


@dataclass(frozen=True)
class Kind:
    """One way to instrument: the compiler's name for it, its libraries, its run-time settings."""

    flags: str
    libraries: tuple[str, ...]
    options: dict[str, str]


def kinds(root: Path) -> dict[str, Kind]:
    common = f"exitcode={STATUS}:color=never:strip_path_prefix={root}/"
    # The platform explains faults of device memory itself, so signals stay with it. The interpreter keeps memory on
    # purpose at exit: leaks are measured by the contract suite. A protected range is never touched by the sanitizer.
    address = f"{common}:handle_segv=0:handle_sigbus=0:detect_leaks=0:protect_shadow_gap=1:detect_stack_use_after_return=0"
    undefined = f"{common}:print_stacktrace=1:halt_on_error=1"
    # libtorch and the interpreter are not instrumented; what they do is left out.
    thread = (
        f"{common}:suppressions={root / TESTS / 'thread.supp'}:ignore_noninstrumented_modules=1:handle_segv=0"
        ":history_size=4:detect_deadlocks=1:second_deadlock_stack=1:report_signal_unsafe=0"
    )
    return {
        "address": Kind("address,undefined", ("libasan.so", "libubsan.so"), {"ASAN_OPTIONS": address, "UBSAN_OPTIONS": undefined}),
        "thread": Kind("thread", ("libtsan.so",), {"TSAN_OPTIONS": thread}),
    }


def compiler() -> str:
    return os.environ.get("CXX", "c++")


def preloaded(kind: Kind) -> str:
    """The sanitizer's libraries, as the compiler names them, and the C++ library, whose `throw` they must find."""
    made = []
    for library in (*kind.libraries, "libstdc++.so.6"):
        asked = [compiler(), f"-print-file-name={library}"]
        found = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
        if not found.is_absolute():
            raise UserError(f"{compiler()} has no {library}; install GCC's sanitizers (Debian: libgcc-12-dev).")
        made.append(str(found.resolve()))
    return " ".join(made)


def build(layout: Layout, name: str, python: Path, jobs: int, log: Path) -> Path:
    """Compile and install the instrumented tree.

    Args:
        python: an interpreter that has PyTorch.

    Returns:
        the folder to put on PYTHONPATH.
    """
    flags = {"TORCH_FL_SANITIZE": kinds(layout.root)[name].flags}
    return cmake_tree.install(layout, layout.artifacts / "sanitize" / name, python, jobs, log, flags, f"the {name} sanitizer's tree")


def reports(folder: Path) -> list[str]:
    """What the processes of a run reported, one text a process."""
    return [file.read_text(errors="replace") for file in sorted(folder.glob("report.*"))]


def run(layout: Layout, name: str, python: Path, installed: Path, tests: list[str], quiet: bool = False) -> int:
    """pytest under the sanitizer; 0 only if the tests pass and no process has reported anything."""
    kind, folder = kinds(layout.root)[name], layout.artifacts / "sanitize" / name / "run"
    remove(folder)
    folder.mkdir(parents=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "FLAGOS_"))}
    env |= {key: f"{value}:log_path={folder / 'report'}" for key, value in kind.options.items()}
    env |= {
        "LD_PRELOAD": preloaded(kind),
        "PYTHONPATH": str(installed),
        "PYTHONMALLOC": "malloc",
        "TORCH_FL_SANITIZE": name,
        "OMP_NUM_THREADS": "1",
        "CXX": compiler(),
    }
    # Beside AddressSanitizer, GCC's UndefinedBehaviorSanitizer knows no log_path: its report goes to stderr and ends the
    # process, so that output must not be held back.
    options = ["-q", "-p", "no:cacheprovider", "-x", "--capture=sys", f"--rootdir={layout.root}", "--import-mode=importlib"]
    # ThreadSanitizer of GCC 12 knows no kernel that spreads addresses over more than 28 bits.
    fixed = ["setarch", platform.machine(), "--addr-no-randomize"] if name == "thread" else []
    status = subprocess.run(
        [*fixed, python, "-B", "-m", "pytest", *options, *tests],
        env=env,
        cwd=folder,
        stdout=sys.stderr if quiet else None,
        check=False,
    ).returncode
    found = reports(folder)
    for text in found:
        print(text, file=sys.stderr)
    return status or (STATUS if found else 0)


def check(layout: Layout, name: str, python: Path, jobs: int, tests: list[str], quiet: bool = False) -> int:
    """Build and run.

    Args:
        python: an interpreter with PyTorch, pytest, numpy and hypothesis.
        tests: files or folders, relative to the root.

    Returns:
        0, or the status of the failure.
    """
    layout.logs.mkdir(parents=True, exist_ok=True)
    installed = build(layout, name, python, jobs, layout.logs / f"sanitize-{name}.log")
    return run(layout, name, python, installed, [str(layout.root / test) for test in tests], quiet)


def check_all(layout: Layout, python: Path, jobs: int, tests: list[str], quiet: bool = False) -> int:
    """`check` of every kind. The compiler needs all cores and a run of the tests one: one kind is tested while the next is built.

    Returns:
        0, or the status of the first kind that failed.
    """
    layout.logs.mkdir(parents=True, exist_ok=True)
    paths, runs = [str(layout.root / test) for test in tests], []
    with ThreadPoolExecutor(max_workers=1) as pool:
        for name in kinds(layout.root):
            installed = build(layout, name, python, jobs, layout.logs / f"sanitize-{name}.log")
            runs.append(pool.submit(run, layout, name, python, installed, paths, quiet))
        statuses = [started.result() for started in runs]
    return next((status for status in statuses if status), 0)


def main() -> int:
    layout = Layout(ROOT)
    more = [str(Path("tests") / "contract" / name) for name in CONTRACT]
    parser = argparse.ArgumentParser(prog="python -m flbuild.sanitize", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=kinds(ROOT))
    parser.add_argument("tests", nargs="*", help=f"tests to run, default: {' '.join([str(TESTS), *more])}")
    parser.add_argument("--python", type=Path, default=layout.environment("host-test") / "bin/python",
                        help="an interpreter with PyTorch, pytest, numpy and hypothesis (default: %(default)s)")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parallel compiler runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_intermixed_args()
    try:
        if not given.python.exists():
            raise UserError(f"{given.python}: no such interpreter; run build-locally.py --test, or give --python.")
        tests = given.tests or [str(TESTS), *more]
        status = check(layout, given.kind, given.python.absolute(), given.jobs, tests, given.json)
    except UserError as error:
        print(f"flbuild.sanitize: {error}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps({"kind": given.kind, "ok": status == 0, "status": status}))
    return status


if __name__ == "__main__":
    sys.exit(main())
