"""Every Python block of the documentation runs in the installed environment, the blocks of a page in order."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if BLOCK.search(page.read_text())]


def test_there_are_snippets():
    assert [page.name for page in PAGES] == ["README.md", "profiling.md", "user-guide.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, tmp_path, installed_python):
    script = tmp_path / f"{page.stem}.py"
    script.write_text("\n".join(BLOCK.findall(page.read_text())))
    done = subprocess.run([installed_python, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["preflight.md", "offline.md"])
def test_commands_of_a_page(page, installed_python):
    """In the clone, with the environment's programs first, as the page's reader types them."""
    commands = re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # the sources', which are not installed
    path = os.pathsep.join([str(Path(installed_python).parent), kept["PATH"]])
    done = subprocess.run(["bash", "-ec", "\n".join(commands)], cwd=ROOT, env=kept | {"PATH": path}, capture_output=True, text=True, timeout=300)
    assert commands and done.returncode == 0, done.stdout + done.stderr


def test_links_of_the_pages_exist():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
