"""Builds the project's own recipe over the miniature source tree in `stub/`: real packages in seconds.

The recipe, its scripts, the model and the synchronisation are the project's; sources and platforms are the stub's.
"""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

from flbuild import platforms, sync

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(__file__).resolve().parent / "stub"
PYTORCH_RECIPE = """
schema_version: 1
package: {name: pytorch, version: 2.13.0}
build:
  number: 0
  noarch: python
  script: cp -R "$RECIPE_DIR/torch" "$SP_DIR/" && cp -R "$RECIPE_DIR/torch-2.13.0.dist-info" "$SP_DIR/"
requirements:
  host: [python]
  run: [python]
  run_exports: ["pytorch >=2.13.0,<2.14.0a0"]
about: {license: BSD-3-Clause}
"""


def make_tree(target: Path) -> Path:
    """Copy the stub's sources and the project's recipe to `target` and write its variant files."""
    shutil.copytree(STUB, target)
    shutil.copytree(ROOT / "recipe", target / "recipe", ignore=shutil.ignore_patterns("seed"))
    for name in ("pyproject.toml", "LICENSE", "conda_build_config.yaml"):
        shutil.copy(ROOT / name, target / name)
    (target / "cmake").mkdir()
    (target / "cmake" / "README").write_text("empty in miniature\n")
    (target / "variants").mkdir()
    for platform in platforms.load_all(target):
        for variant in platforms.variants(platform):
            (target / "variants" / f"{variant.name}.yaml").write_text(sync.variant_file(variant))
    return target


def run_build(recipe: Path, output: Path, channels: list[str], cuda: str = "", **arguments: object) -> None:
    """Call the builder as build-locally.py does.

    `cuda` is the version of `__cuda` that the machine pretends to have: without it a gated runtime cannot be
    installed beside its siblings.
    """
    from rattler_build.cli_api import build_recipes

    before = os.environ.get("CONDA_OVERRIDE_CUDA")
    os.environ["CONDA_OVERRIDE_CUDA"] = cuda
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            build_recipes(
                [str(recipe)],
                channel=channels,
                output_dir=str(output),
                ignore_recipe_variants=True,
                package_format="conda:1",
                **arguments,
            )
    finally:
        if before is None:
            del os.environ["CONDA_OVERRIDE_CUDA"]
        else:
            os.environ["CONDA_OVERRIDE_CUDA"] = before


def build_pytorch(folder: Path, output: Path, channels: list[str]) -> None:
    """A `pytorch` package that has the real one's name, version and run_exports, and nothing to compute with."""
    dist_info = folder / "torch-2.13.0.dist-info"
    dist_info.mkdir(parents=True)
    (dist_info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n")
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text('__version__ = "2.13.0"\n')
    (folder / "recipe.yaml").write_text(PYTORCH_RECIPE)
    run_build(folder / "recipe.yaml", output, channels, test="skip")


def build_variants(tree: Path, names: list[str], output: Path, channels: list[str], **arguments: object) -> None:
    """Build variants of the miniature in one invocation; more than one name crosses their keys on purpose."""
    config = [str(tree / "conda_build_config.yaml"), *(str(tree / "variants" / f"{name}.yaml") for name in names)]
    run_build(tree / "recipe" / "recipe.yaml", output, channels, variant_config=config, **arguments)
