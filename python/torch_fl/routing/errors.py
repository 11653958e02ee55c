"""Where something in the routing stands, and the error that says so."""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a routing file (line and column count from 1), or an environment variable (line 0)."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source

    @property
    def origin(self) -> str:
        """Short form for tables: ``backends_host.conf:12`` or ``FLAGOS_OP_mm``."""
        return f"{self.source}:{self.line}" if self.line else self.source


class RoutingError(ValueError):
    """A routing file or variable that cannot be used; the message starts with its location."""

    def __init__(self, location: Location, problem: str) -> None:
        super().__init__(f"{location}: {problem}")
        self.location = location
        self.problem = problem


#: What is done with an error: raise it (start-up), or keep it and read on (``torch-fl routes --check``).
Report = Callable[[RoutingError], None]


def stop(error: RoutingError) -> None:
    """The report that raises."""
    raise error


def nearest(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x' or 'y'?`` for the known words nearest to `word`, or an empty string."""
    from difflib import get_close_matches  # only errors pay for this import

    close = get_close_matches(word, sorted(set(known)), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(item) for item in close)}?" if close else ""
