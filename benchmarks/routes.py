"""What each route costs, from the call in C++ to the kernel: kernels that do nothing, called in a loop of C++.

    python benchmarks/routes.py            # a table
    python benchmarks/routes.py --json

The routes take turns within one process, so a ratio compares calls of the same moments; each is shown with its spread.
Times are those of the thread on a processor, so that other programs disturb them little.
Needs a C++ compiler; the FlagGems rows need torch-fl-flaggems, whose FlagGems is replaced by one function that returns
its argument, and the one of torch.library registers the same function.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 60
TARGET_NS = 2e6  # of one route in one round

ROUTES = """
abs = bench
neg = bench
sin = bench[dtype!=float64], none
cos = bench[dtype!=float64, ndim=1, numel<1024], none
exp = none
"""
ROWS = {  # row -> operator, device
    "floor: PyTorch's dispatcher and a kernel": ("flagos_bench::nothing", "flagos"),
    "slot": ("aten::abs", "flagos"),
    "slot whose kernel may decline": ("aten::neg", "flagos"),
    "chain with a condition": ("aten::sin", "flagos"),
    "chain with three conditions": ("aten::cos", "flagos"),
    "FlagGems (a function that returns its argument)": ("aten::tan", "flagos"),
    "the same function through torch.library": ("flagos_bench::python", "flagos"),
    "fallback: the CPU's exp on device memory": ("aten::exp", "flagos"),
    "for comparison: exp on the CPU": ("aten::exp", "cpu"),
}


def installed(name: str) -> Path | None:
    """A file of torch-fl: in the prefix, or beside the Python files of a developer's build."""
    roots = Path(sys.prefix), Path(find_spec("torch_fl").origin).parent
    return next((root / name for root in roots if (root / name).is_file()), None)


def compiled(folder: Path) -> Path:
    """The library of routes.cpp, compiled against the PyTorch and the torch-fl that are installed here."""
    torch = Path(find_spec("torch").origin).parent
    header, core = installed("include/torch_fl/flagos_kernels.h"), installed("lib/libtorch_fl.so")
    if not header or not core:
        raise SystemExit("torch-fl is not installed with its headers in this environment; install torch-fl-runtime")
    library = core.parent
    made = folder / "libtorch_fl_kernels_bench.so"
    includes = [header.parent, torch / "include", torch / "include/torch/csrc/api/include"]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-w"]
    command += [f"-I{path}" for path in includes] + [str(Path(__file__).with_name("routes.cpp")), "-o", str(made)]
    command += [f"-L{library}", f"-L{torch / 'lib'}", f"-Wl,-rpath,{library}:{torch / 'lib'}"]
    subprocess.run([*command, "-ltorch_fl", "-ltorch_cpu", "-lc10"], check=True)
    return made


def stub_of_flaggems(folder: Path) -> None:
    """A package flag_gems with the layout of the real one, and one function."""
    files = {
        "flag_gems/__init__.py": (
            "from flag_gems import runtime\nfrom flag_gems.ops import tan\n"
            "device, vendor_name = runtime.record.device_name, runtime.record.vendor_name\n"
            '_FULL_CONFIG = (("tan", tan),)\n'
        ),
        "flag_gems/ops/__init__.py": "def tan(x):\n    return x\n",
        "flag_gems/runtime/__init__.py": "from _flagos import vendor_info as record\n",
        "flag_gems/runtime/backend/_flagos/__init__.py": (
            "from types import SimpleNamespace\nvendor_info = SimpleNamespace(vendor_name='flagos', device_name='flagos',"
            " dispatch_key='PrivateUse1', triton_extra_name='cuda')\n"
        ),
        "triton/__init__.py": "",
        "flag_gems-5.0.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: flag_gems\nVersion: 5.0.2\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Loop:
    """Calls of one operator in C++; the GIL is not held meanwhile."""

    def __init__(self, library: ctypes.CDLL, op: str, device: str) -> None:
        self._function = library.flagos_bench_nanoseconds
        self._function.restype = ctypes.c_double
        self._function.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_long, ctypes.c_char_p, ctypes.c_ulong]
        self._op, self._device = op.encode(), device.encode()
        self.nanoseconds(200)  # the first calls look things up
        self.calls = max(100, int(TARGET_NS / self.nanoseconds(1000)))

    def nanoseconds(self, calls: int) -> float:
        why = ctypes.create_string_buffer(500)
        found = self._function(self._op, self._device, calls, why, len(why))
        if found < 0:
            raise SystemExit(f"{self._op.decode()} on {self._device.decode()}: {why.value.decode().splitlines()[0]}")
        return found


def measured(library: ctypes.CDLL, rows: dict[str, tuple[str, str]]) -> list[dict]:
    """Each row's least and middle time, and its ratio to the first row's in the same round with the spread."""
    loops = {name: Loop(library, *target) for name, target in rows.items()}
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            times[name].append(loop.nanoseconds(loop.calls))
    floor = next(iter(times.values()))
    result = []
    for name, series in times.items():
        ratios = sorted(a / b for a, b in zip(series, floor))
        tenth = len(ratios) // 10
        result.append(
            {
                "route": name,
                "operator": rows[name][0],
                "ns_least": min(series),
                "ns_median": statistics.median(series),
                "ratio_median": statistics.median(ratios),
                "ratio_10": ratios[tenth],
                "ratio_90": ratios[-1 - tenth],
            }
        )
    return result


def run(folder: Path) -> dict:
    """Compile, start the device with the routes of this page, measure."""
    library = compiled(folder)
    stub_of_flaggems(folder)
    rows = dict(ROWS)
    bridge = installed("lib/libtorch_fl_flaggems.so")
    if not bridge:
        rows = {name: target for name, target in rows.items() if target[0] not in ("aten::tan", "flagos_bench::python")}
    (folder / "routes.conf").write_text(ROUTES + ("tan = flaggems, none\n" if bridge else ""))
    os.environ.update(FLAGOS_KERNEL_PATH=str(folder), FLAGOS_BACKEND_CONFIG=str(folder / "routes.conf"))
    sys.path.insert(0, str(folder))
    import torch

    torch.set_num_threads(1)
    own = torch.library.Library("flagos_bench", "FRAGMENT")
    own.define("python(Tensor self) -> Tensor")
    own.impl("python", lambda x: x, "PrivateUse1")
    # RTLD_LOCAL, as the core has opened it: the same library, not a second one.
    found = measured(ctypes.CDLL(str(library)), rows)
    table = torch._C._dispatch_dump("aten::abs")
    return {
        "routes": found,
        "kernel_in_pytorchs_table": next(line for line in table.splitlines() if line.startswith("PrivateUse1")),
        "versions": {"torch": torch.__version__, "python": sys.version.split()[0]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = run(Path(folder))
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("route", "operator", "ns (least)", "ns (median)", "times the floor (median)", "10 % to 90 %")
    for row in results["routes"]:
        numbers = f"{row['ns_least']:.0f}", f"{row['ns_median']:.0f}", f"{row['ratio_median']:.2f}"
        table.add_row(row["route"], row["operator"], *numbers, f"{row['ratio_10']:.2f} to {row['ratio_90']:.2f}")
    console = Console(width=160)  # the same lines wherever they go
    console.print(table)
    console.print(f"abs in PyTorch's own table, nothing between: {results['kernel_in_pytorchs_table']}", markup=False)


if __name__ == "__main__":
    main()
