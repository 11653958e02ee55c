"""What a solver says of requests that cannot be met, as text: `python -m tests.solve.refusals` writes refusals.txt anew.

People read these sentences, and the names of our packages are all that we can say in them: a change shows here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rattler.exceptions import SolverError

from tests.solve.metadata import EVERY, driver, solution, write_channel

GOLDEN = Path(__file__).with_name("refusals.txt")
Request = tuple[tuple[str, ...], dict[str, str]]


def requests() -> Iterator[Request]:
    """Specs and drivers: of each platform's newest SDK what it does not go with."""
    for name in {variant.platform.id: name for name, variant in EVERY.items()}.values():
        variant, there = EVERY[name], driver(name)
        mine, sdk = f"torch-fl=*={variant.build_prefix}_*", variant.platform.sdk
        other = "host" if not variant.platform.emulated else EVERY["cuda-13.0"].build_prefix
        yield (mine, f"torch-fl-platform=*={other}_*"), there
        yield (mine, "pytorch 2.9.*"), there
        if variant.platform.python != "any":
            yield (mine, "python 3.13.*"), there
        if there:
            yield (mine,), {}
            yield (mine,), dict.fromkeys(there, "11.8")
        if variant.sdk_spec:
            yield (mine, f"{sdk.name}-version <{variant.sdk_version.split('.')[0]}"), there
            yield (mine,), {sdk.name: "0.1"}
        if (variant.pins.triton_spec or "").startswith("flagtree "):
            yield (f"torch-fl-flaggems=*={variant.build_prefix}_*", "triton"), there


def plain(text: str) -> str:
    """Without what changes with every change of the recipe: hashes."""
    return re.sub(r"_h[0-9a-f]{7}_", "_h#######_", text).strip()


def explained(channel: Path) -> dict[str, str]:
    """Each request, in words, with the solver's explanation.

    Raises:
        AssertionError: a solver can meet one of them.
    """
    found = {}
    for specs, detected in requests():
        seen = ", ".join(f"__{name} {version}" for name, version in detected.items()) or "no driver"
        try:
            solution(channel, specs, detected)
        except SolverError as error:
            found[f"{'  '.join(specs)}  ({seen})"] = plain(str(error))
            continue
        raise AssertionError(f"{specs} with {seen} can be met")
    return found


def text(refusals: dict[str, str]) -> str:
    return "\n\n".join(f"> {request}\n{reason}" for request, reason in refusals.items()) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        GOLDEN.write_text(text(explained(write_channel(Path(folder), whole=False))), encoding="utf-8")
    print(f"{GOLDEN}: {sum(1 for _ in requests())} requests")
