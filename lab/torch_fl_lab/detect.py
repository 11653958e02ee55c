"""Which accelerator, SDK and driver are on this machine, and what to type: `python3 torch-fl-detect.py`, before anything is installed.

One file for any Python from 3.8 on, with nothing but its standard library; it looks, and changes nothing.  `lab/make_detect.py` writes the
platforms' facts into it; the package `torch-fl-lab` has it so, too.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

FACTS = "[]"  # JSON: of each platform what src/platforms/<id>/platform.toml says; written by lab/make_detect.py
SCHEMA = 1
PATIENCE = 20  # seconds for a driver's program


def said(command):
    """What a program prints; None where it is not there or does not end well."""
    if not command or shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def driver_limit(command):
    """The newest version of the SDK that a driver runs, where its program says so: `CUDA Version: 13.0`."""
    found = re.search(r"\b[A-Z]+ Version: *(\d+(?:\.\d+)+)", said(command[:1]) or "")
    return found.group(1) if found else None


def look(platform):
    """What of a platform is here.

    Returns:
        None, or a dictionary: `seen` (what it was recognized by), `sdk_root`, `driver`, `limit`, `variant`, `problem`.
    """
    sdk = platform.get("sdk") or {}
    seen, root = [], None
    named = [(name, os.environ[name]) for name in sdk.get("root_variables", []) if os.environ.get(name)]
    for source, folder in [*named, ("", sdk.get("root", ""))]:
        if folder and os.path.exists(os.path.join(folder, sdk["probe"]) if sdk.get("probe") else folder):
            root = folder
            seen.append("the SDK in " + folder + (" (" + source + ")" if source else ""))
            break
    nodes = sorted(path for pattern in sdk.get("device_nodes", []) for path in glob.glob(pattern))
    if nodes:
        seen.append("devices " + ", ".join(nodes))
    driver = said(sdk.get("driver_command"))
    if driver is not None:
        seen.append("its driver's " + sdk["driver_command"][0])
    card = driver is not None or bool(nodes)
    if not seen or (sdk.get("with_pytorch") and not card):  # such a kit alone is everywhere where people compile
        return None
    limit = driver_limit(sdk["driver_command"]) if driver is not None and sdk.get("virtual_package") else None
    found = {"id": platform["id"], "name": platform["name"], "seen": seen, "sdk_root": root, "driver": driver.splitlines()[0] if driver else None, "limit": limit}
    return dict(found, **choose(platform, sdk, root, limit))


def choose(platform, sdk, root, limit):
    """The build for it, or what stands against one."""
    versions = sorted(sdk.get("versions", []), key=numbers)
    usable = [version for version in versions if limit is None or numbers(version) <= numbers(limit)]
    if platform["described"]:
        return {"variant": None, "problem": platform["name"] + " is described and cannot be built yet; the page of the platform says what is known"}
    if versions and not usable:
        return {"variant": None, "problem": "the driver is too old: it runs {0} {1}, and {0} {2} is the least; install a newer driver".format(sdk["title"], limit, versions[0])}
    of_root = [version for version in usable if root and limit is None and re.search(r"(?<![\d.])" + re.escape(version) + r"(?![\d.])", os.path.realpath(root))]
    version = (of_root or usable or [None])[-1]
    variant = platform["id"] if version is None else platform["id"] + "-" + version
    build = platform["id"] if version is None else platform["id"] + "_" + sdk["name"] + version.replace(".", "")
    unsure = len(usable) > 1 and not of_root and limit is None
    words = "which version of {0} this is does not show: take the build for yours, of {1}".format(sdk.get("title"), ", ".join(usable))
    return {"variant": variant, "build": build, "problem": words if unsure else None}


def commands(found):
    """What to type for what was found: with conda, with pixi, and with nothing but Python."""
    if found is None:
        return ["conda install torch-fl", "pixi run demo", "python3 build-locally.py"]
    build, variant = found["build"], found["variant"]
    return ['conda install "torch-fl=*={0}_*"'.format(build), "pixi run test-{0} {1}".format(found["id"], variant), "python3 build-locally.py {0} --test".format(variant)]


def detect(facts):
    """Everything that is here, as one document."""
    found = [result for result in map(look, facts) if result is not None]
    ready = [result for result in found if result["variant"]]
    return {"schema": SCHEMA, "found": found, "commands": {result["id"]: commands(result) for result in ready} or {"host": commands(None)}}


def show(result):
    for platform in result["found"]:
        print("{0}: {1}".format(platform["name"], "; ".join(platform["seen"])))
        if platform["limit"]:
            print("  the driver runs versions up to {0}".format(platform["limit"]))
        if platform["problem"]:
            print("  " + platform["problem"])
    if not result["found"]:
        print("no accelerator that torch-fl knows was found: the platform `host` emulates devices in host memory, and is the whole thing but for the speed")
    for name, lines in result["commands"].items():
        print("\nfor {0}, one of:\n  {1}".format(name, "\n  ".join(lines)))
    emulated = "python3 build-locally.py VARIANT --emulated"
    print("\nWithout a card the packages of some platforms can be tried on an emulated SDK: {0} (--list --emulated says which).".format(emulated))


def main(arguments=None, name="torch-fl-detect.py"):
    """Print what is here; the exit status is 0 where there is a build for it, host's included, and 1 where something stands against one."""
    parser = argparse.ArgumentParser(prog=name, description="Which accelerator, SDK and driver are on this machine, and what to type. Nothing is changed.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    facts = json.loads(FACTS)
    if not facts:
        sys.exit(name + ": this copy has no facts about platforms; make one: python3 lab/make_detect.py src/platforms torch-fl-detect.py")
    result = detect(facts)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    return 1 if result["found"] and not any(platform["variant"] for platform in result["found"]) else 0


if __name__ == "__main__":
    sys.exit(main())
