"""Make the seed channel: download wheels, build what is missing, put the channel in place when it is whole.

Packages are kept one by one in a store under names that carry the digest of their content, so an interrupted run loses
at most the package it was at; the channel itself is links into the store, indexed and renamed into place.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rattler.index import index_fs

from flbuild import children, pip
from flbuild.digest import changes, manifest, sha256_file, sha256_text
from flbuild.errors import DISK_FULL_TEXT, UserError, disk_full
from flbuild.jobs import run as run_worker
from flbuild.layout import Layout, publish, recover
from flbuild.report import Report, Stage
from flbuild.seed.download import download, lists
from flbuild.seed.recipes import Recipe, compiler_variants, host_facts, host_recipes, share_out, wheel_recipes

# Disk for each byte of wheels: the wheel, its package, what that unpacks to (environments are hard links), and building.
DISK_FACTOR = 5.5
WORKERS = 2  # a process holds a gigabyte while it packs torch


def code_files(root: Path) -> list[Path]:
    """What the content of seed packages depends on besides wheels and the host."""
    here = root / "flbuild" / "seed"
    return [
        here / "wheel.py",
        here / "recipes.py",
        here / "unpack.py",
        here / "interpreter.py",
        root / "recipe/seed/python",
        root / "recipe/seed/toolchain",
    ]


def tool_versions() -> dict[str, str]:
    """The tools whose versions show in packages."""
    return {name: importlib.metadata.version(name) for name in ("py-rattler-build", "py-rattler")}


def identity(layout: Layout) -> dict[str, str]:
    """Everything that decides what the channel holds; the published channel keeps it to tell what changed."""
    code = manifest(layout.root, [*code_files(layout.root), *lists(layout)])
    return code | host_facts() | tool_versions()


def ready(place: Path, new: dict[str, str]) -> tuple[bool, str]:
    """Whether the channel in place is the one with this identity, and else why not."""
    recover(place)
    record = place / "identity.json"
    if not record.is_file():
        return False, "first run"
    old = json.loads(record.read_text())
    return old == new, f"changed: {changes(old, new)}"


def stored(layout: Layout, file: str) -> bool:
    """Whether the store has a package, as it was built."""
    package = layout.seed_packages / file
    record = package.with_name(package.name + ".sha256")
    return package.is_file() and record.is_file() and record.read_text() == sha256_file(package)


def build_missing(layout: Layout, recipes: list[Recipe], stage: Stage) -> None:
    """Build what the store lacks, in two processes side by side.

    Raises:
        UserError: a package could not be built; its log is named.
    """
    missing = [r for r in recipes if not all(stored(layout, file) for file in r.files)]
    groups = share_out(missing, WORKERS)
    done = 0

    def count(line: str) -> None:
        nonlocal done
        done += 1
        stage.advance(done, len(missing), line.removeprefix("built "))

    def run(index: int, group: list[Recipe]) -> tuple[int, Path]:
        output, log = layout.quarantine(f"seed-{index}"), layout.logs / f"seed-{index}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")
        job = output / "job.json"
        items = [
            {"name": r.name, "recipe": str(r.path), "variants": [str(r.variants)] if r.variants else None}
            for r in group
        ]
        job.write_text(
            json.dumps(
                {"kind": "seed", "recipes": items, "output": str(output / "out"), "store": str(layout.seed_packages)}
            )
        )
        env = os.environ | {"PYTHONPATH": str(layout.root), "RATTLER_CACHE_DIR": str(output / "cache")}
        return children.run([sys.executable, "-B", "-m", "flbuild.worker", str(job)], log, layout.work, env, count), log

    with ThreadPoolExecutor() as pool:
        try:
            for future in as_completed([pool.submit(run, i, g) for i, g in enumerate(groups)]):
                status, log = future.result()
                if status:
                    raise failure(layout, log)
        except BaseException:
            children.end_all()
            raise


def failure(layout: Layout, log: Path) -> UserError:
    """The sentence for a seed package that could not be built."""
    text = log.read_text(errors="replace").strip()
    if DISK_FULL_TEXT in text:
        return disk_full(layout.artifacts)
    return UserError(
        f"a seed package could not be built: {text.splitlines()[-1] if text else 'no reason was given'}; the whole log is {log}"
    )


def test_interpreter(layout: Layout, channel: Path) -> None:
    """Run the tests of the one package whose content depends most on the host.

    Raises:
        UserError: this interpreter cannot be repackaged.
    """
    packages = [str(file) for file in channel.glob("linux-64/python-3*.conda")]
    cache = layout.quarantine("seed-cache")
    run_worker(layout, {"kind": "test", "packages": packages, "channels": [channel.as_uri()]}, "test-seed", 1, cache)


def assemble(layout: Layout, wanted: list[Recipe], name: str, stage: Stage) -> Path:
    """Build what is missing and put links to all packages into a new, indexed channel."""
    build_missing(layout, wanted, stage)
    made = layout.quarantine(name)
    for file in (name for recipe in wanted for name in recipe.files):
        (made / file).parent.mkdir(exist_ok=True)
        os.link(layout.seed_packages / file, made / file)
    asyncio.run(index_fs(made, force=True))
    stage.detail = f"{sum(len(r.files) for r in wanted)} packages"
    return made


def put_in_place(made: Path, facts: dict[str, str], place: Path) -> None:
    """Publish a channel with its identity."""
    (made / "identity.json").write_text(json.dumps(facts, indent=1, sort_keys=True))
    publish(made, place)


def make(layout: Layout, report: Report) -> str:
    """Have the right seed channel in place.

    Returns:
        the digest of its identity.
    """
    facts = identity(layout)
    current, why = ready(layout.seed, facts)
    if current:
        with report.stage("seed channel") as stage:
            stage.skip("unchanged")
        return sha256_text(json.dumps(facts, sort_keys=True))
    report.say(f"seed channel: {announced(layout)} ({why})")
    with report.stage("wheels") as stage:
        paths = download(layout, stage)
        stage.detail = said(paths)
    with report.stage("seed channel") as stage:
        folder = layout.quarantine("seed-recipes")
        made = assemble(layout, [*wheel_recipes(layout, paths, folder), *host_recipes(layout, folder)], "seed", stage)
        test_interpreter(layout, made)
        (made / "variants.yaml").write_text(json.dumps(compiler_variants(facts), indent=1))
        put_in_place(made, facts, layout.seed)
    return sha256_text(json.dumps(facts, sort_keys=True))


def announced(layout: Layout) -> str:
    """What will be downloaded and what disk that takes, for a person.

    Raises:
        UserError: there is not so much room.
    """
    sizes = [pip.download_bytes(file) / 1e9 for file in lists(layout)]
    if not layout.torch:
        return (
            f"{sizes[0]:.1f} GB of wheels from PyPI and torch (0.2 GB, or 2.7 GB where pip finds no CPU build), disk 1.5 GB or 9 GB"
        )
    need = DISK_FACTOR * sum(sizes)
    room = shutil.disk_usage(layout.root).free / 1e9
    there = sum(file.stat().st_size for file in [*layout.wheels.rglob("*.whl"), *layout.seed_packages.rglob("*.conda")]) / 1e9
    if room + there < need:
        raise UserError(
            f"{layout.artifacts} has {room:.0f} GB free, and a channel with PyTorch {layout.torch} and its libraries takes {need:.0f} GB with"
            " an environment made of it; free some, clone onto a larger disk, or give a conda channel with --channel."
        )
    return f"{sum(sizes):.1f} GB of wheels from PyPI, disk {need:.0f} GB with an environment"


def said(paths: list[Path]) -> str:
    """What a stage says of downloaded wheels."""
    return f"{len(paths)} wheels, {sum(p.stat().st_size for p in paths) / 1e6:.0f} MB, hashes checked"
