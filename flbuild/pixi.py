"""What pixi.toml says of the platforms: for each an environment with the neighbours' pins, and tasks that build and test it there.

An environment has the Python and the PyTorch that a platform is built for, and the neighbours that are on no conda channel from
the FlagOS index. torch-fl itself is built into environments of its own by the tasks: it is on no public channel yet.
"""

from __future__ import annotations

from pathlib import Path

import tomlkit

from flbuild.platforms import REVISION, Platform, variants
from flbuild.variant_files import has_emulation

FLAGOS_INDEX = "https://resource.flagos.net/repository/flagos-pypi-hosted/simple"
# Packages of the neighbours, by the key of [pins]; where they have no release, their sources.
NEIGHBOURS = {"flagtree": "flagtree", "triton": "triton", "flaggems": "flag-gems", "flagcx": "flagcx"}
SOURCES = {"flaggems": "https://github.com/flagos-ai/FlagGems"}
REFERENCE_PYTHON = "3.11"


def machine(platform: Platform, arch: str) -> str:
    """The name of a workspace platform: a conda subdir, or where solvers must be told of a driver, one with the platform's name."""
    return f"{arch}-{platform.id}" if platform.sdk and platform.sdk.virtual_package else arch


def machines(platforms: list[Platform]) -> list[str | dict[str, str]]:
    """The workspace's platforms: conda subdirs, and tables that also declare the oldest driver that a build runs on."""
    plain = sorted({arch for platform in platforms for arch in platform.arch})
    declared = [
        {"name": machine(platform, arch), "platform": arch, platform.sdk.virtual_package.strip("_"): platform.sdk.versions[0]}
        for platform in platforms
        if platform.sdk and platform.sdk.virtual_package
        for arch in platform.arch
    ]
    return [*plain, *declared]


def machines_line(platforms: list[Platform]) -> str:
    """`platforms = [...]` of the workspace: tables on one line, since TOML 1.0 has no others in a list."""
    array = tomlkit.array()
    for entry in machines(platforms):
        if isinstance(entry, str):
            array.append(entry)
        else:
            array.append(inline(entry))
    return f"platforms = {array.as_string()}"


def inline(entries: dict) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update(entries)
    return table


def requirement(key: str, pin: str) -> str | dict[str, str] | None:
    """A pin as pixi writes a package of a Python index; None where nothing can be asked for."""
    if pin in ("none", "unknown"):
        return None
    if revision := REVISION.fullmatch(pin):
        return {"git": SOURCES[key], "rev": revision[1]}
    return f"=={pin}"  # `3.7.*`, too


def feature(platform: Platform) -> tomlkit.items.Table:
    """Python, PyTorch and the neighbours of a platform."""
    made = tomlkit.table()
    made["platforms"] = [machine(platform, arch) for arch in platform.arch]
    newest = variants(platform)[-1]
    needs = tomlkit.table()
    needs["python"] = f"{newest.minors.get('python', REFERENCE_PYTHON)}.*"
    if minor := newest.minors.get("pytorch"):
        needs["pytorch"] = f"{minor}.*"
    made["dependencies"] = needs
    pins = {name: getattr(platform.pins, key) for key, name in NEIGHBOURS.items()}
    wanted = {name: requirement(key, getattr(platform.pins, key)) for key, name in NEIGHBOURS.items()}
    neighbours = tomlkit.table()
    for name, asked in wanted.items():
        if isinstance(asked, dict):
            neighbours[name] = inline(asked)
        elif asked is not None:
            neighbours[name] = asked
        elif pins[name] == "unknown":
            neighbours.add(tomlkit.comment(f"{name}: no public source names the version"))
    if any(asked is not None for asked in wanted.values()):
        options = tomlkit.table()
        options["extra-index-urls"] = [FLAGOS_INDEX]
        made["pypi-options"] = options
    if neighbours.value.body:
        made["pypi-dependencies"] = neighbours
    return made


def tasks(platform: Platform, root: Path) -> dict[str, tomlkit.items.Table]:
    """`test-<platform>`, which pixi runs in the platform's own environment, and the same on its emulation where there is one."""
    names = [variant.name for variant in variants(platform)]
    given = {"args": [{"arg": "variant", "default": names[-1], "choices": names}]}

    def task(description: str, option: str) -> tomlkit.items.Table:
        made = tomlkit.table()
        made.update({"description": description, **given, "cmd": ["python", "build-locally.py", "{{ variant }}", option]})
        return made

    found = {f"test-{platform.id}": task(f"Build, install and test torch-fl for {platform.name}", "--test")}
    if platform.described:
        found[f"test-{platform.id}"]["description"] = f"{platform.name}: described only; says what is missing"
    if platform.sdk and has_emulation(root, platform.id):
        found[f"test-{platform.id}-emulated"] = task(f"The same on the emulated {platform.sdk.title} SDK, on any machine", "--emulated")
    return found


def platforms_block(platforms: list[Platform], root: Path) -> str:
    """All of it, as TOML 1.0 text."""
    document = tomlkit.document()
    environments, features, own = tomlkit.table(), tomlkit.table(is_super_table=True), tomlkit.table(is_super_table=True)
    environments["default"] = inline({"features": ["python"]})
    for platform in platforms:
        environments[platform.id] = inline({"features": [platform.id]})
        features[platform.id] = feature(platform)
        for name, task in tasks(platform, root).items():
            on_card = name == f"test-{platform.id}" and platform.sdk and not platform.described
            (features[platform.id].setdefault("tasks", tomlkit.table(is_super_table=True)) if on_card else own)[name] = task
    document["environments"] = environments
    document["feature"] = features
    document["tasks"] = own
    return tomlkit.dumps(document).strip()
