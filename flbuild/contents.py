"""Checks on finished packages that need no installation: is each file in one place, and is it the right one?

`problems(folder)` is the gate before a channel is published; tests ask the single questions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

import tomllib
from rattler.package_streaming import extract

from flbuild.elf import Elf, is_elf
from flbuild.platforms import ROOT, load_all, variants

# The console script and the tests' own files are added by the builder, after staging.
ADDED = re.compile(r"bin/torch-fl|etc/conda/test-files/.*")
MANIFEST = "staged-files.txt"
EMULATED_SDK = "torch-fl-emulated-sdk"
SPLIT = ("torch-fl", "torch-fl-runtime", "torch-fl-vendor-kernels", "torch-fl-flaggems", EMULATED_SDK)
KNOWN_LIBRARIES = {
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"),
    *("libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1"),
    *("libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so", "libc10_cuda.so", "libtorch_cuda.so"),
    *("libtorch_fl.so", "libtorch_fl_flaggems.so"),
}
PLATFORM_LIBRARY = re.compile(r"lib/libtorch_fl_platform_([a-z0-9]+)\.so")
BUILD_PATH = re.compile(rb"[\x21-\x7e]*(?:_placehold_|/rattler-build_|/build_env/|/work/build/)[\x21-\x7e]*")


@dataclass(frozen=True)
class Package:
    """An unpacked conda package."""

    file: Path
    root: Path

    @classmethod
    def unpack(cls, file: Path, into: Path) -> Package:
        """Unpack `file` into a new folder below `into`."""
        root = into / file.name.removesuffix(".conda")
        extract(file, root)
        return cls(file, root)

    @cached_property
    def index(self) -> dict:
        return json.loads((self.root / "info" / "index.json").read_text())

    @property
    def name(self) -> str:
        return self.index["name"]

    @property
    def build(self) -> str:
        return self.index["build"]

    @cached_property
    def records(self) -> list[dict]:
        """The entries of info/paths.json."""
        return json.loads((self.root / "info" / "paths.json").read_text())["paths"]

    @property
    def files(self) -> list[str]:
        """What an installation puts into the prefix, relative to it."""
        return [record["_path"] for record in self.records]

    @property
    def variant(self) -> str:
        """The part of the build string that names platform and SDK."""
        return re.sub(r"(_py\d+)?(_h[0-9a-f]+)?_\d+$", "", self.build)

    @cached_property
    def libraries(self) -> list[Elf]:
        return [Elf(self.root / name) for name in self.files if is_elf(self.root / name)]

    @property
    def installed_bytes(self) -> int:
        return sum(record.get("size_in_bytes", 0) for record in self.records)


def staged(runtime: Package) -> list[str]:
    """Every file that the staging build installed, from the list that travels with the runtime's tests."""
    found = [
        name for name in runtime.files if name.startswith("etc/conda/test-files/") and name.endswith("/" + MANIFEST)
    ]
    if len(found) != 1:
        raise FileNotFoundError(f"{runtime.file}: has {len(found)} files {MANIFEST} among its test files, not one")
    return (runtime.root / found[0]).read_text().splitlines()


def partition_problems(packages: list[Package]) -> list[str]:
    """Files that are in no package, in two, or in one without having been staged; `packages` are of one variant."""
    runtime = next(package for package in packages if package.name == "torch-fl-runtime")
    expected = set(staged(runtime))
    split = [package for package in packages if package.name in SPLIT]
    counts = Counter(name for package in split for name in package.files if not ADDED.fullmatch(name))
    return (
        [
            f"{name}: staged for {runtime.variant}, and in none of its packages"
            for name in sorted(expected - counts.keys())
        ]
        + [f"{name}: in {count} packages of {runtime.variant}" for name, count in sorted(counts.items()) if count > 1]
        + [f"{name}: in a package of {runtime.variant}, and never staged" for name in sorted(counts.keys() - expected)]
    )


def identity_problems(package: Package) -> list[str]:
    """Whether a runtime holds what its build string says: this catches a compile shared by two variants."""
    facts = json.loads(next(package.root.glob("lib/python*/site-packages/torch_fl/compatibility.json")).read_text())
    platform, sdk_version = facts["platform"], facts.get("sdk_version") or ""
    digits, emulated = sdk_version.replace(".", ""), facts.get("emulated_sdk", False)
    problems = []
    sdk = f"(_[a-z0-9]*[a-z]{digits})?" if digits else ""
    if not re.fullmatch(re.escape(platform) + sdk + ("_emu" if emulated else ""), package.variant):
        said = f"{platform} {sdk_version or 'without SDK'}{', emulated' if emulated else ''}"
        problems.append(f"{package.file.name}: compatibility.json says {said}")
    libraries = [match[1] for name in package.files if (match := PLATFORM_LIBRARY.fullmatch(name))]
    if libraries != [platform]:
        problems.append(
            f"{package.file.name}: platform libraries for {', '.join(libraries) or 'nothing'}, not for {platform}"
        )
    selector = [spec for spec in package.index["depends"] if spec.split()[0] == "torch-fl-platform"]
    if selector != [f"torch-fl-platform ==1 {package.variant}_0"]:
        problems.append(f"{package.file.name}: selects {selector or 'no platform'}")
    return problems


def link_problems(packages: list[Package], sonames: list[str], idle_too: bool = True) -> list[str]:
    """Needed libraries that nothing accounts for, and names allowed by platform.toml that nothing needs.

    `packages` are of one variant; `sonames` are the patterns of its platform.
    """
    needed = {
        (name, library.path.name) for package in packages for library in package.libraries for name in library.needed
    }
    own = {library.path.name for package in packages for library in package.libraries if package.name != EMULATED_SDK}
    foreign = {pair for pair in needed if pair[0] not in KNOWN_LIBRARIES | own}
    unknown = [pair for pair in foreign if not any(fnmatchcase(pair[0], pattern) for pattern in sonames)]
    idle = [pattern for pattern in sonames if not any(fnmatchcase(name, pattern) for name, _ in foreign)]
    if not idle_too or not any(package.name == "torch-fl-vendor-kernels" for package in packages):
        idle = []  # the runtime alone, by FLAGOS_BUILD_VENDOR=OFF, needs fewer
    return [f"{library}: needs {name}, which platform.toml does not allow" for name, library in sorted(unknown)] + [
        f"platform.toml: sonames has {pattern}, which no library of {packages[0].variant} needs" for pattern in idle
    ]


def path_problems(package: Package, allowed: list[str]) -> list[str]:
    """Run paths that are neither relative nor the SDK's, and files that name a folder of the build.

    Args:
        allowed: folders of the SDK in its default place; a run path has them after the relative ones.
    """
    problems = []
    for library in package.libraries:
        name, foreign = library.path.relative_to(package.root), False
        for path in library.run_paths:
            if path.startswith("$ORIGIN"):
                problems += [f"{name}: run path {path} comes after a folder of the SDK"] * foreign
            elif path in allowed:
                foreign = True
            else:
                problems.append(f"{name}: run path {path} is not below $ORIGIN")
    for record in package.records:
        placeholder = record.get("prefix_placeholder", "").encode()
        data = (package.root / record["_path"]).read_bytes()
        if placeholder:
            data = data.replace(placeholder, b"")
        problems += [f"{record['_path']}: names {found.decode()[:120]}" for found in set(BUILD_PATH.findall(data))]
    return [f"{package.file.name}: {problem}" for problem in problems]


def size_problems(package: Package, root: Path = ROOT) -> list[str]:
    """Whether a package keeps to recipe/size_budget.toml."""
    budgets = tomllib.loads((root / "recipe" / "size_budget.toml").read_text())
    if package.name not in budgets:
        return [f"{package.name}: has no entry in recipe/size_budget.toml"]
    sizes = {"package": package.file.stat().st_size, "installed": package.installed_bytes}
    return [
        f"{package.file.name}: {kind} size {size:,} bytes, budget {budgets[package.name][kind]:,}"
        for kind, size in sizes.items()
        if size > budgets[package.name][kind]
    ]


def unpack_channel(channel: Path, into: Path) -> list[Package]:
    """Unpack our packages of a channel."""
    return [Package.unpack(file, into) for file in sorted(channel.glob("*/torch-fl*.conda"))]


def siblings(packages: list[Package]) -> dict[str, list[Package]]:
    """The packages that were split from one compile, by the runtime's build string."""
    groups = {package.build: [package] for package in packages if package.name == "torch-fl-runtime"}
    for package in packages:
        for spec in package.index["depends"]:
            name, _, rest = spec.partition(" ")
            if name == "torch-fl-runtime" and (build := rest.rpartition(" ")[2]) in groups:
                groups[build].append(package)
    sdks = {package.build: package for package in packages if package.name == EMULATED_SDK}
    for group in groups.values():
        needed = [spec.rpartition(" ")[2] for spec in group[0].index["depends"] if spec.startswith(f"{EMULATED_SDK} ")]
        group += [sdks[build] for build in needed if build in sdks]
    return groups


def publishing_problems(package: Package) -> list[str]:
    """Whether a package may leave the machine that made it: what runs on an emulated SDK, or has a vendor's files without its terms, may not."""
    facts = [json.loads(path.read_text()) for path in package.root.rglob("compatibility.json")]
    emulated = package.name == EMULATED_SDK or package.variant.endswith("_emu")
    if emulated or any(fact.get("emulated_sdk") for fact in facts):
        return [f"{package.file.name}: is built on an emulated SDK and may not be published"]
    bundles = [json.loads(path.read_text()) for path in package.root.rglob("libtorch.json")]
    if not all(bundle["publishable"] for bundle in bundles):
        return [f"{package.file.name}: holds a vendor's libraries without its terms (--license-file), so it is for this site alone"]
    return []


def families(packages: list[Package], root: Path) -> list[tuple[list[Package], list[str]]]:
    """The packages that were split from one compile, each family with the driver's libraries that its platform allows."""
    known = {variant.build_prefix: variant for p in load_all(root) for variant in variants(p)}
    chosen = ((group, known.get(group[0].variant.removesuffix("_emu"))) for group in siblings(packages).values())
    return [(group, variant.platform.sonames if variant else []) for group, variant in chosen]


def unknown_links(channel: Path, into: Path, root: Path = ROOT) -> list[str]:
    """Of the packages of a channel what they need and nobody accounts for, one sentence each; `into` as for :func:`problems`."""
    found = families(unpack_channel(channel, into), root)
    return [problem for group, sonames in found for problem in link_problems(group, sonames, idle_too=False)]


def problems(channel: Path, into: Path, root: Path = ROOT, publish: bool = False) -> list[str]:
    """All that is wrong with our packages of a channel, one sentence each.

    Args:
        into: a folder to unpack them in.
        root: the source tree that they were built from.
        publish: whether they are to leave this machine.
    """
    packages = unpack_channel(channel, into)
    if not packages:
        return [f"{channel}: holds no package of torch-fl"]
    known = {variant.build_prefix: variant for p in load_all(root) for variant in variants(p)}
    found = []
    for group, sonames in families(packages, root):
        found += partition_problems(group) + link_problems(group, sonames)
    for package in packages:
        variant = known.get(package.variant)  # none for an emulated one, which has no SDK outside the environment
        found += path_problems(package, variant.run_path if variant else []) + size_problems(package, root)
        found += publishing_problems(package) if publish else []
        if package.name == "torch-fl-runtime":
            found += identity_problems(package)
        if not list((package.root / "info" / "licenses").glob("*")):
            found.append(f"{package.file.name}: carries no licence file")
    return found
