"""Write what is derived from `src/platforms/*/platform.toml` and docs/opinfo.json, or check that it is in step.

python -m flbuild.sync           write variants/*.yaml, the pixi block, the README blocks, repeated versions
python -m flbuild.sync --check   write nothing; exit 1 and name the files that differ
"""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from flbuild import pixi as pixi_manifest
from flbuild.platforms import ROOT, Platform, PlatformError, Variant, load_all, variants
from flbuild.variant_files import has_emulation

# An absent value still needs a word: keys are always there, so that every variant renders the same recipe.
NONE = "none"
# Files that repeat the version, and what stands before it.
VERSIONS = {
    "recipe/recipe.yaml": "  version: ",
    "triton-host/torch_fl_triton_host/_version.py": "__version__ = ",
    "lab/torch_fl_lab/_version.py": "__version__ = ",
}


def held(variant: Variant, kernels: str) -> str:
    """Whether a package of kernels is built, and whether it comes with the metapackage."""
    has = variant.platform.kernels
    if not getattr(has, kernels) or kernels in variant.left_out:
        return "no"
    return "optional" if kernels in has.optional else "yes"


def variant_keys(variant: Variant) -> dict[str, str]:
    """The `flagos_*` keys of one variant, as the recipe reads them."""
    platform = variant.platform
    return {
        "flagos_platform": platform.id,
        "flagos_sdk": platform.sdk.name if platform.sdk else NONE,
        "flagos_sdk_version": variant.sdk_version or NONE,
        "flagos_build": variant.build_prefix,
        "flagos_build_number": str(variant.build_number),
        "flagos_down_priority": str(variant.down_priority),
        "flagos_gate": variant.gate or NONE,
        "flagos_sdk_spec": variant.sdk_spec or NONE,
        "flagos_sdk_run_path": ":".join(variant.run_path) or NONE,
        "flagos_emulated": "yes" if variant.emulated else "no",
        "flagos_emulated_sdk": "yes" if variant.emulated_sdk else "no",
        "flagos_vendor_kernels": held(variant, "vendor"),
        "flagos_libtorch": "yes" if variant.needs_libtorch else "no",
        "flagos_flaggems": held(variant, "flaggems"),
        "flagos_flaggems_spec": variant.pins.flaggems_spec or NONE,
        "flagos_triton_spec": variant.pins.triton_spec or NONE,
    }


def variant_file(variant: Variant, pinned: bool = True) -> str:
    """The text of variants/<name>.yaml: one value a key; the platform's keys are zipped, so they change together.

    Args:
        pinned: with the platform's own minors of Python and PyTorch; without them, those at hand are taken.
    """
    keys = variant_keys(variant)
    document: dict[str, object] = {key: [DoubleQuotedScalarString(value)] for key, value in keys.items()}
    if pinned:
        document.update((key, [f"{minor}.*"]) for key, minor in variant.minors.items())
    document["zip_keys"] = [list(keys)]
    yaml = YAML()
    yaml.width = 200
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(document, text)
    source = f"src/platforms/{variant.platform.id}/platform.toml"
    return f"# Written by `python -m flbuild.sync` from {source}: change that file instead.\n{text.getvalue()}"


def status_word(platform: Platform, root: Path) -> str:
    """A platform's status; without evidence and without an emulated SDK nothing backs it."""
    backed = platform.status != "Emulated" or has_emulation(root, platform.id)
    return platform.status if backed else "Not validated"


def support_table(platforms: list[Platform], root: Path) -> str:
    """The README's table of platforms, in Markdown."""
    rows = ["| platform | hardware | SDK | Python | status |", "|---|---|---|---|---|"]
    for platform in platforms:
        sdk = f"{platform.sdk.title} {', '.join(platform.sdk.versions) or '(version unknown)'}" if platform.sdk else "none needed"
        python = "any" if platform.python == "any" else ", ".join(platform.python)
        rows.append(f"| `{platform.id}` | {platform.hardware} | {sdk} | {python} | {status_word(platform, root)} |")
    return "\n".join(rows)


def samples_block(root: Path) -> str:
    """The README's sentence about PyTorch's own samples, from docs/opinfo.json."""
    path = root / "docs" / "opinfo.json"
    try:
        summary = json.loads(path.read_text("utf-8"))
        totals = summary["totals"]
        operators = [family for name, family in summary["families"].items() if name not in ("modules", "optimizers")]
        computed = [(family["pass"], family["cases"] - family["refused"]) for family in operators]
        alike, cases = (sum(column) for column in zip(*computed))
        everything = totals["cases"] - totals["refused"]
        return (
            f"PyTorch's own samples, run on `flagos` and on the CPU and compared: **{alike / cases:.2%}** of {cases:,} cases"
            f" (operator \u00d7 dtype that the CPU computes), and {totals['pass'] / everything:.2%} of {everything:,} with modules and"
            f" optimizers, behave alike; {totals['crash']} crash (PyTorch {summary['torch']}).\n"
            "Numbers and exceptions: [docs/opinfo.json](docs/opinfo.json).\n\n"
            "![cases that pass, by family of operators](docs/opinfo.svg)"
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise PlatformError(f"{path}: is no summary of a run ({error}); see docs/contributing.md") from None


def between_markers(path: Path, begin: str, end: str, block: str) -> str:
    """The file's text with `block` between two marker lines; raises PlatformError where they are missing."""
    return between_text(path.read_text("utf-8"), path, begin, end, block)


def between_text(text: str, path: Path, begin: str, end: str, block: str) -> str:
    pattern = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise PlatformError(
            f"{path}: needs the lines {begin!r} and {end!r} exactly once, around what flbuild.sync writes"
        )
    return pattern.sub(lambda match: match[1] + block + "\n" + match[2], text)


def with_version(root: Path, path: Path, before: str) -> str:
    """The text of a file that repeats the version of python/torch_fl/_version.py.

    Args:
        before: what stands before the version, at the beginning of exactly one line.
    """
    source = root / "python/torch_fl/_version.py"
    version = re.search(r'^__version__ = "([^"]+)"', source.read_text("utf-8"), re.MULTILINE)
    if version is None:
        raise PlatformError(f'{source}: has no line __version__ = "..."')
    line = re.compile(rf'^{re.escape(before)}"[^"]*"', re.MULTILINE)
    text, count = line.subn(f'{before}"{version[1]}"', path.read_text("utf-8"))
    if count != 1:
        raise PlatformError(f'{path}: needs exactly one line `{before}"..."`')
    return text


def derived(root: Path = ROOT) -> dict[Path, str | None]:
    """Every derived file with the text it should have; None for a file that should not be there."""
    platforms = load_all(root)
    folder = root / "variants"
    files: dict[Path, str | None] = dict.fromkeys(folder.glob("*.yaml"))
    for platform in platforms:
        for variant in variants(platform):
            files[folder / f"{variant.name}.yaml"] = variant_file(variant)
    for name, before in VERSIONS.items():
        files[root / name] = with_version(root, root / name, before)
    note = "platforms: written by `python -m flbuild.sync` from src/platforms/*/platform.toml"
    pixi, readme = root / "pixi.toml", root / "README.md"
    files[pixi] = between_markers(pixi, f"# {note}", "# /platforms", pixi_manifest.platforms_block(platforms, root))
    machines = note.replace("platforms", "machines", 1)
    files[pixi] = between_text(files[pixi], pixi, f"# {machines}", "# /machines", pixi_manifest.machines_line(platforms))
    files[readme] = between_markers(readme, f"<!-- {note} -->", "<!-- /platforms -->", support_table(platforms, root))
    samples = "<!-- samples: written by `python -m flbuild.sync` from docs/opinfo.json -->"
    if (root / "docs" / "opinfo.json").exists():
        files[readme] = between_text(files[readme], readme, samples, "<!-- /samples -->", samples_block(root))
    return files


def out_of_step(files: dict[Path, str | None]) -> list[Path]:
    """The files whose text differs from what it should be."""
    return [path for path, text in files.items() if (path.read_text("utf-8") if path.exists() else None) != text]


def main(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file differs.")] = False,
) -> None:
    """Write the files that are derived from src/platforms/*/platform.toml."""
    try:
        files = derived()
    except (PlatformError, OSError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    different = out_of_step(files)
    for path in different:
        print(f"{path.relative_to(ROOT)}: {'is out of step' if check else 'written' if files[path] else 'removed'}")
        if not check:
            text = files[path]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8") if text is not None else path.unlink()
    if check and different:
        print("run: python -m flbuild.sync", file=sys.stderr)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
