"""Build a variant again in the same folder, with nothing taken from a cache, and compare what the packages install."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch_fl_lab import payload

from flbuild import build
from flbuild.errors import UserError
from flbuild.layout import Layout, remove
from flbuild.report import Report


def run(
    layout: Layout,
    report: Report,
    variant: Path,
    built: build.Built,
    channels: list[str],
    jobs: int,
    extra_variants: list[Path],
    variables: Mapping[str, str],
) -> int:
    """Say of each package of the channel whether a second build gives the same payload.

    Args:
        built: the first build's packages.

    Returns:
        0 where all of them are the same, else 1.

    Raises:
        UserError: the second build has other packages.
    """
    report.say(f"\n{variant.stem} once more, from nothing", style="bold")
    made = build.compile_packages(layout, report, variant, channels, jobs, extra_variants, variables, cached=False)
    output = made[0].parents[1]
    again = {path.relative_to(output).as_posix(): path for path in made}
    if again.keys() != set(built.packages):
        raise UserError(f"the second build has other packages: {', '.join(sorted(again.keys() ^ set(built.packages)))}; the sources were changed in between.")
    rows = []
    for name in sorted(again):
        first, second = payload.files(layout.channel / name), payload.files(again[name])
        differing = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
        rows.append({"package": name, "payload": payload.digest(layout.channel / name), "differing": differing})
        report.say(f"  {'differs: ' + ', '.join(differing[:3]) if differing else rows[-1]['payload']}  {name}")
    remove(output)
    report.results["payloads"] = rows
    same = not any(row["differing"] for row in rows)
    report.say("every payload is the same" if same else "payloads differ")
    return 0 if same else 1
