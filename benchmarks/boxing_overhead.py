"""What boxing costs: calls of small operators on flagos tensors against the same calls on the target's own.

Both are timed in one process, in turn, without gradients; a round's figure is a ratio, and the median over the rounds and their
quartiles are what is told. The target is the CPU on the double of tests/boxing and the card (cuda) otherwise.

    python benchmarks/boxing_overhead.py            # a table
    python benchmarks/boxing_overhead.py --json
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch_fl


def native_device() -> str:
    facts = json.loads((Path(torch_fl.__file__).parent / "compatibility.json").read_text())
    return "cpu" if facts["platform"] == "double" else "cuda"


def cases(device: str) -> dict[str, Callable[[], object]]:
    def tensor(*size, dtype=torch.float32):
        return torch.ones(size, dtype=dtype, device=device)

    x, y, wide = tensor(8, 8), tensor(8, 8), tensor(2, 4, 8, 8)
    index = torch.arange(8, device=device)
    weight, bias, image, kernel = tensor(8, 8), tensor(8), tensor(1, 3, 8, 8), tensor(4, 3, 3, 3)
    many, others = [tensor(8) for _ in range(50)], [tensor(8) for _ in range(50)]
    half = torch.bfloat16 if device != "cpu" else torch.float32
    q = tensor(1, 4, 16, 64, dtype=half)
    norm, attention = torch.nn.functional.layer_norm, torch.nn.functional.scaled_dot_product_attention
    return {
        "add": lambda: torch.add(x, y),
        "add number": lambda: torch.add(x, 1.0),
        "add_": lambda: x.add_(0.0),
        "add out": lambda: torch.add(x, x, out=y),
        "mul": lambda: torch.mul(x, y),
        "relu": lambda: torch.relu(x),
        "gelu": lambda: torch.nn.functional.gelu(x),
        "sum": lambda: torch.sum(x),
        "softmax": lambda: torch.softmax(x, -1),
        "mm": lambda: torch.mm(x, weight),
        "addmm": lambda: torch.addmm(bias, x, weight),
        "bmm": lambda: torch.bmm(wide[0], wide[1]),
        "linear": lambda: torch.nn.functional.linear(x, weight, bias),
        "layer_norm": lambda: norm(x, (8,), bias, bias),
        "conv2d": lambda: torch.conv2d(image, kernel),
        "cat": lambda: torch.cat([x, y]),
        "index": lambda: x[index],
        "index_put_": lambda: x.index_put_((index,), y),
        "embedding": lambda: torch.embedding(weight, index),
        "where": lambda: torch.where(x > 0, x, y),
        "clone": lambda: x.clone(),
        "copy_": lambda: x.copy_(y),
        "view": lambda: x.view(-1),
        "empty": lambda: torch.empty(8, 8, device=device),
        "zeros": lambda: torch.zeros(8, 8, device=device),
        "sdpa causal": lambda: attention(q, q, q, is_causal=True),
        "_foreach_add_ 50": lambda: torch._foreach_add_(many, others),
    }


def micros(call: Callable[[], object], calls: int, wait: Callable[[], None]) -> float:
    wait()
    began = time.perf_counter()
    for _ in range(calls):
        call()
    elapsed = time.perf_counter() - began  # of the host: small kernels are done before the next is queued
    wait()
    return elapsed / calls * 1e6


def measure(rounds: int, calls: int) -> list[dict]:
    native = native_device()
    wait = torch.cuda.synchronize if native == "cuda" else lambda: None
    ours, theirs = cases("flagos"), cases(native)
    rows = []
    for name in ours:
        for function in (ours[name], theirs[name]):
            micros(function, 20, wait)
        pairs = [(micros(theirs[name], calls, wait), micros(ours[name], calls, wait)) for _ in range(rounds)]
        ratios = sorted(own / base for base, own in pairs)
        low, _, high = statistics.quantiles(ratios, n=4)
        rows.append(
            {
                "operator": name,
                "native_us": statistics.median(base for base, _ in pairs),
                "flagos_us": statistics.median(own for _, own in pairs),
                "ratio": statistics.median(ratios),
                "ratio_quartiles": [low, high],
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad():
        rows = measure(arguments.rounds, arguments.calls)
    mean = statistics.geometric_mean(row["ratio"] for row in rows)
    if arguments.json:
        found = {"torch": torch.__version__, "native": native_device(), "geometric_mean": mean, "operators": rows}
        print(json.dumps(found, indent=1))
        return
    print(f"{'operator':18}{native_device() + ' us':>10}{'flagos us':>11}{'ratio':>8}   quartiles")
    for row in rows:
        low, high = row["ratio_quartiles"]
        times = f"{row['native_us']:10.2f}{row['flagos_us']:11.2f}{row['ratio']:8.3f}"
        print(f"{row['operator']:18}{times}   {low:.3f} to {high:.3f}")
    print(f"geometric mean {mean:.3f}")


if __name__ == "__main__":
    main()
