"""Reference pages that are made of the project's facts each time, so that they cannot be out of step: support and status,
environment variables, what packages say of themselves."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from torch_fl_lab.preflight.facts import Facts

from flbuild.platforms import Platform, PlatformError
from flbuild.sync import status_word

#: what a status says, by the form of the word
STATUS = {
    r"Reference": "emulated devices in host memory; every change is tested on them",
    r"Stable": "the whole contract suite passed on a card: the file of evidence says which, when, and with what",
    r"[\d.]+% of [\d,]+ tests pass": "the whole contract suite ran on a card and some of it failed: the file of evidence names each",
    r"Emulated": "the platform's own code is built and tested on an emulated SDK; no run on a card is known",
    r"Not validated": "there is a device layer, and nothing has tried it",
    r"Described": "facts alone, which the solver knows: there is no device layer, so nothing can be built",
}
SCHEMA = "compatibility.schema.json"
FILTERED = '<div class="filtered"></div>\n\n'  # the script of the site puts a field over the table that follows


def cell(text: object) -> str:
    """Text for a cell of a table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(heads: list[str], rows: list[list[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell(value) for value in line)} |" for line in lines) + "\n"


def support(platforms: list[Platform], root: Path) -> str:
    """The table of platforms, with links to what proves each status.

    Raises:
        PlatformError: a platform has a status that `STATUS` does not explain.
    """
    rows = []
    for platform in platforms:
        folder = f"/src/platforms/{platform.id}"
        page = f"[`{platform.id}`]({folder}/README.md)" if (root / folder[1:] / "README.md").is_file() else f"`{platform.id}`"
        sdk = f"{platform.sdk.title} {', '.join(platform.sdk.versions) or '(version unknown)'}" if platform.sdk else "none needed"
        minors = [value if isinstance(value, str) else ", ".join(value) for value in (platform.python, platform.pytorch)]
        proof = ", ".join(f"[{name}]({folder}/{name})" for name in platform.evidence) or "none"
        chosen = f"`{name}`" if (name := platform.sdk.visible_devices if platform.sdk else "FLAGOS_HOST_DEVICES") else "unknown"
        rows.append([page, platform.name, status_word(platform, root), proof, sdk, *minors, platform.hardware, chosen])
    heads = ["platform", "name", "status", "evidence", "SDK", "Python", "PyTorch", "hardware", "devices are chosen by"]
    return (
        "# Support\n\nA status is computed from files of evidence and never typed; `torch-fl test` writes such a file.\n\n"
        f"{FILTERED}{table(heads, rows)}\n## What the words of a status mean\n\n{table(['status', 'meaning', 'platforms'], statuses(platforms, root))}"
    )


def statuses(platforms: list[Platform], root: Path) -> list[list[object]]:
    """Each status with its meaning and who has it."""
    having: dict[str, list[str]] = {form: [] for form in STATUS}
    for platform in platforms:
        word = status_word(platform, root)
        form = next((form for form in STATUS if re.fullmatch(form, word)), None)
        if form is None:
            raise PlatformError(f"the status '{word}' of {platform.id} is not explained: add it to flbuild/docs/reference.py")
        having[form].append(f"`{platform.id}`")
    words = {r"[\d.]+% of [\d,]+ tests pass": "*n*% of *m* tests pass"}
    return [[words.get(form, form), meaning, ", ".join(having[form])] for form, meaning in STATUS.items()]


def variables(root: Path) -> str:
    """The environment variables, from the table that the package itself has."""
    known = runpy.run_path(str(root / "python/torch_fl/variables.py"))["VARIABLES"]
    older = runpy.run_path(str(root / "python/torch_fl/compat.py"))
    rows = []
    for variable in known:
        names = older["ENVIRONMENT"].get(variable.name, ())
        rows.append([f"`{variable.name}{'<operator>' if variable.name.endswith('_') else ''}`", variable.default, variable.meaning,
                     ", ".join(f"`{name}`" for name in names)])  # fmt: skip
    former = [[f"`{name}=1`", f"write `FLAGOS_LOG={word}`: it still works and says so"] for name, word in older["LOG_SWITCHES"].items()]
    former += [[f"`{name}`", f"has no effect: {remedy}"] for name, remedy in older["RETIRED"].items()]
    return (
        "# Environment variables\n\nEvery variable of torch-fl that a program's process reads. Vendors' variables, `TRITON_CACHE_DIR` and others of"
        " other software are on the pages that they matter to.\n\n"
        f"{FILTERED}{table(['variable', 'default', 'meaning', 'older names that still work'], rows)}\n"
        f"## Former ones\n\n{table(['variable', 'now'], former)}"
    )


def compatibility() -> str:
    """The keys of compatibility.json, from the model that reads it, and where the schema is."""
    schema = Facts.model_json_schema(by_alias=True)
    rows = [
        [f"`{name}`", _kind(said), "always" if name in schema["required"] else "where it is known", said.get("description", "")]
        for name, said in schema["properties"].items()
    ]
    return (
        "# compatibility.json\n\nIt is in every package and wheel of torch-fl that is for one platform; [torch-fl-preflight](/docs/preflight.md) reads it."
        f' Its <a href="../{SCHEMA}">JSON schema</a> is what `torch-fl-preflight --schema` prints.\n\n'
        f"{table(['key', 'value', 'is there', 'what it says'], rows)}"
    )


def schema() -> str:
    """The JSON schema of compatibility.json, as it is published beside the pages."""
    return json.dumps(Facts.model_json_schema(by_alias=True), indent=2) + "\n"


def _kind(said: dict) -> str:
    kinds = [choice for choice in said.get("anyOf", [said]) if choice.get("type") != "null"]
    words = {"object": "names with texts", "array": "texts", "string": "text", "boolean": "true or false", "integer": "number"}
    return f"`{json.dumps(kinds[0]['const'])}`" if "const" in kinds[0] else words[kinds[0]["type"]]
