"""A picture of the ratios: a mark for each figure, a line from the least to the greatest of the rounds."""

from xml.etree import ElementTree

LABEL, SPAN, ROW, TOP = 400, 420, 22, 66
LOW, HIGH = 0.8, 1.4  # what lies outside is drawn at the edge
FONT = {"font-family": "system-ui, sans-serif", "font-size": "13", "fill": "#4a5568"}
REACHED, MISSED, NO_AIM = "#2f855a", "#c53030", "#3182ce"


def svg(result: dict) -> str:
    """The picture's text."""
    rows = [one for one in result["rows"] if "loss" not in one["what"]]
    width, height = LABEL + SPAN + 130, TOP + ROW * len(rows) + 16
    root = ElementTree.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=str(width)
    )
    title = f"flagos over {result['native']}, {result['rounds']} rounds of processes"
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "rect", width=str(width), height=str(height), fill="#ffffff")
    _text(root, 16, 24, title, {"font-size": "16", "font-weight": "600", "fill": "#1a202c"})
    _text(
        root,
        16,
        44,
        f"{result['card'] or 'no card'}, PyTorch {result['torch']}; green: the aim is reached, red: missed, blue: no aim",
    )
    for ratio in (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4):
        x = f"{_place(ratio):.1f}"
        colour = "#a0aec0" if ratio == 1.0 else "#edf2f7"
        ElementTree.SubElement(root, "line", x1=x, x2=x, y1=str(TOP - 6), y2=str(height - 12), stroke=colour)
        _text(root, float(x), TOP - 10, f"{ratio:g}", {"text-anchor": "middle", "font-size": "11"})
    for number, one in enumerate(rows):
        _mark(root, TOP + ROW * number + 10, one)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _place(ratio: float) -> float:
    return LABEL + 12 + SPAN * (min(max(ratio, LOW), HIGH) - LOW) / (HIGH - LOW)


def _mark(root: ElementTree.Element, y: int, one: dict) -> None:
    aim = one["aim"]
    colour = NO_AIM if aim is None else REACHED if round(one["ratio"], 2) <= aim else MISSED
    _text(root, LABEL, y + 4, one["what"], {"text-anchor": "end"})
    ends = {
        "x1": f"{_place(one['ratio_least']):.1f}",
        "x2": f"{_place(one['ratio_greatest']):.1f}",
        "y1": str(y),
        "y2": str(y),
    }
    ElementTree.SubElement(root, "line", ends, stroke=colour, **{"stroke-width": "2"})
    ElementTree.SubElement(root, "circle", cx=f"{_place(one['ratio']):.1f}", cy=str(y), r="5", fill=colour)
    _text(root, LABEL + SPAN + 28, y + 4, f"{one['ratio']:.3f}")


def _text(root: ElementTree.Element, x: float, y: int, words: str, style: dict[str, str] | None = None) -> None:
    ElementTree.SubElement(root, "text", {"x": f"{x:g}", "y": str(y), **FONT, **(style or {})}).text = words
