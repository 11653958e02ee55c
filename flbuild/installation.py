"""Solve an environment and have it installed, as two stages of a run."""

from __future__ import annotations

from pathlib import Path

from flbuild import environment, solve
from flbuild.layout import Layout
from flbuild.report import Report


def install(layout: Layout, report: Report, name: str, urls: list[str], wanted: list[str]) -> Path:
    """The folder of the environment `name`, which has what is wanted from these channels, the first one first."""
    prefix, made = layout.environment(name), layout.work / f"{name}.lock"
    with report.stage(f"solve {name}") as stage:
        records = solve.lock(urls, wanted, made)
        stage.detail = f"{len(records)} packages"
    if not environment.is_current(prefix, made):
        report.say(environment.sizes(records))
    with report.stage(f"environment {name}") as stage:
        if environment.is_current(prefix, made):
            stage.skip("unchanged")
        else:
            environment.make(prefix, made, records, layout.package_cache / "pkgs", stage)
            stage.detail = f"{len(records)} packages, hashes checked"
    return prefix
