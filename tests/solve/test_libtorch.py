"""Who provides PyTorch's core: the official one, unless the channel with a vendor's is named before it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from rattler import BuildString, Channel, GenericVirtualPackage, MatchSpec, PackageName, Version, solve
from rattler.exceptions import SolverError
from rattler_build import Stage0Recipe, VariantConfig

from flbuild.platforms import ROOT, load_all, variants

VENDORS = [variant for platform in load_all() if platform.libtorch for variant in variants(platform)]
TORCH = "2.10.0"


def record(name: str, version: str, build: str, *depends: str) -> dict:
    return {"name": name, "version": version, "build": build, "build_number": 0, "depends": list(depends), "subdir": "linux-64",
            "sha256": "0" * 64, "md5": "0" * 32, "size": 0}  # fmt: skip


def write(folder: Path, records: list[dict]) -> str:
    for subdir in ("linux-64", "noarch"):
        (folder / subdir).mkdir(parents=True)
        found = {f"{r['name']}-{r['version']}-{r['build']}.conda": r for r in records} if subdir == "linux-64" else {}
        (folder / subdir / "repodata.json").write_text(json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": found, "repodata_version": 1}))
    return folder.as_uri()


def of_vendor(variant, folder: Path) -> list[dict]:
    """The records of recipe/libtorch for one variant."""
    values = {
        "flagos_build": variant.build_prefix, "flagos_emulated_sdk": "no", "libtorch_version": TORCH, "libtorch_bundle": str(folder),
        "libtorch_folder": "lib", "libtorch_license": "no", "libtorch_digest": "0", "python": "3.12.* *_cp312",
    }  # fmt: skip
    file = folder / f"{variant.name}.yaml"
    file.write_text(json.dumps({key: [value] for key, value in values.items()}))
    rendered = list(Stage0Recipe.from_file(ROOT / "recipe/libtorch/recipe.yaml").render(VariantConfig.from_files([file])))
    builds = {str(output.recipe.package.name): str(output.recipe.build.string) for output in rendered}
    selector = f"torch-fl-platform ==1 {variant.build_prefix}_0"
    assert selector in [str(spec) for spec in rendered[0].recipe.to_dict()["requirements"]["run"]]
    files = record("torch-fl-libtorch", TORCH, builds["torch-fl-libtorch"], "python >=3.12,<3.13.0a0", selector)
    return [files, record("libtorch", TORCH, builds["libtorch"], f"torch-fl-libtorch =={TORCH} {builds['torch-fl-libtorch']}")]


@pytest.fixture(scope="module")
def channels(tmp_path_factory) -> dict[str, str]:
    """The base channel, the product's, and one for each variant with a vendor's core."""
    folder = tmp_path_factory.mktemp("channels")
    base = [record("python", "3.12.4", "0"), record("libtorch", TORCH, "cpu_0"), record("pytorch", TORCH, "cpu_0", f"libtorch =={TORCH}", "python")]
    product = []
    for variant in VENDORS:
        build, selector = variant.build_prefix, f"torch-fl-platform ==1 {variant.build_prefix}_0"
        runtime = f"torch-fl-runtime ==0.1.0 {build}_0"
        product += [
            record("torch-fl-platform", "1", f"{build}_0"),
            record("torch-fl-runtime", "0.1.0", f"{build}_0", "pytorch >=2.10,<2.11.0a0", "libtorch >=2.10,<2.11.0a0", selector),
            record("torch-fl-vendor-kernels", "0.1.0", f"{build}_0", runtime, f"torch-fl-libtorch * {build}_*"),
        ]
    made = {"base": write(folder / "base", base), "product": write(folder / "product", product)}
    return made | {variant.name: write(folder / variant.name, of_vendor(variant, folder)) for variant in VENDORS}


def solved(urls: list[str], *specs: str) -> dict[str, str]:
    """Name -> build of the solution, by strict channel priority, as pixi's and build-locally.py's solvers have it."""
    virtual = [GenericVirtualPackage(PackageName(name), Version("2.40"), BuildString("0")) for name in ("__glibc", "__unix", "__linux")]
    records = asyncio.run(solve([Channel(url) for url in urls], [MatchSpec(spec, strict=False) for spec in specs], virtual_packages=virtual))
    return {r.name.normalized: str(r.build) for r in records}


@pytest.mark.parametrize("variant", VENDORS, ids=lambda v: v.name)
def test_the_official_core_stays_until_the_vendors_channel_is_named(channels, variant):
    runtime = f"torch-fl-runtime=*={variant.build_prefix}_*"
    without = solved([channels["product"], channels["base"]], runtime)
    assert without["libtorch"] == "cpu_0" and "torch-fl-libtorch" not in without
    kernels = f"torch-fl-vendor-kernels=*={variant.build_prefix}_*"
    with_it = solved([channels[variant.name], channels["product"], channels["base"]], kernels)
    assert with_it["libtorch"].startswith(f"{variant.build_prefix}_") and with_it["torch-fl-libtorch"].startswith(f"{variant.build_prefix}_")
    assert with_it["pytorch"] == "cpu_0"  # Python's part is the official one
    # Without the kernels and their channel again, the environment is what it was.
    assert solved([channels["product"], channels["base"]], runtime) == without


@pytest.mark.parametrize("variant", VENDORS, ids=lambda v: v.name)
def test_kernels_without_the_vendors_channel_cannot_be_had(channels, variant):
    with pytest.raises(SolverError, match="torch-fl-libtorch"):
        solved([channels["product"], channels["base"]], f"torch-fl-vendor-kernels=*={variant.build_prefix}_*")


@pytest.mark.parametrize("variant", VENDORS, ids=lambda v: v.name)
def test_a_core_for_another_version_of_the_sdk_does_not_serve(channels, variant):
    for other in VENDORS:
        if other is not variant:
            with pytest.raises(SolverError):
                solved([channels[other.name], channels["product"], channels["base"]], f"torch-fl-vendor-kernels=*={variant.build_prefix}_*")
