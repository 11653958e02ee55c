"""Make the seed channel: download wheels, build what is missing, put the channel in place when it is whole.

Packages are kept one by one in a store under names that carry the digest of their content, so an interrupted run loses
at most the package it was at; the channel itself is links into the store, indexed and renamed into place.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import platform
import re
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rattler.index import index_fs

from flbuild import children, interpreter_tags, pip, preflight
from flbuild.bootstrap import base_interpreter
from flbuild.digest import changes, manifest, sha256_file, sha256_text
from flbuild.errors import DISK_FULL_TEXT, UserError, disk_full
from flbuild.layout import Layout, publish, recover
from flbuild.report import Report, Stage
from flbuild.seed import wheel as wheels

TORCH = "torch"


@dataclass(frozen=True)
class Recipe:
    """One recipe to run, and the package files that it gives, relative to the channel."""

    name: str
    path: Path
    files: tuple[str, ...]
    variants: Path | None = None


def code_files(root: Path) -> list[Path]:
    """What the content of seed packages depends on besides wheels and the host."""
    here = root / "flbuild" / "seed"
    return [
        here / "wheel.py",
        here / "unpack.py",
        here / "interpreter.py",
        root / "recipe/seed/python",
        root / "recipe/seed/toolchain",
    ]


def host_facts() -> dict[str, str]:
    """What of this host goes into the channel."""
    cc, cxx = preflight.compiler("CC", "gcc"), preflight.compiler("CXX", "g++")
    return {
        "interpreter": f"{os.path.realpath(base_interpreter())} {sys.version}",
        "cc": " ".join(cc),
        "cxx": " ".join(cxx),
        "gcc": preflight.gcc_version(cxx),
        "glibc": platform.libc_ver()[1],
    }


def wheel_list(root: Path, part: str = "") -> Path:
    """The hashed list of this Python version: everything but torch; part `-cuda`: a CUDA build of torch with its libraries.

    Raises:
        UserError: there is none for this version.
    """
    path = root / "recipe" / "seed" / "wheels" / f"{interpreter_tags.current().py}{part}.txt"
    if not path.is_file():
        raise UserError(
            f"there is no wheel list for Python {preflight.python_version()} ({path}); run with another Python or make it: python -m flbuild.seed.pin"
        )
    return path


def identity(layout: Layout) -> dict[str, str]:
    """Everything that decides what the channel holds; the published channel keeps it to tell what changed."""
    lists = layout.root / "recipe" / "seed" / "wheels"
    code = manifest(layout.root, [*code_files(layout.root), *lists.glob(f"{interpreter_tags.current().py}*.txt")])
    tools = {name: importlib.metadata.version(name) for name in ("py-rattler-build", "py-rattler")}
    return code | host_facts() | tools


def ready(layout: Layout) -> tuple[bool, str]:
    """Whether the channel in place is the right one, and else why not."""
    recover(layout.seed)
    record = layout.seed / "identity.json"
    if not record.is_file():
        return False, "first run"
    old, new = json.loads(record.read_text()), identity(layout)
    return old == new, f"changed: {changes(old, new)}"


def fetch(layout: Layout, requirements: Path, stage: Stage) -> list[Path]:
    """The wheels of one list, downloaded once.

    Raises:
        UserError: PyPI is out of reach or a wheel is not the pinned one; `pip.NotFound`: there is no such release.
    """
    folder = layout.wheels / f"{requirements.stem}-{sha256_text(requirements.read_text())[:12]}"
    total, seen = requirements.read_text().count("=="), 0

    def count(line: str) -> None:
        nonlocal seen
        if line.startswith("Collecting "):
            seen += 1
            stage.advance(seen, total, line.split()[1].split("=")[0])

    pinned = set(re.findall(r"sha256:([0-9a-f]{64})", requirements.read_text()))
    whole = (folder / "whole").exists() and all(sha256_file(file) in pinned for file in folder.glob("*.whl"))
    if not whole:  # pip keeps what is there and right, and replaces what is damaged
        options = [
            "download",
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            str(folder),
            "-r",
            str(requirements),
        ]
        pip.run(sys.executable, options, layout.logs / f"wheels-{requirements.stem}.log", count)
        (folder / "whole").touch()
    return sorted(folder.glob("*.whl"))


def download(layout: Layout, stage: Stage) -> list[Path]:
    """All wheels of the channel: torch as a CPU build where pip finds one, else the CUDA build and what that needs."""
    common = fetch(layout, wheel_list(layout.root), stage)
    cpu_list = wheel_list(layout.root).with_name(f"{interpreter_tags.current().py}-cpu.txt")
    if cpu_list.is_file():
        try:
            return common + fetch(layout, cpu_list, stage)
        except pip.NotFound:
            pass
    return common + fetch(layout, wheel_list(layout.root, "-cuda"), stage)


def wheel_recipes(layout: Layout, paths: list[Path], folder: Path) -> list[Recipe]:
    """Write a recipe for each wheel."""
    code = sha256_file(layout.root / "flbuild" / "seed" / "unpack.py")  # what wheel.py decides is in the recipe itself
    known = {w.name: w for w in map(wheels.Wheel.read, paths)}
    made = []
    for name, wheel in known.items():
        content = wheels.recipe(wheel, known, code)
        path = folder / name / "recipe.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content, indent=1))  # JSON is YAML
        made.append(Recipe(name, path, (f"linux-64/{wheels.file_name(content)}",)))
    return made


def host_recipes(layout: Layout, folder: Path) -> list[Recipe]:
    """The recipes of the interpreter and the toolchain, with what they take from this host as variants."""
    facts, tags, seed = host_facts(), interpreter_tags.current(), layout.root / "recipe" / "seed"
    python_code = manifest(layout.root, [seed / "python", layout.root / "flbuild/seed/interpreter.py"]).values()
    toolchain_code = manifest(layout.root, [seed / "toolchain"]).values()
    values = {
        "seed_python_version": platform.python_version(),
        "seed_python_digest": sha256_text(facts["interpreter"], *python_code)[:8],
        "seed_tools_python": sys.executable,
        "seed_driver": str(layout.root),
        "seed_gcc_version": facts["gcc"],
        "seed_glibc_version": facts["glibc"],
        "seed_toolchain_digest": sha256_text(*facts.values(), *toolchain_code)[:8],
        "seed_cc": facts["cc"],
        "seed_cxx": facts["cxx"],
    }
    variants = folder / "host.yaml"
    variants.write_text(json.dumps({key: [value] for key, value in values.items()}))
    build = f"h{values['seed_toolchain_digest']}_0"
    return [
        Recipe(
            "python",
            seed / "python" / "recipe.yaml",
            (
                f"linux-64/python-{values['seed_python_version']}-h{values['seed_python_digest']}_0_{tags.cp}.conda",
                f"noarch/python_abi-{tags.xy}-0_{tags.cp}.conda",
            ),
            variants,
        ),
        Recipe(
            "toolchain",
            seed / "toolchain" / "recipe.yaml",
            (
                f"linux-64/gcc_linux-64-{facts['gcc']}-{build}.conda",
                f"linux-64/gxx_linux-64-{facts['gcc']}-{build}.conda",
                f"linux-64/sysroot_linux-64-{facts['glibc']}-{build}.conda",
            ),
            variants,
        ),
    ]


def stored(layout: Layout, file: str) -> bool:
    """Whether the store has a package, as it was built."""
    package = layout.seed_packages / file
    record = package.with_name(package.name + ".sha256")
    return package.is_file() and record.is_file() and record.read_text() == sha256_file(package)


def build_missing(layout: Layout, recipes: list[Recipe], stage: Stage) -> None:
    """Build what the store lacks, the big one (torch) beside the rest.

    Raises:
        UserError: a package could not be built; its log is named.
    """
    missing = [r for r in recipes if not all(stored(layout, file) for file in r.files)]
    groups = [[r for r in missing if r.name == TORCH], [r for r in missing if r.name != TORCH]]
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
            for future in as_completed([pool.submit(run, i, g) for i, g in enumerate(groups) if g]):
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


def compiler_variants(facts: dict[str, str]) -> dict[str, list[str]]:
    """Variant keys that the product must take from this channel, whatever conda_build_config.yaml says."""
    tags = interpreter_tags.current()
    return {
        "c_compiler": ["gcc"],
        "cxx_compiler": ["gxx"],
        "c_compiler_version": [facts["gcc"].split(".")[0]],
        "cxx_compiler_version": [facts["gcc"].split(".")[0]],
        "c_stdlib": ["sysroot"],
        "c_stdlib_version": [facts["glibc"]],
        "python": [f"{tags.xy}.* *_{tags.cp}"],
    }


def make(layout: Layout, report: Report) -> str:
    """Have the right seed channel in place.

    Returns:
        the digest of its identity.
    """
    current, why = ready(layout)
    if current:
        with report.stage("seed channel") as stage:
            stage.skip("unchanged")
        return sha256_text(json.dumps(identity(layout), sort_keys=True))
    size = pip.download_bytes(wheel_list(layout.root)) / 1e9
    report.say(
        f"seed channel: {size:.1f} GB of wheels from PyPI and torch (0.2 GB, or 2.7 GB where pip finds no CPU build), disk 1.5 GB or 9 GB ({why})"
    )
    with report.stage("wheels") as stage:
        paths = download(layout, stage)
        stage.detail = f"{len(paths)} wheels, {sum(p.stat().st_size for p in paths) / 1e6:.0f} MB, hashes checked"
    with report.stage("seed channel") as stage:
        folder = layout.quarantine("seed-recipes")
        recipes = [*wheel_recipes(layout, paths, folder), *host_recipes(layout, folder)]
        build_missing(layout, recipes, stage)
        made, facts = layout.quarantine("seed"), identity(layout)
        for file in (name for recipe in recipes for name in recipe.files):
            (made / file).parent.mkdir(exist_ok=True)
            os.link(layout.seed_packages / file, made / file)
        asyncio.run(index_fs(made, force=True))
        (made / "variants.yaml").write_text(json.dumps(compiler_variants(facts), indent=1))
        (made / "identity.json").write_text(json.dumps(facts, indent=1, sort_keys=True))
        publish(made, layout.seed)
        stage.detail = f"{sum(len(r.files) for r in recipes)} packages"
    return sha256_text(json.dumps(facts, sort_keys=True))
