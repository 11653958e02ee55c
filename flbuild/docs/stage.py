"""The pages of the site, copied with the files that they link to, so that every link leads somewhere in the copy.

Pages lie where they lie in the tree and are found by their links, so a page is part of the site when another one names it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from flbuild.errors import UserError

FENCE = re.compile(r"^ *(```|~~~)")
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^()\s]+)(?P<after>\))")
CODE = re.compile(r"(`+)(?:(?!\1).)+\1")


def first_pages(root: Path) -> list[Path]:
    """Where the search for pages begins: the README, docs/, and a page for each platform."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "src/platforms").glob("*/README.md"))]


def copy(root: Path, made: Path, extra: dict[str, str]) -> list[str]:
    """Copy the pages, and what they link to, into `made`.

    Args:
        extra: pages that are not in the tree, by their names; links in them are written from the root already.

    Returns:
        the pages, relative to the root.

    Raises:
        UserError: a link leads nowhere, or out of the tree; the sentence names page and line.
    """
    root = root.resolve()
    todo, done = [page.resolve() for page in first_pages(root)], list(extra)
    for name, text in extra.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, "utf-8")
        for path in linked_from(text, root):
            bring(path, root, made, todo)
    while todo:
        page = todo.pop(0)
        name = page.relative_to(root).as_posix()
        if name in done:
            continue
        done.append(name)
        text, linked = resolved(page, root)
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, "utf-8")
        for path in linked:
            bring(path, root, made, todo)
    return done


def bring(path: Path, root: Path, made: Path, todo: list[Path]) -> None:
    """What a page links to: another page waits for its turn, a file is copied."""
    if path.suffix == ".md":
        todo.append(path)
        return
    target = made / path.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def linked_from(text: str, root: Path) -> list[Path]:
    """The files of the tree that a made page links to."""
    targets = {match["target"].lstrip("/").partition("#")[0] for match in LINK.finditer(text) if match["target"].startswith("/")}
    return [root / target for target in sorted(targets)]


def resolved(page: Path, root: Path) -> tuple[str, list[Path]]:
    """A page's text with the links written from the root, and the files they name."""
    linked: list[Path] = []
    lines = []
    for number, line, prose in numbered(page.read_text("utf-8")):
        if not prose:
            lines.append(line)
            continue
        spans = [match.span() for match in CODE.finditer(line)]

        def replace(match: re.Match[str], number: int = number, spans: list = spans) -> str:
            if any(begin < match.start("target") < end for begin, end in spans):
                return match[0]
            return f"{match['before']}{written(match['target'], page, number, root, linked)}{match['after']}"

        lines.append(LINK.sub(replace, line))
    return "\n".join(lines) + "\n", linked


def numbered(text: str) -> Iterator[tuple[int, str, bool]]:
    """The lines with their numbers, and whether each is prose: not in a fenced block."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        yield number, line, not (fence or mark)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]


def written(target: str, page: Path, line: int, root: Path, linked: list[Path]) -> str:
    """One link as the copy has it. Of an address outside only the form is looked at: nothing is asked of a network."""
    where = f"{page.relative_to(root)}:{line}"
    parts = urlsplit(target)
    if parts.scheme:
        if parts.scheme not in ("http", "https") or not parts.hostname or "." not in parts.hostname:
            raise UserError(f"{where}: {target} is no address of a page; write https:// and a host.")
        return target
    if not parts.path:
        return target  # a place on the same page, which Sphinx checks
    path = (page.parent / parts.path).resolve()
    if not path.is_relative_to(root):
        raise UserError(f"{where}: the link {target} leads out of the tree; name a file of the project.")
    name = path.relative_to(root).as_posix()
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    if not path.is_file():
        raise UserError(f"{where}: the link {target} leads to no file; correct it or remove it.")
    linked.append(path)
    return f"/{name}{anchor}"
