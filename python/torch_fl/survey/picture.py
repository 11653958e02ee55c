"""A picture of the evidence: a row for each dtype, a square for each operator, coloured by verdict."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from .evidence import Evidence, Trial
from .policy import cheap

COLOURS = {
    "correct": "#2f855a",
    "right but slower": "#9ae6b4",
    "idle": "#90cdf4",
    "wrong": "#c53030",
    "error": "#d69e2e",
    "crash": "#742a2a",
    "timeout": "#6b46c1",
    "untested": "#e2e8f0",
}
COLUMNS, SQUARE, GAP, LABEL, TOP = 56, 11, 2, 96, 70
FONT = {"font-family": "system-ui, sans-serif", "font-size": "13", "fill": "#4a5568"}


def svg(evidence: Evidence) -> str:
    """The picture's text. Squares carry the operator's name and what was found, shown when the pointer rests on them."""
    dtypes = list(dict.fromkeys(trial.dtype for trial in sorted(evidence.trials, key=lambda t: _rank(t.dtype))))
    names = [operator.operator for operator in evidence.operators if operator.exists]
    by_case = {(trial.operator, trial.dtype): trial for trial in evidence.trials}
    rows = -(-len(names) // COLUMNS)
    band = rows * (SQUARE + GAP) + 22
    width, height = LABEL + COLUMNS * (SQUARE + GAP) + 16, TOP + band * len(dtypes) + 8
    root = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", role="img", width=str(width)
    )
    tried = [trial for trial in evidence.trials if trial.verdict != "untested"]
    right = sum(trial.verdict == "correct" for trial in tried)
    title = f"FlagGems {evidence.making.versions.get('flag_gems', '')}: {right} of {len(tried)} operator x dtype cases equal the CPU"
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "rect", width=str(width), height=str(height), fill="#ffffff")
    _text(root, 16, 26, title, {"font-size": "16", "font-weight": "600", "fill": "#1a202c"})
    _legend(root, Counter(map(kind, evidence.trials)))
    for number, dtype in enumerate(dtypes):
        top = TOP + band * number
        _text(root, LABEL - 10, top + 11, dtype, {"text-anchor": "end"})
        for place, name in enumerate(names):
            x = LABEL + place % COLUMNS * (SQUARE + GAP)
            y = top + place // COLUMNS * (SQUARE + GAP)
            _square(root, x, y, name, by_case.get((name, dtype)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rank(dtype: str) -> int:
    from .plan import DTYPES

    return DTYPES.index(dtype) if dtype in DTYPES else len(DTYPES)


def _square(root: ElementTree.Element, x: int, y: int, name: str, trial: Trial | None) -> None:
    verdict = kind(trial) if trial else "untested"
    square = ElementTree.SubElement(
        root, "rect", x=str(x), y=str(y), width=str(SQUARE), height=str(SQUARE), rx="2", fill=COLOURS[verdict]
    )
    cost = trial.cost if trial else None
    times = f", {cost.ratio:g} times the time" if cost and cost.ratio is not None else ""
    ElementTree.SubElement(square, "title").text = f"{name}: {verdict}{times}"


def kind(trial: Trial) -> str:
    """The verdict, and whether the cost is against it."""
    slower = trial.verdict == "correct" and trial.cost is not None and not cheap(trial)
    return "right but slower" if slower else trial.verdict


def _legend(root: ElementTree.Element, counts: Counter[str]) -> None:
    place = 16
    for verdict, colour in COLOURS.items():
        if not counts[verdict]:
            continue
        ElementTree.SubElement(root, "rect", x=str(place), y="40", width="11", height="11", rx="2", fill=colour)
        words = f"{verdict} {counts[verdict]}"
        _text(root, place + 16, 50, words)
        place += 30 + 8 * len(words)


def _text(root: ElementTree.Element, x: int, y: int, words: str, style: dict[str, str] | None = None) -> None:
    ElementTree.SubElement(root, "text", {"x": str(x), "y": str(y), **FONT, **(style or {})}).text = words
