"""The pages of the site: every link leads somewhere, and what is generated follows the facts. Sphinx itself runs with `--docs`."""

import json
import re

import pytest
from torch_fl_lab.cli import app
from typer.testing import CliRunner

from flbuild.docs import operators, reference, site, stage
from flbuild.errors import UserError
from flbuild.platforms import ROOT, load_all


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return folder, site.pages(ROOT, folder)


def test_every_page_is_there_and_every_file_that_one_links_to(made):
    folder, names = made
    assert {"README.md", "docs/routing.md", "docs/clusters.md", "reference/variables.md", "index.md"} <= set(names)
    for platform in ("host", "cuda"):
        assert f"src/platforms/{platform}/README.md" in names
    links = 0
    for name in names:
        for target in re.findall(r"\]\(/([^()\s#]+)", (folder / name).read_text()):
            assert (folder / target).is_file(), f"{name} links to {target}"
            links += 1
    assert links > 100


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no-such.md", "docs/a.md:3: the link no-such.md leads to no file; correct it or remove it."),
        ("../../other.md", "docs/a.md:3: the link ../../other.md leads out of the tree; name a file of the project."),
        ("https:/x", "docs/a.md:3: https:/x is no address of a page; write https:// and a host."),
        ("gopher://example.org", "docs/a.md:3: gopher://example.org is no address of a page; write https:// and a host."),
    ],
)
def test_a_link_that_leads_nowhere_is_told_with_its_line(tmp_path, target, said):
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text(f"# A\n\n[b]({target})\n")
    with pytest.raises(UserError, match=re.escape(said)):
        stage.resolved(page, tmp_path)


def test_code_is_no_link(tmp_path):
    page = tmp_path / "a.md"
    page.write_text("`[x](nowhere)` and\n```\n[y](nowhere)\n```\n[here](#a)\n")
    assert stage.resolved(page, tmp_path) == (page.read_text(), [])


def test_each_status_is_explained_and_each_proof_linked():
    text = reference.support(load_all(ROOT), ROOT)
    for platform in load_all(ROOT):
        assert f"`{platform.id}`" in text
        for name in platform.evidence:
            assert f"(/src/platforms/{platform.id}/{name})" in text


def test_the_published_schema_is_the_command_s_and_its_page_names_every_key(made):
    folder, _ = made
    published = json.loads((folder / site.PUBLISHED / reference.SCHEMA).read_text())
    assert published == json.loads(CliRunner().invoke(app, ["preflight", "--schema"]).stdout)
    text = (folder / "reference/compatibility.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (always|where it is known) \| (.+) \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == list(published["properties"])
    assert dict((row[0], row[2]) for row in rows)["sdk_version"] == "where it is known"


def test_the_variables_that_choose_devices_are_those_of_the_platforms():
    page = (ROOT / "docs/clusters.md").read_text()
    said = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", page, re.MULTILINE))
    assert said == {p.id: p.sdk.visible_devices for p in load_all(ROOT) if p.sdk and p.sdk.visible_devices and not p.described}


def test_operators_show_routes_and_surveys():
    text = operators.page(ROOT)
    row = next(line for line in text.splitlines() if line.startswith("| `add.Tensor` |"))
    assert "flaggems, none" in row and "correct: " in row
    assert "| `host` |" in text and "| `musa` |" in text  # PyTorch's samples
