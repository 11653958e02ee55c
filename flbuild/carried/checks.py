"""Whether the packages fit this machine; each misfit is one sentence with its remedy."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

FIT = """
import importlib.util, json, sys
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
said = {"missing": missing}
if "torch" not in missing:
    import torch
    said |= {"torch": torch.__version__, "toolkit": torch.version.cuda, "cxx11_abi": torch.compiled_with_cxx11_abi()}
print(json.dumps(said))
"""


class Unfit(Exception):
    """What does not fit, in a sentence."""


def interpreter(facts: dict) -> None:
    """Refuse another minor of Python than the packages are for."""
    found = "{}.{}".format(*sys.version_info[:2])
    if found != facts["python"]:
        raise Unfit(f"the packages are for Python {facts['python']} and this is {found} ({sys.executable}); run it with python{facts['python']}")


def benchmarks(facts: dict, asked: list[str]) -> list[list[str]]:
    """The asked benchmarks as words; refuses those that the archive lacks."""
    words = [shlex.split(text) for text in asked]
    unknown = [word[0] if word else "''" for word in words if not word or word[0] not in facts["benchmarks"]]
    if unknown:
        raise Unfit(f"--benchmark {unknown[0]}: there is no such benchmark in the archive; there are {', '.join(facts['benchmarks']) or 'none'}")
    return words


def environment(site: Path, jobs: int) -> dict[str, str]:
    """Variables for everything that runs: the unpacked packages come first, and the files that run together share the processors."""
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // jobs))
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": threads}


def ask(code: str | Path, arguments: list[str], env: dict[str, str], cwd: Path) -> str:
    """What a piece of Python, or a file of it, prints in a process of its own.

    Raises:
        Unfit: it failed; its last line is given.
    """
    command = [sys.executable, *(["-c", code] if isinstance(code, str) else [code]), *arguments]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Unfit(lines[-1] if lines else f"Python ended with status {done.returncode} and said nothing")
    return done.stdout


def fits(facts: dict, env: dict[str, str], folder: Path) -> str:
    """Refuse a PyTorch that the packages were not built for, and a machine that lacks what they need.

    Returns:
        PyTorch's version.
    """
    found = json.loads(ask(FIT, ["torch", *facts["needs"]], env | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, folder).splitlines()[-1])
    if found["missing"]:
        names = ", ".join(found["missing"])
        raise Unfit(f"{sys.executable} has no {names}, which the archive leaves to this machine; install it, or run another Python")
    minor = ".".join(found["torch"].split(".")[:2])
    if minor != facts["torch"]:
        raise Unfit(f"the packages are for PyTorch {facts['torch']} and {sys.executable} has {found['torch']}; install PyTorch {facts['torch']}")
    if found["cxx11_abi"] != facts["cxx11_abi"]:
        raise Unfit(f"PyTorch {found['torch']} of {sys.executable} has another C++ ABI than the packages; install the build of its own index")
    wanted = facts["toolkit"].split(".")[0]
    if wanted and (found["toolkit"] or "").split(".")[0] != wanted:
        raise Unfit(f"the packages are for a PyTorch with {facts['sdk']} {wanted}, and {found['torch']} has {found['toolkit'] or 'none'}; install that")
    return found["torch"]


def device(facts: dict, env: dict[str, str], folder: Path) -> dict:
    """What `torch-fl test` notes about devices and versions.

    Raises:
        Unfit: torch_fl does not start, or has no device.
    """
    about = json.loads(ask(folder / "carried" / "evidence.py", ["about"], env, folder))
    if not about["devices"]:
        raise Unfit(f"there is no device here; look at the driver of {about['platform']}")
    return about


def write_evidence(env: dict[str, str], folder: Path, said: dict, junit: Path, evidence: Path) -> str:
    """The file of evidence, in the form of `torch-fl test`; what a person should know of it."""
    arguments = ["write", json.dumps(said), str(junit), str(evidence)]
    return ask(folder / "carried" / "evidence.py", arguments, env, folder).strip()
