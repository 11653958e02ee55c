"""Bars as SVG, drawn without a library and read without a script."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

COLOURS = {"passed": "#2f855a", "skipped": "#cbd5e0", "failed": "#c53030", "error": "#742a2a"}
LENGTH = "#2b6cb0"
WIDTH, LABEL, BAR, ROW, TOP = 860, 240, 520, 22, 34
FONT = {"font-family": "system-ui, sans-serif", "font-size": "13", "fill": "#4a5568"}


def stacked(rows: Mapping[str, Mapping[str, int]], title: str) -> str:
    """One bar a row, with a part for each outcome; all rows have one scale.

    Args:
        rows: name -> outcome -> count.
        title: what the picture shows, for who cannot see it.
    """
    root = _picture(len(rows), title)
    for place, (word, colour) in enumerate(COLOURS.items()):
        _rect(root, 16 + 110 * place, 10, 11, 11, colour)
        _text(root, 32 + 110 * place, 20, f"{word} {sum(row[word] for row in rows.values()):,}")
    longest = max((sum(row.values()) for row in rows.values()), default=0) or 1
    for index, (name, row) in enumerate(rows.items()):
        top, place = TOP + ROW * index, float(LABEL)
        _text(root, LABEL - 10, top + 13, name, end=True)
        for word, colour in COLOURS.items():
            width = BAR * row[word] / longest
            if row[word]:
                _rect(root, place, top, width, ROW - 6, colour, f"{name} {word}: {row[word]}".strip())
            place += width
        _text(root, place + 8, top + 13, f"{sum(row.values()):,}")
    return ElementTree.tostring(root, encoding="unicode")


def lengths(rows: Mapping[str, float], title: str) -> str:
    """One bar a row, as long as its number.

    Args:
        rows: name -> number.
        title: what the picture shows, for who cannot see it.
    """
    root = _picture(len(rows), title)
    longest = max(rows.values(), default=0) or 1
    for index, (name, number) in enumerate(rows.items()):
        top, width = TOP + ROW * index, BAR * number / longest
        _text(root, LABEL - 10, top + 13, name, end=True)
        _rect(root, LABEL, top, width, ROW - 6, LENGTH, f"{name}: {number:g}")
        _text(root, LABEL + width + 8, top + 13, f"{number:.1f}")
    return ElementTree.tostring(root, encoding="unicode")


def _picture(rows: int, title: str) -> ElementTree.Element:
    height = TOP + ROW * rows + 8
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", role="img", width=str(WIDTH))
    ElementTree.SubElement(root, "title").text = title
    return root


def _rect(root: ElementTree.Element, x: float, y: float, width: float, height: float, colour: str, tip: str = "") -> None:
    part = ElementTree.SubElement(root, "rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", fill=colour)
    if tip:
        ElementTree.SubElement(part, "title").text = tip


def _text(root: ElementTree.Element, x: float, y: float, said: str, end: bool = False) -> None:
    anchor = {"text-anchor": "end"} if end else {}
    ElementTree.SubElement(root, "text", x=f"{x:.1f}", y=f"{y:.1f}", **FONT, **anchor).text = said
