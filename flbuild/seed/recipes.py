"""All recipes of the seed channel: the wheels', the interpreter's, the toolchain's."""

from __future__ import annotations

import json
import os
import platform
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from flbuild import interpreter_tags, preflight
from flbuild.tool_environment import base_interpreter
from flbuild.digest import manifest, sha256_file, sha256_text
from flbuild.layout import Layout
from flbuild.seed import wheel as wheels


@dataclass(frozen=True)
class Recipe:
    """One recipe to run, and the package files that it gives, relative to the channel."""

    name: str
    path: Path
    files: tuple[str, ...]
    variants: Path | None = None
    seconds: float = 10.0  # roughly, to share the work out evenly


# Measured on two cores: what unpacking and packing a megabyte, and compiling and packing a Python file, take.
SECONDS_A_MEGABYTE, SECONDS_A_MODULE = 0.15, 0.006


def estimate(wheel: Path) -> float:
    """About how many seconds a wheel's package takes."""
    with zipfile.ZipFile(wheel) as archive:
        modules = sum(name.endswith(".py") for name in archive.namelist())
    return wheel.stat().st_size / 1e6 * SECONDS_A_MEGABYTE + modules * SECONDS_A_MODULE


def share_out(recipes: list[Recipe], workers: int) -> list[list[Recipe]]:
    """Groups that take about as long as each other: the longest first, each to the group with least to do."""
    groups: list[list[Recipe]] = [[] for _ in range(workers)]
    for recipe in sorted(recipes, key=lambda r: (-r.seconds, r.name)):
        min(groups, key=lambda group: sum(r.seconds for r in group)).append(recipe)
    return [group for group in groups if group]


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


def wheel_recipes(layout: Layout, paths: list[Path], folder: Path) -> list[Recipe]:
    """Write the recipes of each wheel."""
    code = sha256_file(layout.root / "flbuild" / "seed" / "unpack.py")  # what wheel.py decides is in the recipe itself
    known = {w.name: w for w in map(wheels.Wheel.read, paths)}
    made = []
    for wheel in known.values():
        for content in wheels.recipes(wheel, known, code):
            name = content["package"]["name"]
            path = folder / name / "recipe.yaml"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(content, indent=1))  # JSON is YAML
            wheel.extract_licenses(path.parent / wheels.LICENSES)
            made.append(Recipe(name, path, (f"linux-64/{wheels.file_name(content)}",), seconds=estimate(wheel.path)))
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


def flaggems_recipe(layout: Layout, wheel: Path, folder: Path) -> Recipe:
    """FlagGems' recipe, with its wheel as a variant."""
    tags, known, seed = interpreter_tags.current(), wheels.Wheel.read(wheel), layout.root / "recipe/seed/flag-gems"
    code = manifest(layout.root, [*flaggems_code(layout.root), layout.root / "flbuild/seed/unpack.py"])
    digest = sha256_text(known.sha256, *code.values())[:8]
    variants = folder / "flag-gems.yaml"
    values = {
        "seed_python_version": platform.python_version(),
        "seed_tools_python": sys.executable,
        "seed_driver": str(layout.root),
        "seed_flaggems_version": known.version,
        "seed_flaggems_digest": digest,
        "seed_flaggems_wheel": str(wheel),
    }
    variants.write_text(json.dumps({key: [value] for key, value in values.items()}))
    file = f"linux-64/flag-gems-{known.version}-{tags.py}_h{digest}_0.conda"
    return Recipe("flag-gems", seed / "recipe.yaml", (file,), variants, estimate(wheel))


def flaggems_code(root: Path) -> list[Path]:
    """What FlagGems' package is made with besides its wheel."""
    seed = root / "recipe/seed/flag-gems"
    return [*seed.glob("*.py"), seed / "recipe.yaml", seed / "_flagos"]


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
