"""A second seed channel, with FlagGems and Triton: they are large, so it is made only where they are asked for.

It comes after all other channels, so whatever those have is taken from them.
"""

from __future__ import annotations

from pathlib import Path

from flbuild import interpreter_tags, pip
from flbuild.digest import manifest
from flbuild.errors import UserError
from flbuild.layout import Layout
from flbuild.report import Report
from flbuild.seed import channel
from flbuild.seed.download import fetch
from flbuild.seed.recipes import flaggems_code, flaggems_recipe, host_facts, wheel_recipes


def wheel_list(root: Path) -> Path:
    """The hashed list of this Python version.

    Raises:
        UserError: there is none.
    """
    path = root / f"recipe/seed/flag-gems/requirements/{interpreter_tags.current().py}.txt"
    if not path.is_file():
        raise UserError(
            f"no FlagGems is pinned for this Python ({path}); run with another Python or make the list: python -m flbuild.seed.pin --flaggems"
        )
    return path


def identity(layout: Layout) -> dict[str, str]:
    """Everything that decides what the channel holds."""
    code = [layout.root / "flbuild/seed" / name for name in ("wheel.py", "recipes.py", "unpack.py", "flaggems.py")]
    made = manifest(layout.root, [*code, *flaggems_code(layout.root), wheel_list(layout.root)])
    return made | {"interpreter": host_facts()["interpreter"]} | channel.tool_versions()


def make(layout: Layout, report: Report) -> str:
    """Have the right channel in place.

    Returns:
        its URL.

    Raises:
        UserError: nothing is pinned for this Python, PyPI is out of reach, or a package cannot be built.
    """
    facts = identity(layout)
    current, why = channel.ready(layout.seed_flaggems, facts)
    if current:
        with report.stage("FlagGems channel") as stage:
            stage.skip("unchanged")
        return layout.seed_flaggems.as_uri()
    listed = wheel_list(layout.root)
    report.say(f"FlagGems and Triton: {pip.download_bytes(listed) / 1e6:.0f} MB from PyPI, disk 1.2 GB ({why})")
    with report.stage("FlagGems wheels") as stage:
        paths = fetch(layout, listed, stage)
        stage.detail = channel.said(paths)
    with report.stage("FlagGems channel") as stage:
        folder = layout.quarantine("seed-flaggems-recipes")
        gems = next(path for path in paths if path.name.startswith("flag_gems-"))
        others = wheel_recipes(layout, [path for path in paths if path != gems], folder)
        made = channel.assemble(layout, [flaggems_recipe(layout, gems, folder), *others], "seed-flaggems", stage)
        channel.put_in_place(made, facts, layout.seed_flaggems)
    return layout.seed_flaggems.as_uri()
