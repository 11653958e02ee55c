"""From any Python to the private tool environment. Standard library only.

`start` answers what needs no tools (help, list, clean, a wrong name), checks the host, makes the environment when its
requirements or the interpreter changed, and continues as `python -m flbuild` inside it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

from flbuild import arguments, lock, pip, preflight, pythons, tool_environment, variant_files
from flbuild.errors import UserError, from_os_error
from flbuild.layout import Layout, remove

ROOT = Path(__file__).resolve().parents[1]
HANDOVER = "TORCH_FL_BUILD_HANDOVER"
# Variables of the caller's shell that would change a build; the rest (proxies, pip's settings, CC, CXX) is kept.
UNWANTED = re.compile(
    r"PYTHON.*|VIRTUAL_ENV.*|CONDA_(?!OVERRIDE_|CHANNEL_).*|MAMBA_.*|PIXI_.*|RATTLER_(?!DEFAULT_).*|CMAKE_.*|LD_.*"
    r"|(C|CXX|CPP|LD)FLAGS|CPATH|.*_INCLUDE_PATH|LIBRARY_PATH|MAKEFLAGS|DESTDIR|FLAGOS_(?!BUILD_).*|TORCH_.*"
)


def start(argv: list[str]) -> int:
    """Do what needs no tools, else continue inside the tool environment (then this does not return).

    Returns:
        the exit status.
    """
    args = arguments.parser().parse_args(argv)
    layout = Layout(ROOT)
    try:
        if args.list:
            print("\n".join(variant_files.names(ROOT, args.emulated)))
            return 0
        if args.platform != "linux-64":
            raise UserError(f"packages are built for linux-64 only so far, not {args.platform}; leave --platform out.")
        if args.clean:
            return clean(layout)
        wanted = wanted_python(args)
        if wanted and wanted != preflight.python_version() and (other := pythons.find(wanted)):
            os.execv(other, [str(other), str(ROOT / "build-locally.py"), *argv])
        layout = Layout(ROOT, python=wanted if wanted == preflight.python_version() else "")
        preflight.check_host(layout.artifacts)
        descriptor = lock.take(layout.artifacts)
        stage = make_tools(layout, quiet=args.json)
        handover = {"lock": descriptor, "stages": [stage]}
        os.execve(
            layout.tools / "bin/python", ["python", "-B", "-m", "flbuild", *argv], clean_environment(layout, handover)
        )
    except UserError as error:
        return fail(error, args.json)
    except OSError as error:
        return fail(from_os_error(error, layout.artifacts), args.json)
    except KeyboardInterrupt:
        print("\nInterrupted; the next run carries on.", file=sys.stderr)
        return 130


def wanted_python(args: argparse.Namespace) -> str:
    """The minor of Python that the variant is pinned to, where the test channel may have to be made of it; else empty.

    Raises:
        UserError: there is no such variant.
    """
    minor = variant_files.python_of(ROOT, args.variant)
    return minor if not args.emulated and {"auto", "seed"} & set(args.channel or ["auto"]) else ""


def fail(error: UserError, as_json: bool) -> int:
    print(f"build-locally.py: {error}", file=sys.stderr)
    if as_json:
        print(json.dumps({"ok": False, "error": str(error), "stages": []}, indent=2))
    return 1


def clean(layout: Layout) -> int:
    if layout.artifacts.exists():
        lock.take(layout.artifacts)
        remove(layout.artifacts)
        print(f"removed {layout.artifacts}")
    else:
        print(f"nothing to remove: {layout.artifacts} does not exist")
    return 0


def make_tools(layout: Layout, quiet: bool) -> dict:
    """The tool environment.

    Returns:
        the stage, as `--json` prints it.
    """
    listed, begun = tool_environment.for_this_python(ROOT / "flbuild" / "requirements"), time.monotonic()
    if tool_environment.is_current(layout.tools, listed):
        return {"name": "tools", "seconds": 0.0, "detail": "unchanged", "skipped": True}
    if not quiet:
        why = "the requirements or the interpreter changed" if layout.tools.exists() else "first run"
        print(f"tools: downloading {pip.download_bytes(listed) / 1e6:.0f} MB, 250 MB on disk ({why})", flush=True)
    tool_environment.make(layout, layout.tools, listed)
    seconds = time.monotonic() - begun
    if not quiet:
        print(f"  tools{'':33}{seconds:7.1f} s", flush=True)
    return {"name": "tools", "seconds": round(seconds, 2), "detail": listed.name, "skipped": False}


def clean_environment(layout: Layout, handover: dict) -> dict[str, str]:
    """The caller's environment without what would leak into a build."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not UNWANTED.fullmatch(name) or name == "TORCH_FL_PIXI_SCHEMA"
    }
    search = [str(layout.tools / "bin"), kept.get("PATH", os.defpath)]
    return kept | {"PATH": os.pathsep.join(search), "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lab")]), HANDOVER: json.dumps(handover)}
