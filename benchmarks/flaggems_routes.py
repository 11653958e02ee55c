"""What the routes to FlagGems cost as they are routed: each call against PyTorch's own kernel for the card, at sizes of large models.

The routes are the installation's own; nothing is rerouted. A call through its route takes turns in one process with the same call of the
card's own tensors over the same memory; a figure is the median over the rounds of flagos over the card, with its quartiles. What
boxing would add to the card's side is not in it, so that against boxing the routes stand no worse. Run `torch-fl warm` before:
what is compiled or tuned here is compiled and tuned within the first call, which is not timed.

    python benchmarks/flaggems_routes.py            # a table
    python benchmarks/flaggems_routes.py --json
"""

import argparse
import json
import statistics
import sys

import torch
from torch_fl.survey import cost, enlarge, index, recipe, seam, sources, warm

DTYPES = "float32,bfloat16,float16"


def measured(key: str, dtype: str, entries: dict[str, list[str]]) -> dict | None:
    """One operator with one dtype; None where its route does not lead to FlagGems, or no call of that dtype is known."""
    large = enlarge.large(sources.all_calls(key, getattr(torch, dtype), entries, "quick"))
    if large is None:
        return None
    row = {"operator": key, "dtype": dtype, "call": recipe.text_of(large.tree), "enlarged": large.enlarged}
    try:
        found = cost.measure(key, large.tree, large.enlarged)
    except Exception as error:  # noqa: BLE001 - whatever a kernel says to that size
        return row | {"failure": f"{type(error).__name__}: {error}".splitlines()[0]}
    finally:
        if not seam.usable():
            raise SystemExit(f"{key} with {dtype} has ended the use of the card: {row['call']}")
        seam.release()
    if found.ratio is None:
        return None
    return row | {"ratio": found.ratio, "ratio_quartiles": found.spread, "milliseconds": found.milliseconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--dtype", default=DTYPES, help="with commas between them (default: %(default)s)")
    arguments = parser.parse_args()
    if seam.native() is None:
        raise SystemExit("this compares with the card's own kernels, which are not here; install torch-fl-vendor-kernels on a machine with a card")
    keys = warm.routed()
    if not keys:
        raise SystemExit("no operator is routed to FlagGems here; install torch-fl-flaggems")
    torch.set_num_threads(1)
    entries = index.entries_of(sources.needed(keys))
    rows = []
    for key in keys:
        for dtype in arguments.dtype.split(","):
            if row := measured(key, dtype, entries):
                rows.append(row)
                print(f"{key} {dtype}: {row.get('ratio', row.get('failure'))}", file=sys.stderr, flush=True)
    timed = [row for row in rows if "ratio" in row]
    mean = statistics.geometric_mean(row["ratio"] for row in timed)
    if arguments.json:
        print(json.dumps({"torch": torch.__version__, "native": str(seam.native()), "geometric_mean": mean, "calls": rows}, indent=1))
        return
    print(f"{'operator':28}{'dtype':10}{'card ms':>10}{'flagos ms':>11}{'ratio':>8}   quartiles")
    for row in timed:
        (ours, theirs), (low, high) = row["milliseconds"], row["ratio_quartiles"]
        print(f"{row['operator']:28}{row['dtype']:10}{theirs:10.4f}{ours:11.4f}{row['ratio']:8.3f}   {low:.3f} to {high:.3f}")
    print(f"geometric mean {mean:.3f} of {len(timed)}; {len(rows) - len(timed)} failed")


if __name__ == "__main__":
    main()
