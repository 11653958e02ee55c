"""Build a variant's packages, test them, and put the channel in place; skip it when nothing that matters changed."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rattler.index import index_fs
from ruamel.yaml import YAML
from torch_fl_lab import sbom
from torch_fl_lab.errors import UserError as LabError
from torch_fl_lab.preflight import archives, facts

from flbuild import contents, core, provenance
from flbuild.digest import changes, manifest
from flbuild.errors import UserError
from flbuild.jobs import run as run_worker
from flbuild.layout import Layout, publish, recover, remove
from flbuild.report import Report, Stage

# What packages are made from. Documentation, examples and the driver's own tests do not make a rebuild.
SOURCES = ("CMakeLists.txt", "LICENSE", "pyproject.toml", "conda_build_config.yaml",
           "cmake", "src", "python", "triton-host", "lab", "recipe/recipe.yaml", "recipe/outputs", "tests/contract", "tests/emulation", "tests/opinfo")  # fmt: skip
RECORDS = "variants"  # folder of the channel with one record a variant
BILLS = "sboms"  # and one with a bill of materials a package


@dataclass(frozen=True)
class Built:
    """A variant's packages in the published channel, and its reason to be rebuilt if there is one."""

    packages: tuple[str, ...]  # relative to the channel
    rebuilt: bool


def identity(layout: Layout, variant: Path, base: str, bundle: str = "") -> dict[str, str]:
    """Everything that decides a variant's packages; `bundle` tells a vendor's core of PyTorch that kernels are linked with."""
    made = manifest(layout.root, [*(layout.root / name for name in SOURCES), variant])
    made |= {f"tool {name}": importlib.metadata.version(name) for name in ("py-rattler-build", "py-rattler")}
    return made | {"channels": base} | ({core.BUNDLE: bundle} if bundle else {})


def record_file(layout: Layout, variant: str) -> Path:
    return layout.channel / RECORDS / f"{variant}.json"


def why_rebuild(layout: Layout, variant: str, now: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """The reason to build, empty when there is none, and the packages that are there."""
    recover(layout.channel)
    record = record_file(layout, variant)
    if not record.is_file():
        return "not built yet", ()
    old = json.loads(record.read_text())
    packages = tuple(old["packages"])
    if not all((layout.channel / name).is_file() for name in packages):
        return "packages are missing from the channel", packages
    changed = changes(old["identity"], now)
    return (f"changed: {changed}" if changed else ""), packages


def recipe_file(layout: Layout) -> Path:
    return layout.root / "recipe" / "recipe.yaml"


def package_names(recipe: Path) -> list[str]:
    """Names of the packages a recipe makes, for clearing their old copies out of the cache; `*` where a variant decides."""
    content = YAML(typ="safe").load(recipe.read_text())
    entries = content.get("outputs") or [content]
    return [re.sub(r"\$\{\{.*?\}\}", "*", str(entry["package"]["name"])) for entry in entries if "package" in entry]


def forget(cache: Path, names: list[str]) -> None:
    """Remove extracted copies of the product from the package cache: rattler-build's tests would take a stale one."""
    for name in names:
        for entry in cache.glob(f"pkgs/{name}-*"):
            remove(entry)


def run(
    layout: Layout,
    report: Report,
    variant: Path,
    channels: list[str],
    base: str,
    jobs: int,
    extra_variants: list[Path],
    one_python: bool = False,
    variables: Mapping[str, str] = MappingProxyType({}),
    bundle: str = "",
) -> Built:
    """Have a variant's packages in the channel.

    Args:
        channels: URLs of the channels dependencies come from.
        base: what identifies their content (the seed's digest, or the URLs).
        extra_variants: variant files that win over `conda_build_config.yaml` and the variant's own.
        one_python: the channels have one Python and one PyTorch, so that a core which was compiled from them fits.
        variables: of the environment, for the recipe: where this machine has what the build needs.
        bundle: as for :func:`identity`.
    """
    name = variant.stem
    now = identity(layout, variant, base, bundle)
    why, packages = why_rebuild(layout, name, now)
    if not why:
        with report.stage("packages") as stage:
            stage.skip("unchanged")
        return Built(packages, False)
    report.say(f"packages of {name}: {why}")
    names, cache = package_names(recipe_file(layout)), layout.package_cache
    if one_python and (library := core.compiled(layout, layout.channel / RECORDS, name, now)):
        report.say("the core is taken from another platform's build of the same sources")
        variables = {**variables, core.VARIABLE: str(library)}
    made = compile_packages(layout, report, variant, channels, jobs, extra_variants, variables)
    output = made[0].parents[1]
    check_links(layout, output)
    check_documents(made)
    with report.stage("package tests") as stage:
        asyncio.run(index_fs(output, force=True))
        test(layout, name, made, [output.as_uri(), *channels], jobs, cache, stage)
    forget(cache, names)
    with report.stage("channel") as stage:
        files = tuple(path.relative_to(output).as_posix() for path in made)
        publish_packages(layout, output, name, files, now)
        stage.detail = str(layout.channel)
    remove(output)
    return Built(files, True)


def compile_packages(
    layout: Layout,
    report: Report,
    variant: Path,
    channels: list[str],
    jobs: int,
    extra_variants: list[Path],
    variables: Mapping[str, str],
    cached: bool = True,
) -> list[Path]:
    """A variant's packages in a folder of their own, which is the same one each time.

    Args:
        cached: take what a compiler cache has; False compiles all of it.
    """
    name, cache = variant.stem, layout.package_cache
    output = layout.quarantine(f"build-{name}")
    variants = [str(file) for file in (layout.root / "conda_build_config.yaml", variant, *extra_variants) if file.is_file()]
    forget(cache, package_names(recipe_file(layout)))
    with report.stage("build") as stage:
        job = {
            "kind": "build",
            "recipe": str(recipe_file(layout)),
            "variants": variants,
            "channels": channels,
            "output": str(output),
        }
        run_worker(layout, job, f"build-{name}", jobs, cache, variables={core.VARIABLE: core.NONE, **variables}, compiler_cache=cached)
        made = sorted([*output.glob("linux-64/*.conda"), *output.glob("noarch/*.conda")])
        said = provenance.source(layout.root, [*SOURCES, "variants"])
        for package in made:
            provenance.stamp(package, said)
        stage.detail = f"{len(made)} packages, {sum(p.stat().st_size for p in made) / 1e6:.1f} MB"
    return made


def check_links(layout: Layout, output: Path) -> None:
    """Whether it is known of each library that packages need where it comes from.

    Raises:
        UserError: it is not; the first library is named.
    """
    unknown = contents.unknown_links(output, layout.quarantine("links"), layout.root)
    if unknown:
        raise UserError(f"a package was linked with more than its platform has: {unknown[0]}; name it there under sonames, or do not link it.")


def check_documents(made: list[Path]) -> None:
    """Whether each package of ours says what it is for, in a document that its schema allows.

    Raises:
        UserError: one does not; the key is named.
    """
    for package in made:
        if package.name.startswith("torch-fl"):
            try:
                document = archives.read(package).document
                if document is not None:
                    facts.read(document, package.name)
            except LabError as error:
                raise UserError(f"{error}; look at cmake/facts.py and recipe/recipe.yaml.") from None


def test(
    layout: Layout, name: str, made: list[Path], channels: list[str], jobs: int, cache: Path, stage: Stage
) -> None:
    """Run the packages' own tests."""
    done = 0

    def count(line: str) -> None:
        nonlocal done
        stage.advance(done, len(made), line.removeprefix("testing "))
        done += 1

    run_worker(
        layout,
        {"kind": "test", "packages": [str(p) for p in made], "channels": channels},
        f"test-{name}",
        jobs,
        cache,
        count,
    )
    stage.detail = f"{len(made)} packages"


def publish_packages(layout: Layout, output: Path, variant: str, files: tuple[str, ...], now: dict[str, str]) -> None:
    """A new channel: the other variants' packages as they were, this one's new, indexed anew, put in place by a rename."""
    made = layout.quarantine("channel")
    (made / RECORDS).mkdir()
    others = [file for file in (layout.channel / RECORDS).glob("*.json") if file.stem != variant]
    kept = {name for file in others for name in json.loads(file.read_text())["packages"]} - set(files)
    for name, source in [*((n, layout.channel) for n in sorted(kept)), *((n, output) for n in files)]:
        (made / name).parent.mkdir(exist_ok=True)
        os.link(source / name, made / name)
        (made / name).chmod(0o644)
    for file in others:
        shutil.copy(file, made / RECORDS)
    (made / BILLS).mkdir()
    for name in sorted({*kept, *files}):
        (made / BILLS / f"{Path(name).name}.cdx.json").write_text(sbom.of_package(made / name), "utf-8")
    (made / RECORDS / f"{variant}.json").write_text(json.dumps({"packages": files, "identity": now}, indent=1))
    asyncio.run(index_fs(made, force=True))
    publish(made, layout.channel)
