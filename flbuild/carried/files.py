"""The test files of a run: which there are, which were asked for, which run by themselves."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import PurePosixPath

from carried.checks import Unfit

# They count, fill or wear out the device's memory, which all processes share.
ALONE = ("test_memory.py", "test_out_of_memory.py", "test_lifetime_leaks.py")
SUITE = "torch_fl_tests"


@dataclass(frozen=True)
class TestFile:
    """One of pytest's processes."""

    suite: str
    path: str  # in the archive
    packaged: bool  # a module of an installed package, and not a file beside it

    @property
    def name(self) -> str:
        """As it is told, and the name of its log."""
        return f"{self.suite}.{PurePosixPath(self.path).stem}"

    def is_called(self, name: str) -> bool:
        """`test_views.py`, `torch_fl_tests/test_views.py`, or a whole suite: `boxing`."""
        file = PurePosixPath(self.path).name
        return name in (file, f"{self.suite}/{file}", self.suite)


@dataclass(frozen=True)
class Files:
    together: list[TestFile]
    alone: list[TestFile]

    @classmethod
    def of(cls, names: list[str], facts: dict, args: argparse.Namespace, platform: dict) -> Files:
        """The contract's files, the platform's own, and the other suites of the archive.

        Args:
            names: all files of the archive.
            platform: the facts of platform.toml.

        Raises:
            Unfit: a name that was asked for is none of them.
        """
        own, short = f"{SUITE}_{facts['platform']}", platform.get("tests", {})
        folders = {f"{facts['site']}/{package}": (package, True) for package in (SUITE, own)}
        folders |= {f"tests/{suite}": (suite, False) for suite in facts["suites"]}
        found = []
        for name in sorted(names):
            folder, _, file = name.rpartition("/")
            if folder in folders and file.startswith("test_") and file.endswith(".py"):
                suite, packaged = folders[folder]
                chosen = short.get({SUITE: "subset", own: "own_subset"}.get(suite, ""), [])
                if not args.subset or file in chosen:
                    found.append(TestFile(suite, name, packaged))
        for asked in args.only or []:
            if not any(file.is_called(asked) for file in found):
                raise Unfit(f"--only {asked}: there is no such test file; there are, for instance, {', '.join(f.name for f in found[:3])}")
        wanted = [file for file in found if not args.only or any(map(file.is_called, args.only))]
        apart = [file for file in wanted if any(map(file.is_called, args.alone or ALONE))]
        return cls([file for file in wanted if file not in apart], apart)
