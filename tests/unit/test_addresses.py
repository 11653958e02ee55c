"""Addresses in the tree are those of the pages themselves: no altered one, no proxy, no package registry."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^/\s\"'<>@]*@)?([A-Za-z0-9.-]*[A-Za-z0-9])")
# A host without a scheme; endings that Python's attributes and file names have, too, are left to ADDRESS.
BARE = re.compile(r"(?<![\w.@/-])((?:[a-z0-9-]+\.)+(?:org|com|net|io|cn|cloud))(?![\w(=-])")
ALLOWED = {
    "github.com",
    "pixi.sh",
    "www.apache.org",  # the licence
    "www.w3.org",  # names of SVG's and XLink's elements, which nothing fetches
    "resource.flagos.net",  # FlagOS' own index: where FlagTree, FlagGems and FlagCX come from
    "tracing",  # chrome://tracing, a page of the browser
    "127.0.0.1",
    "example.org",
}
ATTRIBUTES = {"self.net"}


def foreign(text: str) -> list[str]:
    """The hosts in a text that are not allowed."""
    found = [*ADDRESS.findall(text), *BARE.findall(text)]
    return sorted({host for host in found if host.lower() not in ALLOWED | ATTRIBUTES})


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://github.0123456789.workers.example/a/b.git",
        "index-url = https://pkgs.example.com/simple",
        "see wheels.example.net for it",
        "https://user@10.0.0.1/x",
        "https://github.com.example.cn/",
    ],
)
def test_an_altered_address_is_seen(text):
    assert foreign(text)


def test_no_tracked_file_has_a_foreign_address():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name and name != Path(__file__).relative_to(ROOT).as_posix()]
    assert len(files) > 500
    wrong = {}
    for file in files:
        if file.is_file() and not file.is_symlink() and (hosts := foreign(file.read_text("utf-8", errors="replace"))):
            wrong[file.relative_to(ROOT).as_posix()] = hosts
    assert wrong == {}, "write the address of the page itself, or none; a new page's host is added to ALLOWED"
