"""The reference page of operators: what routing files, surveys and runs of PyTorch's samples say, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from flbuild.docs.reference import FILTERED, table

ROUTE = re.compile(r"^(?P<operator>\w[\w.]*) *= *(?P<chain>[^#]*)")
SLOT = re.compile(r"(?P<slot>\w+)(?:\[[^\]]*\])?(?:,|\s*$)")


def routing_files(root: Path) -> list[Path]:
    """The routing files that are shipped, the host platform's first."""
    return [*sorted((root / "python/torch_fl/configs").glob("*.conf")), *sorted((root / "src/platforms").glob("*/routes/*.conf"))]


def routes(file: Path) -> dict[str, str]:
    """The slots of each operator's chain, in order, once each."""
    found = {}
    for line in file.read_text("utf-8").splitlines():
        if match := ROUTE.match(line):
            found[match["operator"]] = ", ".join(dict.fromkeys(step["slot"] for step in SLOT.finditer(match["chain"])))
    return found


def surveys(root: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each survey's name, and for each operator the types for which FlagGems' kernel was right, and was not."""
    for file in sorted((root / "docs").glob("survey*.json")):
        found = {}
        for operator in json.loads(file.read_text("utf-8"))["operators"]:
            said: dict[str, list[str]] = {}
            for trial in operator.get("trials", ()):
                if verdict := trial.get("verdict"):
                    said.setdefault(verdict, []).append(trial["dtype"])
            found[operator["operator"]] = "; ".join(f"{verdict}: {', '.join(types)}" for verdict, types in sorted(said.items()))
        yield file.stem, found


def samples(root: Path) -> list[list[object]]:
    """A row for each run of PyTorch's samples."""
    rows = []
    for file in [root / "docs/opinfo.json", *sorted((root / "src/platforms").glob("*/opinfo.json"))]:
        if file.is_file():
            said = json.loads(file.read_text("utf-8"))
            place = file.relative_to(root).as_posix()
            name = "host" if file.parent.name == "docs" else file.parent.name
            totals = said["totals"]
            rows.append([f"`{name}`", f"{totals['pass']:,} of {totals['cases'] - totals['refused']:,}", totals["fail"], totals["crash"],
                         said["torch"], said["date"], f"[{file.name}](/{place})"])  # fmt: skip
    return rows


def page(root: Path) -> str:
    """The page, in Markdown."""
    tables = {file.stem.removeprefix("backends_"): routes(file) for file in routing_files(root)}
    columns = {f"routes: `{name}`": found for name, found in tables.items() if found}
    columns |= {f"FlagGems, `{name}`": found for name, found in surveys(root)}
    names = sorted({name for found in columns.values() for name in found})
    rows = [[f"`{name}`", *(found.get(name, "") for found in columns.values())] for name in names]
    heads = ["platform", "alike", "fail", "crash", "PyTorch", "date", "numbers"]
    return (
        "# Operators\n\nEvery operator works on every platform: what no kernel of the device serves, the CPU's serves. These tables say which"
        " are named in a routing file, to which slots in which order (the conditions are in the file), and what the surveys of FlagGems' kernels found."
        " An empty cell: the operator goes where it goes without a route. `torch-fl routes` shows the table in force.\n\n"
        f"## PyTorch's own samples\n\n{table(heads, samples(root))}\n## Routes and surveys\n\n{FILTERED}{table(['operator', *columns], rows)}"
    )
