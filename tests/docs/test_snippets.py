"""The blocks of the documentation run in the installed environment, those of a page in order.

A block that cannot be run here has a comment before it, `<!-- not run: the reason -->`.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>python|py|sh)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
ROUTES = re.compile(r"^```text\n# my\.conf\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "src/platforms").glob("*/README.md"))]
TRAIN = 'import torch\n\nassert (torch.ones(2, device="flagos") + 1).sum().item() == 4\n'


def blocks(page: Path, *languages: str) -> list[str]:
    """The blocks of a page that are to be run."""
    found = BLOCK.finditer(page.read_text())
    return [block["text"] for block in found if block["language"] in languages and not block["reason"]]


def having(*languages: str) -> list:
    """The pages with such blocks, as parameters."""
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES if blocks(page, *languages)]


def test_every_block_is_seen():
    for page in PAGES:
        text = page.read_text()
        assert len(BLOCK.findall(text)) == len(re.findall(r"^ *```(?:python|py|sh|bash|console)\b", text, re.MULTILINE)), page
    assert {"README.md", "docs/routing.md", "docs/user-guide.md"} <= {parameter.id for parameter in having("python")}
    assert {"docs/routing.md", "docs/troubleshooting.md"} <= {parameter.id for parameter in having("sh")}


@pytest.mark.parametrize("page", having("python", "py"))
def test_python(page, tmp_path, installed_python):
    script = tmp_path / f"{page.stem}.py"
    script.write_text("\n".join(blocks(page, "python", "py")))
    done = subprocess.run([installed_python, script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", having("sh"))
def test_shell(page, tmp_path, installed_python):
    """In a folder with the checkout's files, a program `train.py`, and the routing file that the page shows."""
    for entry in ROOT.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "train.py").write_text(TRAIN)
    for text in ROUTES.findall(page.read_text()):
        (tmp_path / "my.conf").write_text(text)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("FLAGOS_", "PYTHON"))}
    environ["PATH"] = f"{Path(installed_python).parent}{os.pathsep}{environ['PATH']}"
    script = "set -e\n" + "\n".join(blocks(page, "sh"))
    done = subprocess.run(["sh", "-c", script], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
