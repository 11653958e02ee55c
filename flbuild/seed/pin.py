"""Re-make the hashed wheel lists: `python -m flbuild.seed.pin [--tools | --docs | --ecosystem | --flaggems | --torch MINOR] PYTHON...`.

Each PYTHON is an interpreter; its own pip resolves the input file for it, so markers and wheel tags are the real ones.
Nothing is downloaded but metadata. pip is asked twice, as it is configured and with the public index alone, since the
two may have different files of one release. For torch that is a CPU and a CUDA build: the CPU one gets a list of its
own (`-cpu`), the CUDA one shares `-cuda` with the libraries it needs. (One line with both hashes would not do: of two
allowed files pip takes the one whose index states a hash, whatever the versions are.)

`--ecosystem` pins what the ecosystem suite adds to an environment; each PYTHON is that environment's. `--flaggems` pins
what FlagGems needs besides the seed channel. `--torch 2.11` makes the one list of a channel with that minor of PyTorch, of
requirements.in and torch2.11.in, for variants that are pinned to it. With `--keep` what a list has stays in its version,
and only what the input asks for beyond that is new.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
ACCELERATOR_PREFIXES = ("nvidia-", "cuda-", "triton")  # what torch's CUDA wheel needs and its CPU wheel does not
FROM_NOTHING = "--ignore-installed"
RELAXED = ("flag-gems",)  # their recipes drop the exact pins of their metadata, which pip would keep to
CONFIGURED_SOURCES = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL")


@dataclass
class Pin:
    """One release, with every file of it that may be met."""

    name: str
    version: str
    requires: list[Requirement]
    extras: list[str]
    files: dict[str, int] = field(default_factory=dict)  # sha256 -> bytes

    def line(self) -> str:
        return " \\\n    ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{h}" for h in sorted(self.files))])


def size_of(url: str) -> int:
    """Bytes of a wheel, without fetching it."""
    request = urllib.request.Request(url, method="GET" if url.startswith("file:") else "HEAD")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(answer.headers["Content-Length"])


def resolve(
    python: str, requirements: Path, public_only: bool, options: tuple[str, ...] = (FROM_NOTHING,)
) -> dict[str, Pin]:
    """What pip would install for `python`, by canonical name."""
    env = dict(os.environ)
    if public_only:
        env = {k: v for k, v in env.items() if k not in CONFIGURED_SOURCES} | {"PIP_CONFIG_FILE": os.devnull}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--only-binary=:all:"]
        subprocess.run([*command, *options, "--report", report, "-r", requirements], env=env, check=True)
        found = json.loads(report.read_text())["install"]
    pins = {}
    for item in found:
        metadata, download = item["metadata"], item["download_info"]
        name = canonicalize_name(metadata["name"])
        requires = [Requirement(r) for r in metadata.get("requires_dist", [])]
        pin = Pin(name, metadata["version"], requires, item.get("requested_extras", []))
        pin.files[download["archive_info"]["hashes"]["sha256"]] = size_of(download["url"])
        pins[name] = pin
    return pins


def resolve_beside_seed(python: str, source: Path, seed: Path, public_only: bool) -> dict[str, Pin]:
    """What the seed channel's list lacks, in versions that go with it."""
    there = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", seed.read_text(), re.MULTILINE))
    lines = requirements(source)
    pins = {}
    with tempfile.TemporaryDirectory() as folder:
        constraints, part = Path(folder, "constraints.txt"), Path(folder, "part.in")
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in there.items()))
        for relaxed, options in ((False, ("-c", str(constraints))), (True, ("--no-deps",))):
            part.write_text("".join(f"{line}\n" for line in lines if (Requirement(line).name in RELAXED) == relaxed))
            pins |= resolve(python, part, public_only, (FROM_NOTHING, *options))
    return {name: pin for name, pin in pins.items() if name not in there}


def kept(lists: list[Path], folder: str) -> tuple[str, ...]:
    """Options for pip that keep the versions of these lists."""
    found = [line for file in lists if file.is_file() for line in re.findall(r"^[a-z0-9.-]+==[^\s+]+", file.read_text(), re.MULTILINE)]
    constraints = Path(folder, "kept.txt")
    constraints.write_text("".join(f"{line}\n" for line in found))
    return ("-c", str(constraints))


def resolve_with_torch(python: str, common: Path, other: Path, options: tuple[str, ...]) -> dict[str, Pin]:
    """All of a channel with another PyTorch, whose files are those of the public index."""
    replaced = {Requirement(line).name for line in requirements(other)}
    with tempfile.TemporaryDirectory() as folder:
        joint = Path(folder, other.name)
        common_lines = [line for line in requirements(common) if Requirement(line).name not in replaced]
        joint.write_text("".join(f"{line}\n" for line in [*requirements(other), *common_lines]))
        return resolve(python, joint, True, options)


def requirements(source: Path) -> list[str]:
    return [line for line in source.read_text().splitlines() if line and not line.startswith("#")]


def merge(pins: dict[str, Pin], public: dict[str, Pin]) -> None:
    """Add to `pins` the public index' files of the same releases, and what only that has."""
    for name, pin in public.items():
        if pin.version == pins.setdefault(name, pin).version:
            pins[name].files |= pin.files


def refuse_changes(python: str, pins: dict[str, Pin]) -> None:
    """Stop when a pin would replace a package that `python` has."""
    said = subprocess.check_output([python, "-m", "pip", "list", "--format=json"], text=True)
    there = {canonicalize_name(item["name"]): item["version"] for item in json.loads(said)}
    for name in pins.keys() & there.keys():
        sys.exit(
            f"{name} {there[name]} of {python} would become {pins[name].version}; ask for libraries that go with it."
        )


def needed_on_cpu(pins: dict[str, Pin], roots: list[str], marker_python: str) -> set[str]:
    """The names reachable from the roots without torch's accelerator libraries."""
    seen: set[tuple[str, str]] = set()
    todo = [(canonicalize_name(r.name), extra) for r in map(Requirement, roots) for extra in ("", *r.extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen or name not in pins:
            continue
        seen.add((name, extra))
        environment = {"extra": extra, "python_version": marker_python, "python_full_version": marker_python + ".0"}
        for requirement in pins[name].requires:
            target = canonicalize_name(requirement.name)
            skip = name == "torch" and target.startswith(ACCELERATOR_PREFIXES)
            if not skip and (not requirement.marker or requirement.marker.evaluate(environment)):
                todo += [(target, e) for e in ("", *requirement.extras)]
    return {name for name, _ in seen}


def write(path: Path, source: Path, pins: list[Pin]) -> None:
    """One list; nothing to list, no file."""
    path.unlink(missing_ok=True)
    if not pins:
        return
    total = sum(max(pin.files.values()) for pin in pins)
    head = f"# Written by `python -m flbuild.seed.pin` from {source.name}; do not edit.\n# download-bytes: {total}\n"
    path.write_text(head + "".join(pin.line() + "\n" for pin in sorted(pins, key=lambda p: p.name)))
    print(f"{path.relative_to(ROOT)}: {len(pins)} releases, {total / 1e6:.0f} MB")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tools", action="store_true", help="the tool environment's lists instead of the seed's")
    which.add_argument("--docs", action="store_true", help="the lists of what makes the documentation's site")
    which.add_argument("--ecosystem", action="store_true", help="the list of the ecosystem suite")
    which.add_argument("--flaggems", action="store_true", help="the lists of what FlagGems needs besides the seed")
    which.add_argument("--torch", metavar="MINOR", help="the list of a seed with that PyTorch, as torchMINOR.in says")
    parser.add_argument("--keep", action="store_true", help="change no version that a list has")
    parser.add_argument("python", nargs="*", default=[sys.executable], help="interpreters to resolve for")
    args = parser.parse_args(arguments)
    source = ROOT / "recipe/seed/wheels/requirements.in"
    folder = source.parent
    seed = folder
    if args.tools or args.docs or args.ecosystem or args.flaggems:
        place = "flbuild" if args.tools else "flbuild/docs" if args.docs else "tests/ecosystem" if args.ecosystem else "recipe/seed/flag-gems"
        source = ROOT / place / "requirements.in"
        folder = source.with_suffix("")
    folder.mkdir(exist_ok=True)
    roots = requirements(source)
    scratch = tempfile.TemporaryDirectory()
    for python in args.python:
        version = subprocess.check_output(
            [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True
        ).strip()
        tag = "py" + version.replace(".", "")
        lists = [folder / f"{tag}-torch{args.torch}.txt"] if args.torch else [folder / f"{tag}{part}.txt" for part in ("", "-cpu", "-cuda")]
        keep = kept(lists, scratch.name) if args.keep else ()
        if args.torch:
            other = folder / f"torch{args.torch}.in"
            pins = resolve_with_torch(python, source, other, (FROM_NOTHING, *keep))
            write(folder / f"{tag}-torch{args.torch}.txt", other, list(pins.values()))
            continue
        if args.flaggems:
            pins, public = (resolve_beside_seed(python, source, seed / f"{tag}.txt", only) for only in (False, True))
            merge(pins, public)
            write(folder / f"{tag}.txt", source, list(pins.values()))
            continue
        options = keep if args.ecosystem else (FROM_NOTHING, *keep)
        pins, public = (resolve(python, source, public_only, options) for public_only in (False, True))
        if args.ecosystem:
            refuse_changes(python, pins | public)
        on_cpu = needed_on_cpu(pins | public, roots, version)
        torches = [pins.pop("torch", None), public.pop("torch", None)]
        merge(pins, public)
        path = str(folder / tag)
        write(Path(path + ".txt"), source, [pin for name, pin in pins.items() if name in on_cpu])
        write(Path(path + "-cpu.txt"), source, [pin for pin in torches if pin and "+" in pin.version])
        cuda = [pin for name, pin in pins.items() if name not in on_cpu]
        write(Path(path + "-cuda.txt"), source, cuda + [pin for pin in torches[1:] if pin])


if __name__ == "__main__":
    main()
