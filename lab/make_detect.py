"""Write the platforms' facts into torch_fl_lab/detect.py: `python3 lab/make_detect.py src/platforms OUTPUT`.  Standard library only."""

import json
import os
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pip has a copy of its own
    from pip._vendor import tomli as tomllib

KEPT = ("title", "name", "versions", "root", "root_variables", "probe", "device_nodes", "driver_command", "virtual_package", "with_pytorch")


def facts(folder: Path) -> list[dict]:
    """What detection needs of each platform with an SDK, by id.

    Raises:
        SystemExit: there is none.
    """
    found = []
    for path in sorted(folder.glob("*/platform.toml")):
        said = tomllib.loads(path.read_text("utf-8"))
        if "sdk" in said:
            sdk = {key: said["sdk"][key] for key in KEPT if key in said["sdk"]}
            found.append({"id": said["id"], "name": said["name"], "described": not (path.parent / "CMakeLists.txt").is_file(), "sdk": sdk})
    return found or sys.exit(f"{folder} has no platform.toml with an SDK; give src/platforms")


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, target = map(Path, sys.argv[1:])
    text = Path(__file__).with_name("torch_fl_lab").joinpath("detect.py").read_text("utf-8")
    said = json.dumps(facts(folder), sort_keys=True)
    head, _, tail = text.partition("\nFACTS = ")
    made = f"{head}\nFACTS = {said!r}{tail[tail.index('  # JSON') :]}"
    partial = target.with_name(target.name + ".partial")
    partial.write_text(made, "utf-8")
    os.replace(partial, target)


if __name__ == "__main__":
    main()
