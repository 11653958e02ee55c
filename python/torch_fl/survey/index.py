"""Which of PyTorch's samples lead to which operator: found by running them all once, kept in the cache folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from . import operators
from .calls import fitted, run_samples, samples_by_name

SAMPLES = 24  # of each entry: enough to see what it is made of
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)  # the first that an entry supports
FORMAT = 3  # of the file
FEW = 24  # operators whose samples are found by their names: finding them all takes running them all



def entries_of(keys: Iterable[str], cache: Path | None = None) -> dict[str, list[str]]:
    """For each operator the OpInfo entries whose samples call it, the one that bears its name first."""
    keys = sorted(key for key in set(keys) if operators.overload(key) is not None)
    file = (cache or cache_folder()) / f"samples-{torch.__version__}-{FORMAT}.json"
    known: dict[str, list[str]] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    missing = [key for key in keys if key not in known]
    if missing:
        known |= build(missing)
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(known, indent=0, sort_keys=True), "utf-8")
        scratch.replace(file)
    return {key: known[key] for key in keys}


def by_name(keys: Iterable[str]) -> dict[str, list[str]]:
    """The entries whose names resemble the operators', without running any: enough for a few operators."""
    names = list(samples_by_name())
    return {
        key: sorted((n for n in names if nearness(key, n)[0] < 2), key=lambda n: nearness(key, n))[:3] for key in keys
    }


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/torch-fl/survey``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torch-fl" / "survey"


def build(keys: list[str]) -> dict[str, list[str]]:
    """Run every entry's first samples and see which operators are called."""
    wanted = set(keys)
    by_base: dict[str, list[str]] = {}
    for key in keys:
        by_base.setdefault(key.partition(".")[0], []).append(key)
    found: dict[str, list[str]] = {key: [] for key in keys}
    for name, info in samples_by_name().items():
        supported = info.supported_dtypes("cpu")
        dtype = next((d for d in DTYPES if d in supported), None)
        if dtype is None:
            continue
        seen: set[str] = set()

        def dispatched(key: str, args: Any, kwargs: Any, seen: set[str] = seen) -> None:
            seen.add(key)

        def named(base: str, args: Any, kwargs: Any, seen: set[str] = seen) -> None:
            seen.update(k for k in by_base.get(base, ()) if k not in seen and fitted(k, args, kwargs))

        run_samples(info, dtype, SAMPLES, dispatched, named)
        for key in seen & wanted:
            found[key].append(name)
    return {key: sorted(names, key=lambda name: nearness(key, name)) for key, names in found.items()}


def nearness(key: str, name: str) -> tuple[int, int, str]:
    """Sorts the entry that bears the operator's name first, then short names."""
    base = key.partition(".")[0].strip("_")
    words = name.replace("nn.functional.", "").replace("linalg.", "linalg_")
    alike = 0 if words == base else 1 if words.startswith(base) or base.startswith(words) else 2
    return alike, len(name), name
