"""One report of pytest out of those of all files, with an error for each file that left none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from carried.runner import Outcome


def merge(outcomes: Iterable[Outcome], target: Path) -> None:
    """Write the joint report. A file without a whole one counts as one test of its name that ended with an error."""
    root = ElementTree.Element("testsuites")
    for outcome in outcomes:
        if not outcome.problem:
            root.extend(ElementTree.parse(outcome.junit).getroot())
            continue
        suite = ElementTree.SubElement(root, "testsuite", name=outcome.name)
        case = ElementTree.SubElement(suite, "testcase", classname=outcome.name, name="the whole file")
        ElementTree.SubElement(case, "error", message=outcome.problem)
    ElementTree.ElementTree(root).write(target, encoding="utf-8", xml_declaration=True)
