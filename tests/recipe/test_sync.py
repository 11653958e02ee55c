"""What is derived from platform.toml is in step, and drift is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from flbuild import sync
from flbuild.platforms import ROOT, PlatformError


@pytest.fixture
def clone(tmp_path):
    """A copy of the files that the synchronisation reads and writes."""
    for name in ("src/platforms", "tests/emulation", "variants", "recipe", "flbuild"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "seed"))
    repeated = ("triton-host/torch_fl_triton_host/_version.py", "lab/torch_fl_lab/_version.py")
    for name in ("python/torch_fl/_version.py", *repeated, "pixi.toml", "README.md", "docs/opinfo.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def command(root, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "flbuild.sync", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_tree_is_in_step():
    assert [str(path.relative_to(ROOT)) for path in sync.out_of_step(sync.derived())] == []


def test_drift_is_named_and_repaired(clone):
    facts = clone / "src/platforms/host/platform.toml"
    facts.write_text(
        facts.read_text()
        .replace("\nflaggems = true", "\nflaggems = false")
        .replace('\noptional = ["flaggems"]', "\noptional = []")
        .replace('\nFLAGOS_BUILD_FLAGGEMS = "flaggems"', "")
    )
    (clone / "variants" / "gone-1.0.yaml").write_text("flagos_platform: [gone]\n")
    (clone / "python/torch_fl/_version.py").write_text('__version__ = "0.9.7"\n')
    code, text = command(clone, "--check")
    assert code == 1
    assert {line.split(":")[0] for line in text.splitlines() if "is out of step" in line} == {
        "variants/host.yaml",
        "variants/gone-1.0.yaml",
        "recipe/recipe.yaml",
        "triton-host/torch_fl_triton_host/_version.py",
        "lab/torch_fl_lab/_version.py",
    }
    assert "run: python -m flbuild.sync" in text
    assert command(clone)[0] == 0
    assert command(clone, "--check") == (0, "")
    assert not (clone / "variants" / "gone-1.0.yaml").exists()
    assert '  version: "0.9.7"' in (clone / "recipe/recipe.yaml").read_text()
    assert '__version__ = "0.9.7"' in (clone / "triton-host/torch_fl_triton_host/_version.py").read_text()
    assert 'flagos_flaggems:\n  - "no"' in (clone / "variants/host.yaml").read_text()


def test_writing_twice_changes_nothing(clone):
    command(clone)
    before = {
        path: path.read_bytes()
        for path in clone.rglob("*")
        if path.is_file() and path.suffix in (".yaml", ".toml", ".md")
    }
    command(clone)
    assert {path: path.read_bytes() for path in before} == before


def test_missing_markers_get_a_sentence(clone):
    (clone / "pixi.toml").write_text("[workspace]\n")
    code, text = command(clone, "--check")
    assert code == 2 and "pixi.toml: needs the lines" in text and "Traceback" not in text
    with pytest.raises(PlatformError, match="exactly once"):
        sync.derived(clone)


def test_the_percentage_of_the_readme_is_that_of_the_report(clone):
    path = clone / "docs/opinfo.json"
    summary = json.loads(path.read_text())
    families = {
        "unary": {"cases": 2470, "refused": 1, "pass": 1234},
        "modules": {"cases": 31, "refused": 0, "pass": 16},
    }
    totals = summary["totals"] | {"cases": 2501, "refused": 1, "pass": 1250}
    path.write_text(json.dumps(summary | {"families": families, "totals": totals}))
    assert "README.md: is out of step" in command(clone, "--check")[1]
    assert command(clone)[0] == 0
    text = (clone / "README.md").read_text()
    assert "**49.98%** of 2,469 cases" in text and "50.00% of 2,500" in text
    path.write_text("{}")
    assert "docs/opinfo.json: is no summary of a run" in command(clone, "--check")[1]
