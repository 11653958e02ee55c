"""Make the site: `build-locally.py --docs`. Its tools are an environment of their own, which nothing else waits for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from flbuild import pip, tool_environment
from flbuild.docs import operators, reference, stage
from flbuild.errors import UserError
from flbuild.layout import Layout, publish
from flbuild.platforms import load_all
from flbuild.report import Report, Stage

CONFIGURATION = Path(__file__).parent
INDEX = """\
# torch-fl

One PyTorch device, `flagos`, for accelerators of many vendors. On a machine with Linux, Python and a C++ compiler, in a clone of the sources:

```sh
python3 build-locally.py          # builds the packages, installs them and runs an example on emulated devices
python3 build-locally.py --test   # the same, then every test
```

![the two commands in a terminal](/docs/terminal.svg)

For an accelerator see [choosing a platform](/docs/choosing-a-platform.md), and [support](/reference/support.md) for what was seen on which card. The search field
looks through all pages, without a network.

"""
PUBLISHED = "published"  # files that lie beside the pages as they are
# The side bar. Pages that are not named here are reached by links.
CONTENTS = {
    "Begin": ["README", "docs/choosing-a-platform", "docs/user-guide", "docs/testing", "docs/troubleshooting"],
    "Run": ["docs/routing", "docs/flaggems", "docs/clusters", "docs/profiling", "docs/preflight", "docs/offline"],
    "Platforms": [],  # each platform's page
    "Reference": ["reference/support", "reference/operators", "reference/variables", "reference/compatibility"],
    "Inside": ["docs/architecture", "docs/packaging", "docs/contributing", "docs/contributing-a-platform", "docs/survey", "docs/triton-host", "docs/benchmarks"],
}


def make(layout: Layout, report: Report) -> Path:
    """Build the site and publish it whole.

    Returns:
        its first page.

    Raises:
        UserError: a page has a fault; the sentence names page and line.
    """
    with report.stage("documentation tools") as step:
        python = tools(layout, step)
    with report.stage("pages") as step:
        source = layout.quarantine("pages")
        step.detail = f"{len(pages(layout.root, source))} pages"
    with report.stage("documentation") as step:
        made = sphinx(python, source, layout.quarantine("docs"), layout.logs / "docs.log")
        publish(made, layout.artifacts / "docs")
        step.detail = str(layout.artifacts / "docs")
    return layout.artifacts / "docs" / "index.html"


def tools(layout: Layout, step: Stage) -> Path:
    """Python of the environment with the generator."""
    place, listed = layout.artifacts / "docs-tools", tool_environment.for_this_python(CONFIGURATION / "requirements")
    if tool_environment.is_current(place, listed):
        step.skip("unchanged")
    else:
        tool_environment.make(layout, place, listed)
        step.detail = f"{pip.download_bytes(listed) / 1e6:.0f} MB"
    return place / "bin/python"


def pages(root: Path, made: Path) -> list[str]:
    """Put all pages, those of the tree and the generated ones, into a folder.

    Returns:
        their names, relative to it.
    """
    platforms = load_all(root)
    generated = {
        "reference/support.md": reference.support(platforms, root),
        "reference/variables.md": reference.variables(root),
        "reference/operators.md": operators.page(root),
        "reference/compatibility.md": reference.compatibility(),
    }
    names = stage.copy(root, made, extra={name: text for name, text in generated.items()})
    (made / PUBLISHED).mkdir(parents=True)
    (made / PUBLISHED / reference.SCHEMA).write_text(reference.schema(), "utf-8")
    (made / "index.md").write_text(INDEX + "\n".join(contents(names)), "utf-8")
    return [*names, "index.md"]


def contents(names: list[str]) -> list[str]:
    """The side bar's parts, as Sphinx wants them.

    Raises:
        UserError: it names a page that is not there.
    """
    parts = []
    for title, listed in CONTENTS.items():
        listed = listed or [name.removesuffix(".md") for name in sorted(names) if name.startswith("src/platforms/")]
        if missing := [name for name in listed if f"{name}.md" not in names]:
            raise UserError(f"the side bar names {missing[0]}.md, which is not there: correct CONTENTS in flbuild/docs/site.py.")
        parts.append(f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n" + "\n".join(f"/{name}" for name in listed) + "\n```\n")
    return parts


def sphinx(python: Path, source: Path, made: Path, log: Path) -> Path:
    """The site of a folder of pages; every warning is an error, a link to a place that is not there among them."""
    log.parent.mkdir(parents=True, exist_ok=True)
    options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-c", CONFIGURATION, "-d", made.parent / "doctrees", "-D", f"html_extra_path={source / PUBLISHED}"]
    command = [python, "-m", "sphinx", *options, source, made]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        said = [line.replace(f"{source}/", "") for line in done.stderr.splitlines() if "WARNING:" in line or "ERROR:" in line]
        raise UserError(f"the documentation has {len(said) or 'unknown'} faults, the first: {pip.shorten(said[0] if said else done.stderr.strip()[-240:])}; all are in {log}")
    return made
