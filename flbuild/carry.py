"""Pack built packages and their tests into one archive that a machine with an accelerator runs, without conda and without a solve.

The packages are installed here into a folder of their own, with what they and their tests need beyond Python, PyTorch and numpy, which
the other machine has. The archive is a zip that its Python runs: `python3 torch-fl-cuda-13.0.pyz --output FOLDER`. What runs there is
`flbuild/carried/`.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from rattler import RepoDataRecord

from flbuild import environment, solve
from flbuild.errors import UserError
from flbuild.platforms import Variant
from flbuild.report import Stage

LIMIT = 64 << 20
LEFT_THERE = ("python", "pytorch", "numpy", "triton")  # and all that these need
BESIDE_PYTHON = ("bin/", "include/", "etc/", "man/", "share/man/", "share/doc/")  # what no process of the archive reads
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same archive
MAIN = "import sys\n\nfrom carried.main import main\n\nsys.exit(main())\n"


def names_needed(records: Iterable[RepoDataRecord], roots: Iterable[str]) -> set[str]:
    """The packages of a solved environment that the roots need, with the roots themselves."""
    needs = {record.name.normalized: [re.split(r"[ =<>!~\[]", spec)[0] for spec in record.depends] for record in records}
    seen, todo = set(), list(roots)
    while todo:
        name = todo.pop()
        if name in needs and name not in seen:
            seen.add(name)
            todo += needs[name]
    return seen


def installed_files(prefix: Path, names: set[str]) -> list[str]:
    """What the named packages have put into a prefix, relative to it.

    Raises:
        UserError: a file holds the path of the prefix, so it would not work elsewhere.
    """
    found = []
    for record in sorted((prefix / "conda-meta").glob("*.json")):
        said = json.loads(record.read_text())
        if said["name"] not in names:
            continue
        paths = [p for p in said["paths_data"]["paths"] if not p["_path"].startswith(BESIDE_PYTHON) and not p["_path"].endswith(".pyc")]
        if tied := [path["_path"] for path in paths if path.get("prefix_placeholder")]:
            raise UserError(f"{said['name']} has the path of its environment in {tied[0]}, so it cannot be carried; report this.")
        found += [path["_path"] for path in paths]
    return sorted(found)


def facts(root: Path, variant: Variant, records: list[RepoDataRecord], carried: list[str], site: str) -> dict:
    """What the other machine is told."""
    versions = {record.name.normalized: str(record.version) for record in records}
    sdk = variant.platform.sdk
    return {
        "variant": variant.name,
        "platform": variant.platform.id,
        "python": ".".join(versions["python"].split(".")[:2]),
        "torch": ".".join(versions["pytorch"].split(".")[:2]),
        "toolkit": variant.sdk_version if sdk and sdk.with_pytorch else "",
        "sdk": sdk.title if sdk else "",
        "needs": ["numpy", *(["triton"] if any(file.startswith(solve.FLAGGEMS_PACKAGE) for file in carried) else [])],
        "packages": carried,
        "site": site,
        "suites": variant.platform.tests.suites,
        "benchmarks": sorted(file.name for file in (root / "benchmarks").glob("*.py")),
    }


def pack(
    root: Path, variant: Variant, channels: list[str], wanted: list[str], folder: Path, work: Path, cache: Path, stage: Stage
) -> Path:
    """Write `torch-fl-<variant>.pyz` into a folder.

    Args:
        root: the sources, which the suites outside the packages and the benchmarks are taken from.
        wanted: specs of the built packages.
        work: an empty folder on the disk of the packages' cache.

    Raises:
        UserError: nothing fits, or the archive is too large to be carried.
    """
    lock, prefix, roots = work / "carry.lock", work / "prefix", {spec.split()[0] for spec in wanted}
    solved = solve.lock(channels, wanted, lock)
    names = names_needed(solved, roots) - names_needed(solved, LEFT_THERE)
    # Python is installed with them, since it decides where those that go with any Python lie.
    records = [record for record in solved if record.name.normalized in names | {"python"}]
    environment.make(prefix, lock, records, cache, stage)
    files = installed_files(prefix, names)
    site = next(Path(file).parents[1] for file in files if file.endswith("/torch_fl/__init__.py"))
    carried = sorted(record.file_name for record in records if record.name.normalized in names)
    built = json.loads((prefix / site / "torch_fl" / "compatibility.json").read_text())
    about = facts(root, variant, solved, carried, f"prefix/{site}") | {"cxx11_abi": built["torch_cxx11_abi"]}
    content = {f"prefix/{file}": prefix / file for file in files}
    for name in ("__init__", "main", "checks", "evidence", "files", "runner", "junit"):
        content[f"carried/{name}.py"] = root / "flbuild" / "carried" / f"{name}.py"
    for suite in about["suites"]:
        content |= {f"tests/{suite}/{file.name}": file for file in (root / "tests" / suite).glob("*.py")}
    content |= {str(file.relative_to(root)): file for file in (root / "benchmarks").rglob("*.py")}
    target = folder / f"torch-fl-{variant.name}.pyz"
    folder.mkdir(parents=True, exist_ok=True)
    write(target, content, {"__main__.py": MAIN, "facts.json": json.dumps(about, indent=1)})
    stage.detail = f"{len(carried)} packages, {target.stat().st_size / 1e6:.1f} MB"
    return target


def write(target: Path, files: dict[str, Path], texts: dict[str, str]) -> None:
    """The archive; the same files give the same bytes.

    Raises:
        UserError: it is larger than what can be carried at a time.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted([*files, *texts]):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, texts[name] if name in texts else files[name].read_bytes())
    if target.stat().st_size > LIMIT:
        raise UserError(f"{target} has {target.stat().st_size >> 20} MiB, and {LIMIT >> 20} can be carried; leave kernels out with FLAGOS_BUILD_*.")
