"""The test files of a run: which there are, which were asked for, which run by themselves."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from carried.checks import Unfit

# They count, fill or wear out the device's memory, which all processes share.
ALONE = ("test_memory.py", "test_out_of_memory.py", "test_lifetime_leaks.py")
SUITE = "torch_fl_tests"


@dataclass(frozen=True)
class TestFile:
    """One of pytest's processes."""

    name: str  # as it is told, and the name of its log
    target: tuple[str, ...]  # what pytest is given


@dataclass(frozen=True)
class Files:
    together: list[TestFile]
    alone: list[TestFile]

    @classmethod
    def of(cls, folder: Path, facts: dict, platform: str, args: argparse.Namespace) -> Files:
        """The contract's files, the platform's own, and the other suites of the archive.

        Raises:
            Unfit: a name that was asked for is none of them.
        """
        site = folder / facts["site"]
        packages = {package: sorted((site / package).glob("test_*.py")) for package in (SUITE, f"{SUITE}_{platform}")}
        if args.subset:
            chosen = json.loads((site / "torch_fl" / "platform.json").read_text()).get("tests", {})
            short = dict(zip(packages, (chosen.get("subset", []), chosen.get("own_subset", [])), strict=True))
            packages = {package: [file for file in files if file.name in short[package]] for package, files in packages.items()}
        found = {
            f"{package}/{file.name}": TestFile(f"{package}.{file.stem}", ("--pyargs", f"{package}.{file.stem}"))
            for package, files in packages.items()
            for file in files
        }
        for suite in [] if args.subset else facts["suites"]:
            found |= {
                f"{suite}/{file.name}": TestFile(f"{suite}.{file.stem}", (f"--rootdir={folder / 'tests'}", str(file)))
                for file in sorted((folder / "tests" / suite).glob("test_*.py"))
            }
        for asked in args.only or []:
            if not any(matches(path, asked) for path in found):
                raise Unfit(f"--only {asked}: the archive has no test file of that name")
        wanted = {path: file for path, file in found.items() if not args.only or any(matches(path, name) for name in args.only)}
        apart = {path for path in wanted if any(matches(path, name) for name in args.alone or ALONE)}
        return cls([file for path, file in wanted.items() if path not in apart], [wanted[path] for path in sorted(apart)])


def matches(path: str, name: str) -> bool:
    """`test_views.py`, `torch_fl_tests/test_views.py`, or the suite `boxing`."""
    return name in (path, path.rpartition("/")[2], path.partition("/")[0])
