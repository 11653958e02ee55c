"""Whole models on flagos against the device that PyTorch has for the same hardware (cuda; the CPU where there is no card).

PyTorch's autograd serves one accelerator in a process, so each side runs in processes of its own, in turn: a round is one of
each, its figure is flagos over native, and the median over the rounds is told with the least and the greatest.

    python benchmarks/model_lane.py                          # a table
    python benchmarks/model_lane.py --json --svg lane.svg
    python benchmarks/model_lane.py --models DIR             # the model of a folder in place of the random decoder
    python benchmarks/model_lane.py --read lane.json         # what an earlier run has measured
    python benchmarks/model_lane.py --small                  # tiny networks, to see that it runs
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from lane import picture

HERE = Path(__file__).parent
AIMS = {"replayed": 1.02, "peak memory": 1.0, "first tensor, s": 1.1}  # a ratio, by how the figure's name ends
LIMITS = {"import torch_fl beyond torch, s": 0.3, "import torch_fl beyond torch, MiB": 20}  # of flagos alone


def child(script: list[str], native: bool) -> dict:
    """What a process of one side prints last, as JSON; ends the program with what it said where it fails."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))}
    environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0" if native else "1"
    done = subprocess.run([sys.executable, *script], env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(script)} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def native_device() -> str:
    program = "import json, torch_fl; print(json.dumps(torch_fl._C.native_device_type() or 'cpu'))"
    return child(["-c", program], native=False)


def rounds_of(script: list[str], native: str, rounds: int, options: list[str]) -> list[dict[str, dict]]:
    """What both sides print in each round; which one is first changes."""
    found = []
    for number in range(rounds):
        sides = ["native", "flagos"] if number % 2 == 0 else ["flagos", "native"]
        devices = {"native": native, "flagos": "flagos"}
        found.append({side: child([*script, devices[side], *options], side == "native") for side in sides})
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)  # what there is, if a later round fails
    return found


def row(name: str, pairs: list[tuple[float, float]]) -> dict:
    """A figure of both sides over the rounds; `pairs` are (native, flagos)."""
    ratios = [own / base for base, own in pairs]
    aim = next((aim for end, aim in AIMS.items() if name.endswith(end)), None)
    return {
        "what": name,
        "native": statistics.median(base for base, _ in pairs),
        "flagos": statistics.median(own for _, own in pairs),
        "ratio": statistics.median(ratios),
        "ratio_least": min(ratios),
        "ratio_greatest": max(ratios),
        "aim": aim,
    }


def compared(found: list[dict[str, dict]]) -> list[dict]:
    names = [name for name in found[0]["flagos"] if name in found[0]["native"]]
    return [row(name, [(one["native"][name], one["flagos"][name]) for one in found]) for name in names]


def measure(rounds: int, options: list[str]) -> dict:
    native = native_device()
    starts = rounds_of([str(HERE / "lane" / "start.py")], native, rounds, [])
    passes = rounds_of([str(HERE / "lane" / "side.py")], native, rounds, options)
    one = passes[0]["flagos"]
    alone = {name: [start["flagos"][name] for start in starts] for name in LIMITS}
    return {
        "torch": one["torch"],
        "card": one["card"],
        "native": native,
        "rounds": rounds,
        "options": options,
        "rows": compared(starts) + compared([{side: both[side]["found"] for side in both} for both in passes]),
        "alone": [
            {
                "what": name,
                "median": statistics.median(values),
                "least": min(values),
                "greatest": max(values),
                "aim": LIMITS[name],
            }
            for name, values in alone.items()
        ],
    }


def show(result: dict) -> None:
    print(
        f"{result['card'] or 'no card'}, PyTorch {result['torch']}, {result['rounds']} rounds; milliseconds and bytes"
    )
    print(f"{'':52}{result['native']:>14}{'flagos':>14}   ratio")
    for one in result["rows"]:
        aim = f", aim {one['aim']}" if one["aim"] else ""
        spread = f"{one['ratio']:.3f} ({one['ratio_least']:.3f} to {one['ratio_greatest']:.3f}){aim}"
        print(f"{one['what']:52}{one['native']:14.4g}{one['flagos']:14.4g}   {spread}")
    for one in result["alone"]:
        print(f"{one['what']:52}{one['median']:28.3g}   {one['least']:.3g} to {one['greatest']:.3g}, aim {one['aim']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the ratios")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each side (default: %(default)s)")
    parser.add_argument("--models", metavar="DIR", help="a folder with config.json and weights, read by transformers")
    parser.add_argument(
        "--kinds", metavar="LIST", help="of eager, replayed and reduce-overhead, with commas (default: all)"
    )
    parser.add_argument("--small", action="store_true", help="tiny networks and one call of each")
    parser.add_argument("--read", type=Path, metavar="FILE", help="show a document of --json instead of measuring")
    arguments = parser.parse_args()
    options = ["--small"] if arguments.small else []
    options += [
        word for name in ("kinds", "models") if (value := getattr(arguments, name)) for word in (f"--{name}", value)
    ]
    result = json.loads(arguments.read.read_text()) if arguments.read else measure(arguments.rounds, options)
    if arguments.svg:
        arguments.svg.write_text(picture.svg(result), "utf-8")
    print(json.dumps(result, indent=1)) if arguments.json else show(result)


if __name__ == "__main__":
    main()
