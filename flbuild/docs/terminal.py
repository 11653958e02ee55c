"""Draw what commands printed as the picture of a terminal, from the logs of their runs:

    python -m flbuild.docs.terminal docs/terminal.svg "python3 build-locally.py=first.log" "python3 build-locally.py --test=second.log"

A log is a run's output as it was, written by `COMMAND > LOG 2>&1`. Of a test run only the stages and pytest's last lines are shown, and
the picture says so; of paths, what comes before `build_artifacts/` is left out. Nothing is changed else.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

WIDTH = 112
# Fonts that would be fetched from a network, and a comment: the reader's own font is as good.
FETCHED = re.compile(r"@font-face \{.*?\}\n|<!--.*?-->", re.DOTALL)
STAGE = re.compile(r"(  \S.{24} )(.*?)\s*(\d+\.\d s)$")
LAST = re.compile(r"\d+ passed.* in [\d.]+s")
SUITE = re.compile(r"(tests of|contract tests|PyTorch's samples|FlagGems' kernels|boxing|the core under|the libraries)\b.*[a-z]$")


def relative(line: str) -> str:
    """The line without where the clone lies; a stage's time stays in its column."""
    line = re.sub(r"[^\s\"']*/build_artifacts/", "build_artifacts/", line.rstrip())
    stage = STAGE.match(line)
    return f"{stage[1]}{stage[2]:<52}{stage[3]:>9}" if stage else line


def shown(lines: list[str]) -> tuple[list[str], int]:
    """The lines to draw, and how many are left out: of a run without tests all are drawn."""
    lines = [relative(line) for line in lines]
    if not any(LAST.match(line) for line in lines):
        return lines, 0
    kept = [line for line in lines if STAGE.match(line) or LAST.match(line) or SUITE.match(line)]
    return kept, len(lines) - len(kept)


def draw(runs: list[tuple[str, list[str]]]) -> str:
    """The picture.

    Args:
        runs: each a command and the lines that it printed.
    """
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    for number, (command, lines) in enumerate(runs):
        kept, left_out = shown(lines)
        console.print(Text(f"{chr(10) if number else ''}$ {command}", style="bold green"))
        for line in kept:
            console.print(Text(line, style="dim" if STAGE.match(line) else ""), soft_wrap=len(line) <= WIDTH)
        if left_out:
            console.print(Text(f"({left_out} lines left out: pytest's progress, warnings and times)", style="italic"))
    return FETCHED.sub("", console.export_svg(title="torch-fl", unique_id="terminal"))


def main(
    output: Annotated[Path, typer.Argument(help="The SVG to write.")],
    runs: Annotated[list[str], typer.Argument(help="A command, =, and the log of its run; several in order.", metavar="COMMAND=LOG...")],
) -> None:
    """Draw the picture of a terminal from the logs of runs."""
    read = []
    for run in runs:
        command, _, log = run.rpartition("=")
        if not command or not Path(log).is_file():
            raise typer.BadParameter(f"'{run}' is no COMMAND=LOG with the log of a run: make one with COMMAND > LOG 2>&1")
        read.append((command, Path(log).read_text("utf-8", errors="replace").splitlines()))
    output.write_text(draw(read), "utf-8")


if __name__ == "__main__":
    typer.run(main)
