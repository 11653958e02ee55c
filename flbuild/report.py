"""What a person sees: one line a stage with its time; on a terminal, a bar while it runs; or one JSON document."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@dataclass
class Stage:
    """One step; `detail` is what its line says beside the name and the time."""

    name: str
    seconds: float = 0.0
    detail: str = ""
    skipped: bool = False
    _progress: Progress | None = field(default=None, repr=False)
    _task: int = 0

    def skip(self, why: str) -> None:
        """There was nothing to do."""
        self.skipped, self.detail = True, why

    def advance(self, done: int, total: int | None = None, doing: str = "") -> None:
        """Move the bar; `doing` is shown beside it."""
        if self._progress:
            self._progress.update(self._task, completed=done, total=total, doing=doing)

    def as_dict(self) -> dict:
        """The stage as `--json` prints it."""
        return {"name": self.name, "seconds": round(self.seconds, 2), "detail": self.detail, "skipped": self.skipped}


class Report:
    """Collects the stages and prints them."""

    def __init__(self, as_json: bool = False, earlier: list[dict] | None = None) -> None:
        self.as_json = as_json
        self.stages: list[dict] = list(earlier or [])
        self.results: dict[str, object] = {}
        self.console = Console(stderr=as_json, highlight=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Time a step; its line is printed when it is over."""
        stage, begun = Stage(name), time.monotonic()
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[doing]}"),
        )
        shown = not self.as_json and self.console.is_terminal
        with Progress(*columns, console=self.console, transient=True, disable=not shown) as progress:
            stage._progress = progress
            stage._task = progress.add_task(name, total=None, doing="")
            yield stage
        stage.seconds = time.monotonic() - begun
        self.stages.append(stage.as_dict())
        self.say(f"  {name:<25} {stage.detail:<52}{stage.seconds:7.1f} s")

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line for a person; not part of the JSON document."""
        if not self.as_json:
            self.console.print(text, style=style, markup=False)

    def close(self, error: str | None = None) -> None:
        """The JSON document, when it was asked for."""
        if self.as_json:
            print(json.dumps({"ok": error is None, "error": error, "stages": self.stages, **self.results}, indent=2))
