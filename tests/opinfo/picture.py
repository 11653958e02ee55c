"""A picture of a summary: one bar for each family of operators."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from .report import called

COLOURS = {
    "pass": "#2f855a",
    "expected": "#d69e2e",
    "refused": "#cbd5e0",
    "fail": "#c53030",
    "crash": "#742a2a",
    "timeout": "#6b46c1",
    "broken": "#718096",
}
WIDTH, LABEL, BAR, ROW, TOP = 760, 150, 440, 24, 64
FONT = {"font-family": "system-ui, sans-serif", "font-size": "13", "fill": "#4a5568"}


def svg(summary: dict[str, Any]) -> str:
    """The picture's text."""
    families = sorted(summary["families"].items(), key=lambda item: -item[1]["cases"])
    height = TOP + ROW * len(families) + 16
    root = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", role="img", width=str(WIDTH)
    )
    totals = summary["totals"]
    title = f"{summary['percent']} % of {totals['cases'] - totals['refused']} cases pass on flagos as on {called(summary['against'])}"
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "rect", width=str(WIDTH), height=str(height), fill="#ffffff")
    text(root, 16, 26, title, {"font-size": "16", "font-weight": "600", "fill": "#1a202c"})
    legend(root, summary)
    for row, (name, counts) in enumerate(families):
        bar(root, TOP + ROW * row, name, counts)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def legend(root: ElementTree.Element, summary: dict[str, Any]) -> None:
    place = 16
    for status, colour in COLOURS.items():
        if not summary["totals"][status]:
            continue
        ElementTree.SubElement(root, "rect", x=str(place), y="38", width="11", height="11", rx="2", fill=colour)
        text(root, place + 16, 48, status)
        place += 90
    text(root, WIDTH - 16, 48, f"PyTorch {summary['torch']}, {summary['date']}", {"text-anchor": "end"})


def bar(root: ElementTree.Element, top: int, name: str, counts: dict[str, int]) -> None:
    text(root, LABEL, top + 14, name, {"text-anchor": "end"})
    place = float(LABEL + 10)
    for status, colour in COLOURS.items():
        if not counts[status]:
            continue
        width = max(2.0, BAR * counts[status] / counts["cases"])
        ElementTree.SubElement(
            root, "rect", x=f"{place:.1f}", y=str(top + 2), width=f"{width:.1f}", height="15", fill=colour
        )
        place += width
    good = counts["pass"]
    text(root, LABEL + BAR + 24, top + 14, f"{good} of {counts['cases'] - counts['refused']}")


def text(root: ElementTree.Element, x: int, y: int, words: str, style: dict[str, str] | None = None) -> None:
    ElementTree.SubElement(root, "text", {"x": str(x), "y": str(y), **FONT, **(style or {})}).text = words
