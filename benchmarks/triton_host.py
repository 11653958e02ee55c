"""FlagGems' kernels on the host against the CPU's own: a training step, single kernels, and the first launch of each.

All figures are ratios within one process, CPU and flagos in turn, with their spread; see docs/triton-host.md.
Which operators FlagGems serves in the training step is a matter of the routing file in force, or of --routes.

    python benchmarks/triton_host.py [--routes FILE]     # a table
    python benchmarks/triton_host.py --json
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial

HIDDEN, HEADS, TOKENS, BATCH = 256, 4, 64, 8  # of the transformer layer
FIRST_LAUNCHES = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import torch, flag_gems
from torch_fl_triton_host import launches
x = torch.randn(64, 64, device="flagos")
w = torch.ones(64, device="flagos")
calls = {
    "abs": (x,), "exp": (x,), "gelu": (x,), "silu": (x,), "relu": (x,), "add": (x, x), "mul": (x, x), "true_divide": (x, x),
    "lt": (x, x), "where_self": (x > 0, x, x), "sum": (x,), "sum_dim": (x, [1]), "mean": (x,), "amax": (x, [1]), "argmax": (x, 1),
    "softmax": (x, 1), "log_softmax": (x, 1), "layer_norm": (x, (64,), w, w), "cumsum": (x, 1), "mm": (x, x),
    "addmm": (w, x, x), "bmm": (x[None], x[None]), "embedding": (x, torch.zeros(4, dtype=torch.int64, device="flagos")),
    "flip": (x, (0,)), "triu": (x,), "cat": ([x, x],), "var_mean": (x, [1]), "sin": (x,), "pow_tensor_scalar": (x, 2.5),
    "ones_like": (x,), "gather": (x, 1, torch.zeros(64, 2, dtype=torch.int64, device="flagos")),
}
flag_gems.neg(x)  # Triton's own start is not a kernel's
torch.flagos.synchronize()
seconds = {}
for name, arguments in calls.items():
    function = getattr(flag_gems, name)
    before, began = sum(launches().values()), time.perf_counter()
    function(*arguments)
    torch.flagos.synchronize()
    kernels = sum(launches().values()) - before
    seconds[name] = (time.perf_counter() - began) / max(kernels, 1)
print(json.dumps(seconds))
"""


def ratios(own: Callable[[], object], cpu: Callable[[], object], rounds: int, calls: int) -> dict[str, float]:
    """Time of `own` over that of `cpu`, `rounds` pairs of `calls` calls in turn, after one pair that is left out."""
    found = []
    for _ in range(rounds + 1):
        times = []
        for call in (own, cpu):
            began = time.perf_counter()
            for _ in range(calls):
                call()
            times.append(time.perf_counter() - began)
        found.append((times[0] / times[1], times[0] / calls, times[1] / calls))
    own_ms, cpu_ms = (min(f[i] for f in found[1:]) * 1e3 for i in (1, 2))
    values = [f[0] for f in found[1:]]
    return {
        "ratio_median": statistics.median(values), "ratio_min": min(values), "ratio_max": max(values),
        "flagos_ms": own_ms, "cpu_ms": cpu_ms,
    }  # fmt: skip


def layer_step(rounds: int) -> dict:
    """Forward, loss and backward of a transformer layer in float32, with the CPU's threads on both sides."""
    import torch
    import torch_fl_triton_host
    from torch_fl import _C

    def step(device: str) -> tuple[Callable[[], object], torch.nn.Module]:
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(
            HIDDEN, HEADS, 4 * HIDDEN, dropout=0.0, activation="gelu", batch_first=True
        )
        layer, x = layer.to(device), torch.randn(BATCH, TOKENS, HIDDEN).to(device)

        def run() -> object:
            layer.zero_grad()
            loss = layer(x).square().mean()
            loss.backward()
            return loss.item()

        return run, layer

    (own, own_layer), (cpu, cpu_layer) = step("flagos"), step("cpu")
    own()
    cpu()
    pairs = zip(own_layer.parameters(), cpu_layer.parameters(), strict=True)
    difference = max((a.grad.cpu() - b.grad).abs().max().item() for a, b in pairs)
    torch_fl_triton_host.reset_launches()
    _C.reset_dispatch_counts()
    own()
    counts, launches = _C.dispatch_counts(), sum(torch_fl_triton_host.launches().values())
    return {
        "what": f"transformer layer step, {BATCH} x {TOKENS} x {HIDDEN} float32",
        **ratios(own, cpu, rounds, 1),
        "launches": launches,
        "operators_by_flaggems": sum(calls for (_, backend), calls in counts.items() if backend == "flaggems"),
        "operators": sum(counts.values()),
        "largest_difference_of_a_gradient": difference,
    }


def kernels(rounds: int) -> list[dict]:
    """Single FlagGems functions against the CPU's operators, one thread each."""
    import flag_gems
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    small, large, square = torch.randn(8), torch.randn(1 << 20), torch.randn(256, 256)
    cases = {
        "add, 8 floats": (flag_gems.add, torch.add, (small, small), 200),
        "add, 1M floats": (flag_gems.add, torch.add, (large, large), 20),
        "gelu, 1M floats": (flag_gems.gelu, torch.nn.functional.gelu, (large,), 5),
        "sum, 1M floats": (flag_gems.sum, torch.sum, (large,), 20),
        "softmax, 256 x 256": (flag_gems.softmax, torch.softmax, (square, 1), 20),
        "mm, 256 x 256 x 256": (flag_gems.mm, torch.mm, (square, square), 5),
    }
    rows = []
    for name, (own, cpu, arguments, calls) in cases.items():
        there = [a.to("flagos") if isinstance(a, torch.Tensor) else a for a in arguments]
        rows.append({"what": name, **ratios(partial(own, *there), partial(cpu, *arguments), rounds, calls)})
    torch.set_num_threads(threads)
    return rows


def first_launches() -> dict:
    """Time from a call to its result for kernels that no cache holds yet, in a fresh process; for each kernel."""
    with tempfile.TemporaryDirectory() as cache:
        environ = {**os.environ, "TRITON_CACHE_DIR": cache, "FLAGGEMS_CACHE_DIR": cache}
        command = [sys.executable, *(["-P"] if sys.flags.safe_path else []), "-c", FIRST_LAUNCHES]
        done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    seconds = json.loads(done.stdout)
    slowest = max(seconds, key=seconds.get)
    values = sorted(seconds.values())
    return {
        "what": f"first launch, empty cache, {len(values)} functions", "s_median": statistics.median(values),
        "s_min": values[0], "s_max": values[-1], "slowest": slowest,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routes", help="routing file for the training step (default: the one in force)")
    parser.add_argument("--rounds", type=int, default=15, help="pairs of measurements (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    if arguments.routes:
        os.environ["FLAGOS_BACKEND_CONFIG"] = os.path.abspath(arguments.routes)
    warnings.simplefilter("ignore")
    import torch  # after the variable, which is read when torch_fl starts
    import triton

    results = {
        "step": layer_step(arguments.rounds),
        "kernels": kernels(arguments.rounds),
        "first": first_launches(),
        "versions": {"torch": torch.__version__, "triton": triton.__version__, "threads": torch.get_num_threads()},
    }
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "flagos over CPU", "spread", "flagos ms", "CPU ms")
    for row in (results["step"], *results["kernels"]):
        spread = f"{row['ratio_min']:.2f} to {row['ratio_max']:.2f}"
        table.add_row(
            row["what"], f"{row['ratio_median']:.2f}", spread, f"{row['flagos_ms']:.3f}", f"{row['cpu_ms']:.3f}"
        )
    console, step, first = Console(), results["step"], results["first"]
    console.print(table)
    console.print(
        f"step: {step['launches']} launches, {step['operators_by_flaggems']} of {step['operators']} operators by FlagGems, "
        f"gradients differ by {step['largest_difference_of_a_gradient']:.1e} at most"
    )
    console.print(
        f"{first['what']}: median {first['s_median']:.2f} s ({first['s_min']:.2f} to {first['s_max']:.2f}, {first['slowest']}) a kernel"
    )
    console.print(" ".join(f"{name} {version}" for name, version in results["versions"].items()))


if __name__ == "__main__":
    main()
