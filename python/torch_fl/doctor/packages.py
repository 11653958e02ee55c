"""The packages: which are installed, twice perhaps, and whether their files are there."""

from collections.abc import Iterator

from torch_fl.doctor import Finding, records

OURS = ("torch-fl", "pytorch", "libtorch")


def check() -> Iterator[Finding]:
    """torch-fl's packages and PyTorch: versions, files, and second copies."""
    ours = {name: record for name, record in records.conda().items() if name in OURS or name.startswith("torch-fl-")}
    for name, record in sorted(ours.items()):
        damage = list(records.missing(record))
        if damage:
            path, there = damage[0]
            more = f" and {len(damage) - 1} more" if len(damage) > 1 else ""
            seen = f"{path}{more} {'has not the size that its record says' if there else 'is missing'}"
            yield Finding("wrong", f"package {name}", seen, f"install {name} again: conda install --force-reinstall {name}={record['version']}")
        else:
            yield Finding("fine", f"package {name}", f"{record['version']} {record['build']}, every file is there")
    yield from _copies("torch")
    yield from _copies("torch-fl")


def _copies(name: str) -> Iterator[Finding]:
    found = records.copies(name)
    if not found:
        yield Finding("wrong", name, f"the Python distribution {name} is not installed", f"install {records.CONDA_NAMES.get(name, 'torch-fl-runtime')}")
    elif len({str(copy.locate_file("")) for copy in found}) + len({copy.version for copy in found}) > 2:
        where = ", ".join(f"{copy.version} in {copy.locate_file('')}" for copy in found)
        yield Finding("wrong", name, f"is installed {len(found)} times ({where}), and the first wins", f"pip uninstall {name}, until one is left")
    elif _by_pip(found[0]) and records.CONDA_NAMES.get(name, name) in records.conda():
        conda = records.CONDA_NAMES.get(name, name)
        remedy = f"pip uninstall {name}; then conda install --force-reinstall {conda}"
        yield Finding("wrong", name, f"pip has installed {found[0].version} over conda's {conda} {records.conda()[conda]['version']}", remedy)


def _by_pip(copy) -> bool:
    return (copy.read_text("INSTALLER") or "").strip() in ("pip", "uv")
