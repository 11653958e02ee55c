"""Teach an installed FlagGems the vendor `flagos`: `add_vendor.py SITE_PACKAGES`.

FlagGems 5.0.2 has a closed list of vendors and stops at import where it finds none of them, which no code outside it
can change.  This adds one member to that list, the folder `_flagos` that lies beside this file, and a tuning table with
one configuration for each operator, chosen from FlagGems' own: with a single one nothing is timed at run time.
A second run changes nothing.
"""

from __future__ import annotations

import ast
import base64
import csv
import hashlib
import itertools
import math
import shutil
import sys
from importlib.metadata import PathDistribution, distributions
from pathlib import Path

from ruamel.yaml import YAML

VERSION = "5.0.2"
TEMPLATE = Path(__file__).with_name("_flagos")
yaml = YAML(typ="safe")
yaml.default_flow_style = None


def find(site_packages: Path) -> PathDistribution:
    """The installed FlagGems.

    Raises:
        SystemExit: there is none, or it is another version.
    """
    for distribution in distributions(path=[str(site_packages)], name="flag-gems"):
        if distribution.version == VERSION:
            return distribution
        raise SystemExit(
            f"{site_packages} holds FlagGems {distribution.version}, but the vendor flagos is written for {VERSION}: install flag-gems=={VERSION}"
        )
    raise SystemExit(f"{site_packages} holds no FlagGems: install flag-gems=={VERSION}")


def add_member(common: Path) -> None:
    """Append FLAGOS to the Enum of vendors, after its last member."""
    text = common.read_text()
    (vendors,) = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == "vendors"]
    members = {n.targets[0].id: n for n in vendors.body if isinstance(n, ast.Assign)}
    if "FLAGOS" in members:
        return
    last = max(members.values(), key=lambda n: n.lineno)
    lines = text.splitlines(keepends=True)
    number = 1 + max(ast.literal_eval(n.value) for n in members.values())
    lines.insert(last.end_lineno, f"{' ' * last.col_offset}FLAGOS = {number}\n")
    common.write_text("".join(lines))


def expand(entry: dict) -> list[dict]:
    """The plain configurations that an entry of a tuning table stands for."""
    if "gen" not in entry:
        return [entry]
    fields = dict(entry["param_map"])
    meta = fields.pop("META")
    axes = {("META", key): value for key, value in meta.items()} if isinstance(meta, dict) else {("META",): meta}
    axes |= {(key,): value for key, value in fields.items()}
    choices = [entry[value] if isinstance(value, str) else [value] for value in axes.values()]
    configurations = []
    for values in itertools.product(*choices):
        made: dict = {"META": {}}
        for path, value in zip(axes, values, strict=True):
            *outer, key = path
            (made["META"] if outer else made)[key] = value
        configurations.append(made)
    return configurations


def smallest(entries: list[dict]) -> dict:
    """The first configuration with the smallest tile: it fits a cache, and a small tensor fills it best."""
    return min(
        itertools.chain(*map(expand, entries)),
        key=lambda made: math.prod(value for value in made["META"].values() if type(value) is int),
    )


def write_tuning(default: Path, ours: Path) -> None:
    """One configuration for each operator that FlagGems tunes."""
    ours.write_text(
        "# One configuration an operator, written by torch-fl's recipe of flag-gems from FlagGems' defaults.\n"
    )
    with ours.open("a") as file:
        yaml.dump({name: [smallest(entries)] for name, entries in yaml.load(default).items()}, file)


def update_record(distribution: PathDistribution, site_packages: Path, changed: list[Path]) -> None:
    """Name the files in the distribution's RECORD, so that it can be checked and removed as a whole."""
    record = next(Path(distribution.locate_file(f)) for f in distribution.files if f.name == "RECORD")
    rows = {row[0]: row for row in csv.reader(record.read_text().splitlines())}
    for file in changed:
        content = file.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        name = file.relative_to(site_packages).as_posix()
        rows[name] = [name, f"sha256={digest}", str(len(content))]
    with record.open("w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows.values())


def main(site_packages: Path) -> None:
    distribution = find(site_packages)
    runtime = site_packages / "flag_gems" / "runtime"
    ours = runtime / "backend" / "_flagos"
    add_member(runtime / "common.py")
    shutil.copytree(TEMPLATE, ours, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    write_tuning(runtime / "backend" / "_nvidia" / "tune_configs.yaml", ours / "tune_configs.yaml")
    files = sorted(f for f in ours.rglob("*") if f.is_file() and f.suffix != ".pyc")
    update_record(distribution, site_packages, [runtime / "common.py", *files])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(__file__).name} SITE_PACKAGES")
    main(Path(sys.argv[1]))
