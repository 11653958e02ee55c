"""The packages of a vendor's core of PyTorch, in a channel of their own.

A channel of their own, because a solver that goes by channel priority takes every `libtorch` from the first channel that has
one: an environment gets the vendor's core where this channel is named before the others, and else the official one.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

from rattler.index import index_fs

from flbuild import provenance
from flbuild.digest import changes, manifest, sha256_file, sha256_text
from flbuild.errors import UserError
from flbuild.installation import install
from flbuild.jobs import run as run_worker
from flbuild.layout import Layout, publish, recover
from flbuild.libtorch import bundle, emulated, source
from flbuild.libtorch.official import PACKAGES, Official
from flbuild.platforms import Variant
from flbuild.report import Report

RECIPE = Path("recipe") / "libtorch" / "recipe.yaml"
IDENTITY = "identity.json"


def bundle_folder(layout: Layout, variant: Variant) -> Path:
    return layout.artifacts / "libtorch" / variant.name


def channel_folder(layout: Layout, variant: Variant) -> Path:
    return layout.artifacts / f"channel-libtorch-{variant.name}"


def digest(folder: Path) -> str:
    """What tells one bundle from another."""
    return sha256_file(folder / bundle.MANIFEST)


def prepare(layout: Layout, report: Report, variant: Variant, given: Path | None, license_file: Path | None, urls: list[str]) -> Path:
    """Have the bundle in place, which the product's kernels are linked with.

    Args:
        given: the vendor's wheel, or the folder of an installation; None on an emulated SDK, whose PyTorch is made here.
        urls: channels with the official PyTorch.

    Raises:
        UserError: there is no such wheel, or it does not fit.
    """
    if given is None and not variant.emulated_sdk:
        title = variant.platform.sdk.title
        raise UserError(
            f"boxing on {variant.platform.name} runs on the vendor's build of PyTorch for {title} {variant.sdk_version}, which only its portal"
            " has; give the wheel with --libtorch FILE, or add --emulated."
        )
    official = Official.read(install(layout, report, f"{variant.name}-official", urls, PACKAGES))
    with report.stage("vendor's libtorch") as stage:
        if given is None:
            given = emulated.make(layout, variant, official, stage)
        found = source.find(given, layout.quarantine("vendor-wheel"))
        place = bundle_folder(layout, variant)
        made = bundle.make(found, variant, official, place, layout.quarantine("bundle"), license_file)
        size = sum(library["bytes"] for library in made["libraries"].values())
        stage.detail = f"PyTorch {found.version}, {len(made['libraries'])} libraries, {size / 1e6:.0f} MB"
    return place


def make(layout: Layout, report: Report, variant: Variant, urls: list[str], extra: list[Path], tested: bool = True) -> str:
    """Have the channel with the bundle's packages in place.

    Args:
        urls: channels for their dependencies: the product's first.
        extra: variant files.
        tested: whether the packages' tests are run, which need the product's channel.

    Returns:
        the channel's URL.
    """
    folder, place = bundle_folder(layout, variant), channel_folder(layout, variant)
    facts = json.loads((folder / bundle.MANIFEST).read_text())
    now = manifest(layout.root, [layout.root / RECIPE]) | {"bundle": digest(folder), "tested": str(tested)}
    recover(place)
    record = place / IDENTITY
    if record.is_file() and not changes(json.loads(record.read_text()), now):
        with report.stage("libtorch packages") as stage:
            stage.skip("unchanged")
        return place.as_uri()
    values = {
        "flagos_build": variant.build_prefix,
        "flagos_emulated_sdk": "yes" if variant.emulated_sdk else "no",
        "libtorch_version": facts["torch_version"],
        "libtorch_bundle": str(folder),
        "libtorch_folder": facts["folder"],
        "libtorch_license": "yes" if facts["publishable"] else "no",
        "libtorch_digest": sha256_text(json.dumps(facts, sort_keys=True))[:8],
    }
    variants = layout.work / "libtorch.yaml"
    variants.write_text(json.dumps({key: [value] for key, value in values.items()}))
    output = layout.quarantine("channel-libtorch")
    with report.stage("libtorch packages") as stage:
        job = {
            "kind": "build",
            "recipe": str(layout.root / RECIPE),
            "variants": [str(file) for file in (layout.root / "conda_build_config.yaml", variants, *extra)],
            "channels": urls,
            "output": str(output),
        }
        run_worker(layout, job, f"build-libtorch-{variant.name}", 1, layout.package_cache)
        packages = sorted(output.glob("*/*.conda"))
        said = provenance.source(layout.root, [Path(RECIPE).parent.as_posix(), "flbuild/libtorch"])
        for package in packages:
            provenance.stamp(package, said)
        asyncio.run(index_fs(output, force=True))
        tests = {"kind": "test", "packages": [str(path) for path in packages], "channels": [output.as_uri(), *urls]}
        if tested:
            run_worker(layout, tests, f"test-libtorch-{variant.name}", 1, layout.package_cache)
        for path in packages:
            path.chmod(0o644)
        stage.detail = f"{len(packages)} packages, {sum(path.stat().st_size for path in packages) / 1e6:.0f} MB"
    (output / IDENTITY).write_text(json.dumps(now, indent=1))
    publish(output, place)
    return place.as_uri()


def try_out(prefix: Path, scratch: Path) -> None:
    """Have the loader resolve every symbol that our libraries and PyTorch's Python part take from the vendor's core.

    Args:
        prefix: an environment with all of them.

    Raises:
        UserError: one is not there, or means something else; the loader's words are given.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"LD_BIND_NOW": "1"}
    code = "import torch, torch_fl; from torch_fl import _C; assert _C.native_device_type(), 'the core of PyTorch knows no such device'"
    command = [prefix / "bin" / "python", "-B", "-c", code]
    done = subprocess.run(command, env=env, cwd=scratch, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no reason was given")
        raise UserError(f"the vendor's core of PyTorch does not fit these packages: {reason}; ask for its build of the same release, or build for another one.")
