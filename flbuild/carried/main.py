"""`python3 torch-fl-VARIANT.pyz --output FOLDER`: unpack the packages, see that they fit, run the suites, write the evidence."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from carried import checks, runner
from carried.files import ALONE, Files
from carried.junit import merge


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def parser(facts: dict) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=f"torch-fl-{facts['variant']}.pyz",
        description=f"Run the tests of torch-fl for {facts['variant']} with the Python {facts['python']} and PyTorch {facts['torch']} of this"
        " machine, and write a file of evidence. Nothing is installed.",
    )
    made.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where evidence and logs go")
    made.add_argument("--unpack", type=Path, metavar="FOLDER", help="unpack here and leave it (default: a folder that goes at the end)")
    made.add_argument("--jobs", type=positive, default=os.cpu_count(), metavar="N", help="test files at a time (default: %(default)s)")
    made.add_argument("--only", action="append", metavar="NAME", help="only test files of that name, such as test_views.py (repeatable)")
    made.add_argument("--subset", action="store_true", help="only the short selection of the platform")
    made.add_argument(
        "--alone", action="append", metavar="NAME", help=f"files that run by themselves after the others (default: {', '.join(ALONE)})"
    )
    made.add_argument("--test-limit", type=positive, default=300, metavar="S", help="seconds for a test (default: %(default)s)")
    made.add_argument("--file-limit", type=positive, default=900, metavar="S", help="seconds for a test file (default: %(default)s)")
    made.add_argument(
        "--deadline", type=positive, metavar="S", help="seconds for everything: what has not ended then is an error in the evidence"
    )
    made.add_argument(
        "--benchmark",
        action="append",
        default=[],
        metavar='"NAME [ARGUMENTS]"',
        help=f"run it after the tests, one at a time; there are {', '.join(facts['benchmarks']) or 'none'} (repeatable)",
    )
    made.add_argument("--no-tests", action="store_true", help="only the benchmarks; writes no evidence")
    return made


def told(words: list[str], folders: list[Path | None]) -> list[str]:
    """The command as the evidence tells it: where a folder lies on that machine is nobody's matter."""
    for folder in filter(None, folders):
        words = [word.replace(str(folder), folder.resolve().name) for word in words]
    return words


def main(argv: list[str] | None = None) -> int:
    archive = Path(sys.argv[0]).resolve()
    with zipfile.ZipFile(archive) as opened:
        facts = json.loads(opened.read("facts.json"))
        args = parser(facts).parse_args(argv)
        try:
            checks.interpreter(facts)
            benchmarks = checks.benchmarks(facts, args.benchmark)
            names = opened.namelist()
            files = None if args.no_tests else Files.of(names, facts, args, json.loads(opened.read(f"{facts['site']}/torch_fl/platform.json")))
            with tempfile.TemporaryDirectory(prefix="torch-fl-") as scratch:
                folder = args.unpack or Path(scratch)
                opened.extractall(folder)
                return run(folder.resolve(), facts, args, files, benchmarks)
        except checks.Unfit as error:
            print(f"{archive.name}: {error}", file=sys.stderr)
            return 2


def run(folder: Path, facts: dict, args: argparse.Namespace, files: Files | None, benchmarks: list[list[str]]) -> int:
    """Everything after unpacking; the exit status is 0 when all that ran passed."""
    begun, started = datetime.now(timezone.utc), time.monotonic()
    output, site = args.output.resolve(), folder / facts["site"]
    logs = output / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    env = checks.environment(site, args.jobs)
    torch = checks.fits(facts, env, folder)
    about = checks.device(facts, env, folder)
    print(f"{facts['variant']} on {', '.join(device['name'] for device in about['devices'])}, PyTorch {torch}", flush=True)
    deadline = started + args.deadline if args.deadline else None
    status = 0
    if files:
        limits = runner.Limits(args.test_limit, args.file_limit, deadline)
        outcomes = runner.run(files, folder, env, logs, args.jobs, limits)
        status = int(any(outcome.failed for outcome in outcomes))
        merge(outcomes, logs / "junit.xml")
        evidence = output / f"evidence-{facts['platform']}.json"
        command = ["python3", f"torch-fl-{facts['variant']}.pyz", *told(sys.argv[1:], [args.output, args.unpack])]
        said = {"about": about, "command": command, "status": status, "begun": begun.isoformat()}
        print(checks.write_evidence(env, folder, said, logs / "junit.xml", evidence))
    for words in benchmarks:
        status = runner.benchmark(folder / "benchmarks" / words[0], words[1:], env, output, deadline) or status
    runner.pack(logs)
    print(f"logs: {logs.with_suffix('.zip')}; {shlex.join(sys.argv)} took {time.monotonic() - started:.0f} s")
    return status
