"""What the device costs over the CPU: small operators, a training epoch, the import.

All figures are ratios or differences within one process, CPU and flagos in turn, with their spread; see docs/benchmarks.md.

    python benchmarks/overhead.py            # a table
    python benchmarks/overhead.py --json
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

ROUNDS = 200
CALLS = 300  # of one operator in a round


def micros(call: Callable[[], object]) -> float:
    """Time of one call in microseconds, mean over CALLS."""
    began = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - began) / CALLS * 1e6


def operators(device: str) -> list[dict]:
    """Small-tensor operators: CPU and device time, interleaved; the least and the middle of the differences."""
    torch.set_num_threads(1)
    x, square = torch.randn(8), torch.randn(4, 4)
    cases: dict[str, tuple[Callable, torch.Tensor]] = {
        "abs": (torch.abs, x),
        "add": (lambda t: torch.add(t, t), x),
        "add_ scalar": (lambda t: t.add_(0.0), x),
        "mul scalar": (lambda t: t * 2.0, x),
        "relu": (torch.relu, x),
        "sum": (torch.sum, x),
        "mm": (lambda t: torch.mm(t, t), square),
        "view": (lambda t: t.view(-1), square),
        "empty_like": (torch.empty_like, x),
    }
    rows = []
    for name, (function, tensor) in cases.items():
        there = tensor.to(device)
        cpu, own = [], []
        for _ in range(ROUNDS):
            cpu.append(micros(lambda: function(tensor)))
            own.append(micros(lambda: function(there)))
        differences = sorted(b - a for a, b in zip(cpu, own))
        rows.append(
            {
                "what": f"{name}, 8 or 16 floats",
                "cpu_us": min(cpu),
                "flagos_us": min(own),
                "overhead_us": min(own) - min(cpu),
                "overhead_us_median": statistics.median(differences),
            }
        )
    return rows


def epochs(device: str, pairs: int) -> dict:
    """A training epoch of the digits network: device over CPU, in turn, the first pair left out."""
    sys.path.insert(0, f"{__file__.rsplit('/', 2)[0]}/examples")
    from digits import Run

    torch.set_num_threads(max(1, torch.get_num_threads()))
    own, cpu = Run(device), Run("cpu")
    for _ in range(pairs + 1):
        own.epoch()
        cpu.epoch()
    ratios = [a / b for a, b in zip(own.seconds[1:], cpu.seconds[1:])]
    return {
        "what": "digits epoch, flagos over CPU",
        "ratio_median": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
    }


def imports(rounds: int) -> dict:
    """`import torch_fl` beyond `import torch`, in fresh processes, in turn."""
    script = (
        "import os, time; os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'] = '0'\n"
        "import torch; began = time.perf_counter(); import torch_fl; print(time.perf_counter() - began)"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        for _ in range(rounds)
    ]
    return {
        "what": "import torch_fl beyond torch",
        "ms_median": statistics.median(seconds) * 1e3,
        "ms_min": min(seconds) * 1e3,
        "ms_max": max(seconds) * 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="flagos:0")
    parser.add_argument("--pairs", type=int, default=15, help="training epochs on each side (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    threads = torch.get_num_threads()
    results = {"training": epochs(arguments.device, arguments.pairs), "import": imports(7)}
    results["operators"] = operators(arguments.device)
    results["versions"] = {"torch": torch.__version__, "python": sys.version.split()[0], "threads": threads}
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("operator", "CPU us (least)", "flagos us (least)", "overhead us (least)", "overhead us (median)")
    for row in results["operators"]:
        numbers = (row[key] for key in ("cpu_us", "flagos_us", "overhead_us", "overhead_us_median"))
        table.add_row(row["what"], *(f"{number:.2f}" for number in numbers))
    console.print(table)
    t, i = results["training"], results["import"]
    console.print(f"{t['what']}: median {t['ratio_median']:.3f} ({t['ratio_min']:.3f} to {t['ratio_max']:.3f})")
    console.print(f"{i['what']}: median {i['ms_median']:.0f} ms ({i['ms_min']:.0f} to {i['ms_max']:.0f})")


if __name__ == "__main__":
    main()
