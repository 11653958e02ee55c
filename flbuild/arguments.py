"""The command line of build-locally.py. Standard library only: it is read before the tool environment exists."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

DESCRIPTION = """\
Build the torch-fl conda packages on this machine, install them into an environment and run a demonstration.

Needs Linux (x86_64, glibc), Python >= 3.10, a C++ compiler and PyPI; no conda, no pixi, no accelerator.
Everything is written to build_artifacts/ and an interrupted run is carried on by the next one."""

EXAMPLES = """\
examples:
  python3 build-locally.py               build, install and try the host platform
  python3 build-locally.py --test        the same, then run every test
  python3 build-locally.py --test --suite opinfo-full
                                         every one of PyTorch's own samples
  python3 build-locally.py --flaggems    an environment with FlagGems' Triton kernels, too
  python3 build-locally.py musa-5.1.0 --emulated
                                         an accelerator's packages, tested without a card
  python3 build-locally.py metax-3.8.1.3 --emulated --with boxing
                                         the same with the vendor's core of PyTorch, here an emulated one
  python3 build-locally.py cuda-13.0 --carry .
                                         one file that runs the tests on another machine (with --flaggems: its kernels, too)
  python3 build-locally.py --list        the variants there are
  python3 build-locally.py host --channel https://example.org/my-mirror
                                         take dependencies from a conda channel
  python3 build-locally.py --reproduce   build twice, and compare what the packages install
  python3 build-locally.py --docs        the documentation as a site, to be read from build_artifacts/docs
  python3 build-locally.py --clean       remove all that was made
"""


# What --suite may name.
ALL, FLAGGEMS, OPINFO_FULL = "all", "flaggems", "opinfo-full"


def parser() -> argparse.ArgumentParser:
    """The parser; its result has an attribute for each option."""
    made = argparse.ArgumentParser(
        prog="build-locally.py",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("variant", nargs="?", default="host", help="a file of variants/, without .yaml (default: host)")
    made.add_argument("--list", action="store_true", help="list the variants (with --emulated: those that can be built so) and stop")
    made.add_argument(
        "--channel",
        action="append",
        metavar="auto|seed|URL",
        help="where dependencies come from: `seed` makes a test channel from PyPI wheels and this Python, a URL or name is a"
        " conda channel (repeat it for several, the first comes first), `auto` (default) is conda-forge or your configured mirror if it"
        " answers within 3 s, else the seed",
    )
    made.add_argument(
        "--platform", default="linux-64", metavar="SUBDIR", help="conda platform to build for (only linux-64)"
    )
    made.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="parallel compiler runs (default: %(default)s)",
    )
    made.add_argument(
        "--test",
        action="store_true",
        help="build if needed, then run the whole test suite; its status is the exit status",
    )
    made.add_argument(
        "--with",
        dest="kernels",
        action="append",
        default=[],
        metavar="KERNELS",
        help="also build and install kernels that a platform has only where they are asked for: `boxing`, PyTorch's own on flagos tensors",
    )
    made.add_argument(
        "--libtorch",
        type=Path,
        metavar="FILE",
        help="with --with boxing, on platforms whose vendor has a PyTorch of its own: its wheel, or the folder torch of an installation",
    )
    made.add_argument(
        "--bundle",
        action="store_true",
        help="with --libtorch, make the packages of the vendor's core of PyTorch in a channel of their own, and stop there",
    )
    made.add_argument(
        "--license-file",
        type=Path,
        metavar="FILE",
        help="with --libtorch, the vendor's terms; without them the packages made of the wheel are refused for publishing",
    )
    made.add_argument(
        "--emulated",
        action="store_true",
        help="build an accelerator's variant on its emulated SDK (tests/emulation), install it and run the contract suite on it:"
        " needs no card and no SDK",
    )
    made.add_argument(
        "--subset",
        action="store_true",
        help="of an accelerator's contract suite only the short selection of its platform.toml",
    )
    made.add_argument(
        "--suite",
        choices=(ALL, FLAGGEMS, OPINFO_FULL),
        default=ALL,
        help="what --test runs: `all` (default); `flaggems`, only what needs FlagGems' kernels; or `opinfo-full`, every one"
        " of PyTorch's own samples on the device and the CPU (long: an interrupted run is carried on)",
    )
    made.add_argument(
        "--flaggems",
        action="store_true",
        help="also install FlagGems' Triton kernels, into an environment of their own (0.2 GB more to download; --test"
        " does so anyway); with --carry, put them into the file, but for Triton, which the other machine has with its PyTorch",
    )
    made.add_argument(
        "--carry",
        metavar="FOLDER",
        help="write the packages and their tests into one file in FOLDER that a machine with the accelerator runs with its own Python and"
        " PyTorch, and stop there: nothing is installed on either",
    )
    made.add_argument(
        "--demo",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="run the demonstration (default: once after each new install, unless --test)",
    )
    made.add_argument(
        "--docs",
        action="store_true",
        help="make the documentation's site in build_artifacts/docs, with every link inside it checked, and stop: no package is built (27 MB"
        " of tools to download, once)",
    )
    made.add_argument(
        "--reproduce",
        action="store_true",
        help="build the packages, build them once more in the same folder with nothing taken from a cache, and say whether both install the same"
        " bytes; the status is 1 where they do not",
    )
    made.add_argument("--json", action="store_true", help="print one JSON document of the stages instead of lines")
    made.add_argument("--clean", action="store_true", help="remove build_artifacts/ and stop")
    return made


def positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of jobs; give 1 or more")
    return number
